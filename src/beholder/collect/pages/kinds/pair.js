// Two images side by side: which is better?

import { AnswerBar, chosenAnswer } from "/static/kinds/answer_bar.js";
import { choiceKeys } from "/static/kinds/choice_keys.js";
import { buttons, letter, scene } from "/static/kinds/sketch.js";
import { twoImages } from "/static/kinds/two_images.js";

export const pair = {
  /** @type {import("./catalogue.js").Kind["render"]} */
  async render(container, trial, tools) {
    const bar = new AnswerBar(trial.options, tools);
    const onset = await twoImages(container, trial, tools, bar.element);
    return chosenAnswer("preference", await bar.open(onset), onset);
  },

  keys: choiceKeys,

  sketch: () => [
    scene(24, 8, 132, 100), scene(164, 8, 132, 100, true), letter(24, 8, "A"), letter(164, 8, "B"), ...buttons(3),
  ],
};
