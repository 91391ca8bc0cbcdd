// The rules of the panel: proposals, the votes of the board, one's own proposal and vote, and the open log.

import { h } from "/static/dom.js";
import { choiceField } from "/static/steps/points.js";

const CHOICES = ["yes", "no", "abstain"];

/** @param {any} rules @param {import("./app.js").Tools} tools */
export function governance(rules, tools) {
  const { t } = tools;
  const open = rules.proposals.filter((/** @type {any} */ row) => row.status === "open");
  const decided = rules.proposals.filter((/** @type {any} */ row) => row.status !== "open");
  return h("section", { class: "part", "aria-labelledby": "rules-title" },
    h("h2", { id: "rules-title" }, t("panel.rules.title")),
    h("p", {}, t(Object.keys(rules.seats).length ? "panel.rules.text" : "panel.rules.no-board")),
    rules.may_vote && h("p", { class: "note" }, t("panel.rules.seat")),
    open.length ? open.map((/** @type {any} */ row) => proposal(row, rules, tools)) : h("p", {}, t("panel.rules.none")),
    h("div", { class: "card" }, proposeForm(tools),
      decided.length > 0 && h("details", { class: "voice", id: "decided" }, h("summary", {}, t("panel.rules.decided", { count: decided.length })),
        decided.map((/** @type {any} */ row) => h("div", { class: "came" }, heading(row, tools), tally(row, tools)))),
      h("details", { class: "voice", id: "open-log" }, h("summary", {}, t("panel.log.title")),
        h("p", { class: "note" }, t("panel.log.text")),
        h("ol", { class: "log", reversed: true }, rules.log.map((/** @type {any} */ entry) => logEntry(entry, tools))))));
}

/** @param {any} row @param {any} rules @param {import("./app.js").Tools} tools */
function proposal(row, rules, tools) {
  return h("article", { class: "card", "aria-labelledby": `proposal-${row.proposal}` }, heading(row, tools),
    h("p", { class: "proposal__text" }, row.text), tally(row, tools), rules.may_vote && voteForm(row, tools));
}

/** @param {any} row @param {import("./app.js").Tools} tools */
function heading(row, tools) {
  const { t, texts } = tools;
  return [h("h3", { id: `proposal-${row.proposal}` }, `${row.proposal}. ${row.title} `, h("span", { class: "chip" }, t(`panel.rules.status.${row.status}`))),
    h("p", { class: "note" }, t("panel.rules.by", { who: signature(row.by, t), date: day(row.at, texts) }))];
}

/** @param {any} row @param {import("./app.js").Tools} tools */
function tally(row, tools) {
  const { t } = tools;
  const reasons = row.votes.filter((/** @type {any} */ cast) => cast.reason);
  return [h("p", {}, t("panel.rules.tally", { yes: row.yes, no: row.no, abstained: row.abstained })),
    reasons.length > 0 && h("ul", { class: "reasons" }, reasons.map((/** @type {any} */ cast) =>
      h("li", {}, `${signature(cast.by, t)}, ${t(`panel.vote.${cast.choice}`)}: ${cast.reason}`)))];
}

/** @param {any} row @param {import("./app.js").Tools} tools */
function voteForm(row, tools) {
  const { t } = tools;
  const name = `vote-${row.proposal}`;
  const reason = h("textarea", { id: `${name}-reason`, rows: 2, maxlength: 500 });
  const form = h("form", { class: "form voice" },
    choiceField(name, t("panel.vote.title"), CHOICES.map((choice) => [choice, t(`panel.vote.${choice}`)]), row.yours ?? undefined),
    h("div", { class: "form__field" }, h("label", { for: reason.id, class: "form__label" }, t("panel.vote.reason")), reason),
    h("div", {}, h("button", { type: "submit", class: "button button--primary", id: `${name}-send` }, t("panel.vote.send"))));
  form.addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    const choice = new FormData(form).get(name);
    if (choice) tools.act("/api/rules/vote", { proposal: row.proposal, choice, reason: reason.value.trim() });
  });
  return form;
}

/** @param {import("./app.js").Tools} tools */
function proposeForm(tools) {
  const { t } = tools;
  const title = h("input", { id: "proposal-title", type: "text", maxlength: 64, required: true });
  const words = h("textarea", { id: "proposal-text", rows: 4, maxlength: 5000, required: true });
  const form = h("form", { class: "form" }, h("p", { class: "note" }, t("panel.propose.text")),
    h("div", { class: "form__field" }, h("label", { for: title.id, class: "form__label" }, t("panel.propose.name")), title),
    h("div", { class: "form__field" }, h("label", { for: words.id, class: "form__label" }, t("panel.propose.words")), words),
    h("div", {}, h("button", { type: "submit", class: "button", id: "propose" }, t("panel.propose.send"))));
  form.addEventListener("submit", async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (title.value.trim() && words.value.trim()) await tools.act("/api/rules/propose", { title: title.value.trim(), text: words.value.trim() });
  });
  return h("details", { class: "proposing", id: "proposing" }, h("summary", {}, t("panel.propose.open")), form);
}

/** @param {any} entry @param {import("./app.js").Tools} tools */
function logEntry(entry, tools) {
  const { t, texts } = tools;
  const key = `panel.log.kind.${entry.kind.replaceAll(" ", "-")}`;
  const { study, title, choice, proposal: number } = entry.detail;
  const parts = [study, number && `${number}`, title, choice && t(`panel.vote.${choice}`), entry.by && signature(entry.by, t)].filter(Boolean);
  return h("li", {}, h("span", {}, `${day(entry.at, texts)}: ${texts.has(key) ? t(key) : entry.kind}`, parts.length ? ` (${parts.join(", ")})` : ""), " ",
    h("code", { class: "note" }, entry.hash));
}

/** @param {any} by @param {import("../texts.js").Translate} t */
function signature(by, t) {
  const role = t(`panel.role.${by.role}`);
  return by.name ? `${by.name} (${role})` : role;
}

/** @param {number} at @param {import("../texts.js").Texts} texts */
function day(at, texts) {
  return new Date(1000 * at).toLocaleDateString(texts.language);
}
