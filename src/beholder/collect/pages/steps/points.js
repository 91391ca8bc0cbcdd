// Questions of a form: a scale of points, or one of several answers.

import { h } from "/static/dom.js";

/**
 * @param {{name: string, question: string, low: string, high: string, points?: number}} scale
 */
export function pointScale({ name, question, low, high, points = 5 }) {
  const numbers = Array.from({ length: points }, (_, index) => index + 1);
  const choices = numbers.map((point) => h("label", { class: "scale__point" },
    h("input", { type: "radio", name, value: point, "aria-label": anchored(point, points, low, high) }), h("span", {}, point)));
  return h("fieldset", { class: "scale", vars: { "--points": points } }, h("legend", {}, question), h("div", { class: "scale__points" }, choices),
    h("div", { class: "scale__ends", "aria-hidden": "true" }, h("span", {}, low), h("span", {}, high)));
}

/**
 * @param {string} name
 * @param {string} question
 * @param {[string, string][]} answers value and words
 * @param {string} [chosen] value
 */
export function choiceField(name, question, answers, chosen) {
  return h("fieldset", { class: "choices" }, h("legend", {}, question),
    answers.map(([value, words]) => h("label", { class: "choice" },
      h("input", { type: "radio", name, value, checked: value === chosen }), h("span", {}, words))));
}

/**
 * A field for minutes, filled in with what the page measured.
 * @param {string} label
 * @param {number} seconds
 * @param {string} note
 */
export function minutesField(label, seconds, note) {
  const measured = Math.max(Math.round(seconds / 6) / 10, 0.1);
  return h("div", { class: "form__field" },
    h("label", { for: "minutes", class: "form__label" }, label),
    h("input", { id: "minutes", name: "minutes", type: "number", min: "0.1", max: "600", step: "0.1", value: measured, inputmode: "decimal", "aria-describedby": note ? "minutes-note" : null }),
    note && h("p", { id: "minutes-note", class: "note" }, note));
}

/** The number that was chosen or entered, if any. @param {HTMLFormElement} form @param {string} name */
export function numberIn(form, name) {
  const value = new FormData(form).get(name);
  return value === null || value === "" ? null : Number(value);
}

/** @param {number} point @param {number} points @param {string} low @param {string} high */
function anchored(point, points, low, high) {
  if (point === 1) return `${point}, ${low}`;
  return point === points ? `${point}, ${high}` : String(point);
}
