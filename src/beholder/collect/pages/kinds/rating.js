// One image, a scale for each aspect.

import { h } from "/static/dom.js";
import { secondsBetween } from "/static/kinds/answer_bar.js";
import { boxFor, reveal } from "/static/kinds/pictures.js";
import { Scales } from "/static/kinds/scales.js";
import { dots, scene } from "/static/kinds/sketch.js";
import { SubmitButton } from "/static/kinds/submit_button.js";

export const rating = {
  /** @type {import("./catalogue.js").Kind["render"]} */
  async render(container, trial, tools) {
    const submit = new SubmitButton("Enter", tools);
    const scales = new Scales(trial.settings, tools, () => submit.allow(scales.complete));
    const box = boxFor(trial.images[0], "", tools.t);
    const panel = h("div", { class: "panel" }, h("div", { class: "panel__scroll" }, scales.element), submit.element);
    container.replaceChildren(h("div", { class: "stage" }, box.cell), panel);
    const onset = await reveal([box], tools);
    scales.enable(true);
    scales.listen(submit.gate, tools.signal);
    const at = await submit.pressed(onset);
    return { said: scales.said(), marks: [], seconds: secondsBetween(onset, at), spoiled: false };
  },

  /** @returns {[string[], string][]} */
  keys(/** @type {any} */ question) {
    return [...scaleKeys(question), [["Enter"], "keys.submit"]];
  },

  sketch: () => [
    scene(16, 8, 160, 136), ...[0, 1, 2].flatMap((row) => dots(200, 34 + 42 * row, 1 + ((row * 2 + 2) % 5))),
  ],

  attention: "attention.value",
};

/** The keys of the scales alone. @param {any} question @returns {[string[], string][]} */
export function scaleKeys({ settings }) {
  const { points } = settings;
  if (points < 2 || points > 10) return [[["Tab"], "keys.scale.move"], [["ArrowLeft", "ArrowRight"], "keys.scale.slide"]];
  return [[["1", "…", String(points % 10)], "keys.scale.rate"], [["Tab"], "keys.scale.move"]];
}
