// One image and several named options, each with a swatch or an image where the study has one.

import { h, svg } from "/static/dom.js";
import { AnswerBar, chosenAnswer } from "/static/kinds/answer_bar.js";
import { choiceKeys } from "/static/kinds/choice_keys.js";
import { boxFor, reveal } from "/static/kinds/pictures.js";
import { buttons, scene } from "/static/kinds/sketch.js";

/** Number of the first option's image among the files of a question (`study/kinds/choice.py`). */
const FIRST_FILE = 50;

export const choice = {
  /** @type {import("./catalogue.js").Kind["render"]} */
  async render(container, trial, tools) {
    const bar = new AnswerBar(trial.options, tools, signs(trial.settings.offered, tools.signal));
    bar.element.classList.add("answers--options");
    const box = boxFor(trial.images[0], "", tools.t);
    container.replaceChildren(h("div", { class: "stage" }, box.cell), bar.element);
    const onset = await reveal([box], tools);
    return chosenAnswer("choice", await bar.open(onset), onset);
  },

  keys: choiceKeys,

  sketch: () => [scene(90, 8, 140, 100), ...buttons(4)],
};

/**
 * A swatch or an image for each option that has one.
 * @param {{name: string, colour: string | null, image: string | null}[]} offered
 * @param {AbortSignal} signal
 */
function signs(offered, signal) {
  /** @type {Record<string, Element>} */
  const all = {};
  offered.forEach(({ name, colour, image }, place) => {
    if (image) all[name] = optionImage(FIRST_FILE + place, signal);
    else if (colour) all[name] = swatch(colour);
  });
  return all;
}

/** @param {string} colour */
function swatch(colour) {
  return svg("svg", { class: "swatch", viewBox: "0 0 32 24" }, svg("rect", { width: 32, height: 24, rx: 5, fill: colour }));
}

/** An image that comes when it comes: the words of its option are there. @param {number} number @param {AbortSignal} signal */
function optionImage(number, signal) {
  const image = h("img", { class: "swatch swatch--image", alt: "" });
  fetch(`/api/example/${number}`, { signal }).then(async (reply) => {
    if (!reply.ok) return;
    const address = URL.createObjectURL(await reply.blob());
    signal.addEventListener("abort", () => URL.revokeObjectURL(address), { once: true });
    image.src = address;
  }).catch(() => undefined);
  return image;
}
