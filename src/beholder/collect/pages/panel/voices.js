// A rater's say: where the next study should be in the own list, what is wrong, and an answer to an exclusion.

import { h } from "/static/dom.js";
import { choiceField } from "/static/steps/points.js";

/** @type {[string, string][]} */
const FLAGS = [["pay too low", "panel.flag.kind.pay"], ["inappropriate", "panel.flag.kind.inappropriate"], ["other", "panel.flag.kind.other"]];

/** Boomerang: asked as its consequence. @param {any} row @param {import("./app.js").Tools} tools */
export function ratePart(row, tools) {
  const { t } = tools;
  const name = `rate-${row.study}`;
  const answers = /** @type {[string, string][]} */ ([3, 2, 1].map((rating) => [String(rating), t(`panel.rate.${rating}`)]));
  const field = choiceField(name, t("panel.rate.title", { researcher: row.researcher }), answers, row.rating === null ? undefined : String(row.rating));
  field.querySelectorAll("input").forEach((/** @type {HTMLInputElement} */ input) => {
    input.id = `${name}-${input.value}`;
    input.addEventListener("change", () => tools.act("/api/rate", { study: row.study, rating: Number(input.value) }));
  });
  return h("div", { class: "voice" }, field, h("p", { class: "note" }, t("panel.rate.text")));
}

/** @param {any} row @param {import("./app.js").Tools} tools */
export function flagPart(row, tools) {
  const { t } = tools;
  if (row.flag) {
    const [, key] = FLAGS.find(([kind]) => kind === row.flag.kind) ?? FLAGS[2];
    return h("p", { class: "note" }, t("panel.flag.done", { kind: t(key) }));
  }
  const words = h("textarea", { id: `flag-words-${row.study}`, rows: 2, maxlength: 5000 });
  const form = h("form", { class: "form" },
    h("p", { class: "note" }, t("panel.flag.text")),
    choiceField(`flag-${row.study}`, t("panel.flag.kind"), FLAGS.map(([kind, key]) => [kind, t(key)]), FLAGS[0][0]),
    h("div", { class: "form__field" }, h("label", { for: words.id, class: "form__label" }, t("panel.flag.words")), words),
    h("div", {}, h("button", { type: "submit", class: "button" }, t("panel.flag.send"))));
  form.addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    const kind = new FormData(form).get(`flag-${row.study}`);
    tools.act("/api/flag", { study: row.study, kind, text: words.value.trim() });
  });
  return h("details", { class: "voice", id: `flagging-${row.study}` }, h("summary", {}, t("panel.flag.open")), form);
}

/** What was decided against the rater, and the answer to it. @param {any} row @param {import("./app.js").Tools} tools */
export function appealPart(row, tools) {
  const { t } = tools;
  const decided = row.appeal?.decision;
  const notes = decided ? [h("p", {}, t(`panel.appeal.${decided}`, { reason: row.appeal.reason }))] : [];
  if (row.excluded === null && !row.frozen) return notes.length ? h("div", { class: "voice" }, notes) : null;
  const reason = row.excluded ?? row.frozen;
  const title = t(row.excluded === null ? "panel.frozen.title" : "panel.excluded.title");
  return h("div", { class: "card card--warning" }, h("h4", {}, title),
    h("p", {}, t("panel.excluded.reason", { reason: reason || t("panel.excluded.no-reason") })), notes,
    row.appeal && !decided ? h("p", {}, t("panel.appeal.waiting", { statement: row.appeal.statement })) : !decided && appealForm(row, tools));
}

/** @param {any} row @param {import("./app.js").Tools} tools */
function appealForm(row, tools) {
  const { t } = tools;
  const words = h("textarea", { id: `appeal-${row.study}`, rows: 3, maxlength: 5000, required: true });
  const form = h("form", { class: "form" }, h("p", {}, t("panel.appeal.text")),
    h("div", { class: "form__field" }, h("label", { for: words.id, class: "form__label" }, t("panel.appeal.words")), words),
    h("div", {}, h("button", { type: "submit", class: "button button--primary" }, t("panel.appeal.send"))));
  form.addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    if (words.value.trim()) tools.act("/api/appeal", { study: row.study, statement: words.value.trim() });
  });
  return form;
}
