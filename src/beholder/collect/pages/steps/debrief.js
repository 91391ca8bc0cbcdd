// How was it? The last questions.

import { h } from "/static/dom.js";
import { clicked, showPage } from "/static/steps/page.js";

const POINTS = [1, 2, 3, 4, 5];

/**
 * @param {HTMLElement} container
 * @param {any} state
 * @param {import("../app.js").Tools} tools
 */
export function debrief(container, state, tools) {
  const { t } = tools;
  const send = h("button", { type: "button", class: "button button--primary" }, t("debrief.send"));
  const comment = h("textarea", { id: "comment", rows: 4, maxlength: 2000 });
  const form = h("form", { class: "card form" },
    scale("clear", t("debrief.clear"), t("debrief.clear.low"), t("debrief.clear.high")),
    scale("fair", t("debrief.fair"), t("debrief.fair.low"), t("debrief.fair.high")),
    h("label", { for: "comment", class: "form__label" }, t("debrief.comment")), comment);
  form.addEventListener("submit", (/** @type {Event} */ event) => event.preventDefault());
  showPage(container, state, tools, { title: t("debrief.title"), lead: t("debrief.lead") }, [form], [send]);
  return clicked(send, () => tools.api.post("/api/debrief", {
    clear: chosen(form, "clear"), fair: chosen(form, "fair"), comment: comment.value.trim(),
  }));
}

/**
 * @param {string} name
 * @param {string} question
 * @param {string} low
 * @param {string} high
 */
function scale(name, question, low, high) {
  const points = POINTS.map((point) => h("label", { class: "scale__point" },
    h("input", { type: "radio", name, value: point, "aria-label": anchored(point, low, high) }), h("span", {}, point)));
  return h("fieldset", { class: "scale" }, h("legend", {}, question), h("div", { class: "scale__points" }, points),
    h("div", { class: "scale__ends", "aria-hidden": "true" }, h("span", {}, low), h("span", {}, high)));
}

/** @param {number} point @param {string} low @param {string} high */
function anchored(point, low, high) {
  if (point === POINTS[0]) return `${point}, ${low}`;
  return point === POINTS.length ? `${point}, ${high}` : String(point);
}

/** The point that was chosen, if any: nobody has to answer. @param {HTMLFormElement} form @param {string} name */
function chosen(form, name) {
  const value = new FormData(form).get(name);
  return value === null ? null : Number(value);
}
