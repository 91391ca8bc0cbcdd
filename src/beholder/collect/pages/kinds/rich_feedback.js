// One image with its prompt: mark what is wrong and where, the words that were missed, and rate it.

import { h } from "/static/dom.js";
import { secondsBetween } from "/static/kinds/answer_bar.js";
import { MarkingView } from "/static/kinds/marking_view.js";
import { Marks } from "/static/kinds/marks.js";
import { boxFor, reveal } from "/static/kinds/pictures.js";
import { scaleKeys } from "/static/kinds/rating.js";
import { Scales } from "/static/kinds/scales.js";
import { disk, dots, scene } from "/static/kinds/sketch.js";
import { SubmitButton } from "/static/kinds/submit_button.js";
import { onKeys } from "/static/keys.js";

/** What a point can mean, with its key. */
const MODES = { implausibility: "q", misalignment: "w" };

export const richFeedback = {
  /** @type {import("./catalogue.js").Kind["render"]} */
  async render(container, trial, tools) {
    const desk = new Desk(trial, tools);
    container.replaceChildren(desk.left, desk.right);
    const onset = await reveal([desk.box], tools);
    desk.open();
    const at = await desk.submit.pressed(onset);
    const said = desk.scales.said();
    return { said, marks: desk.marks.said(), seconds: secondsBetween(onset, at), spoiled: false };
  },

  /** @returns {[string[], string][]} */
  keys(/** @type {any} */ question) {
    return [
      [["q"], "marks.implausibility"], [["w"], "marks.misalignment"],
      [["arrows"], "keys.marks.move"], [["Enter"], "keys.marks.set"], [["u"], "keys.undo"], [["+", "-"], "keys.marks.zoom"],
      ...scaleKeys(question), [["n"], "keys.submit"],
    ];
  },

  sketch: () => [
    scene(16, 8, 160, 136), disk(66, 96, "sketch__bad"), disk(130, 40, "sketch__off"),
    ...dots(200, 40, 3), ...dots(200, 76, 4), ...dots(200, 112, 2),
  ],

  attention: "attention.value",
};

/** All controls of one trial. */
class Desk {
  /** @param {any} trial @param {import("../steps/trial.js").TrialTools} tools */
  constructor(trial, tools) {
    const [image] = trial.images;
    this.tools = tools;
    this.mode = "implausibility";
    /** @type {HTMLElement[]} */
    this.modes = [];
    this.submit = new SubmitButton("n", tools);
    this.scales = new Scales(trial.settings, tools, () => this.submit.allow(this.scales.complete));
    this.box = boxFor(image, "", tools.t);
    this.marks = new Marks(trial.settings.radius, image.width / image.height);
    this.view = new MarkingView(this.box, this.marks, (x, y, event) => this.#pick(x, y, event));
    this.words = (trial.words ?? []).map((/** @type {string} */ word, /** @type {number} */ position) =>
      h("button", { type: "button", class: "word", "aria-pressed": "false", onclick: () => this.#toggleWord(position) }, word));
    this.count = h("p", { class: "tools__count", role: "status" });
    this.left = h("div", { class: "marking" }, this.#toolbar(), h("div", { class: "stage" }, this.box.cell));
    this.right = h("div", { class: "panel" },
      h("div", { class: "panel__scroll" }, this.#wordField(), this.scales.element), this.submit.element);
    this.#update();
  }

  /** Enable the controls once the image is shown. */
  open() {
    const { gate } = this.submit;
    const { signal } = this.tools;
    this.view.mount();
    this.scales.enable(true);
    this.scales.listen(gate, signal);
    const move = (/** @type {number} */ dx, /** @type {number} */ dy) => (/** @type {KeyboardEvent} */ event) =>
      this.view.moveCross(dx, dy, event.shiftKey);
    onKeys({
      ArrowLeft: move(-1, 0), ArrowRight: move(1, 0), ArrowUp: move(0, -1), ArrowDown: move(0, 1),
      Enter: () => this.#pickCross(),
      q: () => this.#setMode("implausibility"), w: () => this.#setMode("misalignment"),
      u: () => this.#undo(), Backspace: () => this.#undo(),
      "+": () => this.view.changeZoom(1), "-": () => this.view.changeZoom(-1),
    }, gate, signal);
    this.#allowHeldArrows(gate, signal, move);
  }

  /** A held arrow key may move the crosshair on: it is no answer. */
  #allowHeldArrows(/** @type {import("../keys.js").Gate} */ gate, /** @type {AbortSignal} */ signal, /** @type {any} */ move) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    document.addEventListener("keydown", (event) => {
      const step = steps[/** @type {keyof typeof steps} */ (event.key)];
      const free = !(/** @type {HTMLElement} */ (event.target).matches("input, textarea"));
      if (step && event.repeat && free && gate.lets(event)) move(...step)(event);
    }, { signal });
  }

  /** @param {number} x @param {number} y @param {Event} event */
  #pick(x, y, event) {
    if (!this.submit.gate.lets(event)) return;
    this.marks.togglePoint(this.mode, x, y);
    this.#update();
  }

  #pickCross() {
    const { x, y, seen } = this.view.cross;
    if (!seen) return this.view.moveCross(0, 0, false);
    this.marks.togglePoint(this.mode, x, y);
    return this.#update();
  }

  /** @param {number} position */
  #toggleWord(position) {
    this.marks.toggleWord(position);
    this.#update();
  }

  #undo() {
    this.marks.undo();
    this.#update();
  }

  /** @param {string} mode */
  #setMode(mode) {
    this.mode = mode;
    for (const button of this.modes) button.setAttribute("aria-pressed", String(button.dataset.mode === mode));
  }

  #update() {
    const { points, words } = this.marks;
    this.view.draw();
    this.words.forEach((/** @type {HTMLElement} */ word, /** @type {number} */ position) =>
      word.setAttribute("aria-pressed", String(words.includes(position))));
    this.count.textContent = this.tools.t("marks.count", { points: points.length, words: words.length });
  }

  #toolbar() {
    const { t } = this.tools;
    const tool = (/** @type {string} */ sign, /** @type {string} */ key, /** @type {() => void} */ act) =>
      h("button", { type: "button", class: "tool", onclick: act, title: t(key), "aria-label": t(key) }, sign);
    this.modes = Object.entries(MODES).map(([mode, key]) => h("button", {
      type: "button", class: `mode mode--${mode}`, "data-mode": mode, "aria-pressed": String(mode === this.mode),
      onclick: () => this.#setMode(mode),
    }, h("span", { class: "mode__sign", "aria-hidden": "true" }), h("span", {}, t(`marks.${mode}`)), h("kbd", { "aria-hidden": "true" }, key.toUpperCase())));
    return h("div", { class: "tools" },
      h("div", { class: "tools__modes", role: "group", "aria-label": t("marks.mode") }, this.modes),
      h("div", { class: "tools__view" },
        tool("↶", "keys.undo", () => this.#undo()),
        tool("−", "marks.smaller", () => this.view.changeZoom(-1)), tool("+", "marks.larger", () => this.view.changeZoom(1))),
      this.count);
  }

  #wordField() {
    if (!this.words.length) return null;
    const { t } = this.tools;
    return h("section", { class: "words" }, h("h2", {}, t("marks.words")),
      h("div", { class: "words__list", role: "group", "aria-label": t("marks.words") }, this.words));
  }
}
