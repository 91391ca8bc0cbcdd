// The stage of two images of the same size, both always in view: side by side, or stacked on a narrow screen.

import { h } from "/static/dom.js";
import { fitColumns } from "/static/kinds/grid.js";
import { boxFor, letters, reveal } from "/static/kinds/pictures.js";

/**
 * @param {HTMLElement} container
 * @param {any} trial
 * @param {import("../steps/trial.js").TrialTools} tools
 * @param {HTMLElement} answers
 * @returns {Promise<number>} when the images appeared
 */
export function twoImages(container, trial, tools, answers) {
  const names = letters(2);
  const boxes = names.map((letter, position) => boxFor(trial.images[position], letter, tools.t));
  const stage = h("div", { class: "stage stage--two" }, boxes.map((box) => box.cell));
  container.replaceChildren(stage, answers);
  fitColumns(stage, trial.images.slice(0, 2), tools.signal);
  return reveal(boxes, tools);
}
