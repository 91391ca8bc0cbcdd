// One image: real or generated? It stays, or is hidden after a viewing period.

import { h } from "/static/dom.js";
import { AnswerBar, chosenAnswer } from "/static/kinds/answer_bar.js";
import { choiceKeys } from "/static/kinds/choice_keys.js";
import { glimpse } from "/static/kinds/glimpse.js";
import { boxFor, reveal } from "/static/kinds/pictures.js";
import { buttons, scene } from "/static/kinds/sketch.js";

/** The cross before a viewing period. */
const FIXATION_MS = 500;

export const realism = {
  /** @type {import("./catalogue.js").Kind["render"]} */
  async render(container, trial, tools) {
    const ms = trial.settings.viewing_ms;
    if (ms) return glimpse(container, trial, tools, { ms, fixationMs: FIXATION_MS, strict: false });
    const bar = new AnswerBar(trial.options, tools);
    const box = boxFor(trial.images[0], "", tools.t);
    container.replaceChildren(h("div", { class: "stage" }, box.cell), bar.element);
    const onset = await reveal([box], tools);
    return chosenAnswer("realism", await bar.open(onset), onset);
  },

  keys: choiceKeys,

  sketch: () => [scene(90, 8, 140, 100), ...buttons(2)],
};
