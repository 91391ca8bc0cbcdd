// A scale for each aspect: points to choose from, or a slider; nothing is chosen beforehand.

import { h } from "/static/dom.js";
import { onKeys } from "/static/keys.js";

/** Up to so many points there is a button each; a longer or continuous scale is a slider. */
const MOST_BUTTONS = 10;

/** @typedef {{name: string, text: string, low: string, high: string, labels?: string[]}} Aspect */

export class Scales {
  /**
   * @param {{aspects: Aspect[], points: number}} settings
   * @param {import("../steps/trial.js").TrialTools} tools
   * @param {() => void} onChange
   */
  constructor(settings, tools, onChange) {
    this.settings = settings;
    this.t = tools.t;
    this.onChange = onChange;
    /** @type {Map<string, number>} */
    this.values = new Map();
    this.current = 0;
    const build = settings.points >= 2 && settings.points <= MOST_BUTTONS ? this.#buttons : this.#slider;
    this.groups = settings.aspects.map((aspect, position) => build.call(this, aspect, position));
    this.element = h("div", { class: "scales" }, this.groups);
    this.#mark();
  }

  /** Whether every aspect has its value. */
  get complete() {
    return this.values.size === this.settings.aspects.length;
  }

  /** As the server takes it. */
  said() {
    return this.settings.aspects.map(({ name }) => ({ aspect: name, value: /** @type {number} */ (this.values.get(name)) }));
  }

  /** Digits rate the current aspect and go on to the next. @param {import("../keys.js").Gate} gate @param {AbortSignal} signal */
  listen(gate, signal) {
    const { points } = this.settings;
    if (points < 2 || points > MOST_BUTTONS) return;
    const digits = Array.from({ length: points }, (_, position) => position + 1);
    onKeys(Object.fromEntries(digits.map((point) => [String(point % 10), () => this.#press(point)])), gate, signal);
  }

  /** Enable or disable the controls. @param {boolean} open */
  enable(open) {
    for (const group of this.groups) group.disabled = !open;
  }

  /** @param {number} point */
  #press(point) {
    const group = this.groups[this.current];
    const input = group.querySelector(`input[value="${point}"]`);
    input.checked = true;
    this.#take(this.current, point);
    this.current = Math.min(this.current + 1, this.groups.length - 1);
    this.#mark();
  }

  /** @param {number} position @param {number} value */
  #take(position, value) {
    this.values.set(this.settings.aspects[position].name, value);
    this.groups[position].dataset.answered = "true";
    this.onChange();
  }

  /** Show which aspect the digits rate. */
  #mark() {
    this.groups.forEach((group, position) => { group.dataset.current = String(position === this.current); });
  }

  /** @param {Aspect} aspect @param {number} position */
  #buttons(aspect, position) {
    const { points } = this.settings;
    const inputs = Array.from({ length: points }, (_, index) => h("label", { class: "scale__point" },
      h("input", {
        type: "radio", name: `aspect-${aspect.name}`, value: index + 1, "aria-label": anchored(aspect, index + 1, points),
        onchange: () => this.#take(position, index + 1),
      }), h("span", {}, index + 1)));
    return this.#group(aspect, position, h("div", { class: "scale__points", vars: { "--points": points } }, inputs));
  }

  /** @param {Aspect} aspect @param {number} position */
  #slider(aspect, position) {
    const { points } = this.settings;
    const [min, max, step] = points ? [1, points, 1] : [0, 100, 0.1];
    const value = h("output", { class: "scale__value" }, "–");
    const slider = h("input", {
      type: "range", class: "slider", min, max, step, value: (min + max) / 2, "data-untouched": "true",
      "aria-label": `${aspect.text}: ${aspect.low} – ${aspect.high}`,
    });
    const take = () => {
      delete slider.dataset.untouched;
      value.textContent = String(Math.round(Number(slider.value)));
      this.#take(position, Math.round(Number(slider.value) * 10) / 10);
    };
    for (const event of ["input", "change", "pointerup"]) slider.addEventListener(event, take);
    return this.#group(aspect, position, h("div", { class: "scale__slide" }, slider, value));
  }

  /** @param {Aspect} aspect @param {number} position @param {HTMLElement} control */
  #group(aspect, position, control) {
    return h("fieldset", {
      class: "scale", disabled: true,
      onfocusin: () => {
        this.current = position;
        this.#mark();
      },
    },
    h("legend", {}, aspect.text), control, words(aspect, this.settings.points));
  }
}

/** The words below a scale: one for each point, or those at its ends. @param {Aspect} aspect @param {number} points */
function words({ low, high, labels }, points) {
  const every = labels?.length ? labels : null;
  return h("div", { class: every ? "scale__labels" : "scale__ends", "aria-hidden": "true", vars: { "--points": points } },
    (every ?? [low, high]).map((word) => h("span", {}, word)));
}

/** A point's name with its word. @param {Aspect} aspect @param {number} point @param {number} points */
function anchored(aspect, point, points) {
  if (aspect.labels?.length) return `${point}, ${aspect.labels[point - 1]}`;
  if (point === 1) return `${point}, ${aspect.low}`;
  return point === points ? `${point}, ${aspect.high}` : String(point);
}
