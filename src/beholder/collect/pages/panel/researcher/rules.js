// Rules of the panel: proposals, votes of the board of seven, and the open log.

import { h } from "/static/dom.js";
import { post } from "/static/researcher/api.js";
import { ask, field, reasonField } from "/static/researcher/dialog.js";
import { named, sentence, t } from "/static/researcher/language.js";
import { moment, plural } from "/static/researcher/words.js";

/** @param {any} panel @param {import("./app.js").Tools} tools */
export async function rules(panel, tools) {
  const seats = Object.entries(panel.board);
  return [
    h("section", { class: "card", "aria-labelledby": "board" },
      h("div", { class: "card__head" }, h("h2", { id: "board" }, t("board.title")),
        panel.you.may_change && h("button", { type: "button", class: "button button--small", onclick: () => propose(tools) }, t("rule.open"))),
      h("p", { class: "quiet" }, t("board.about")),
      seats.length ? h("div", { class: "chips" }, seats.map(([member, role]) => h("span", { class: "chip" }, `${member}: ${named("board.role", String(role))}`)))
        : h("p", {}, t("board.none"), " ", h("code", {}, "beholder panel board"))),
    ...panel.proposals.map((/** @type {any} */ row) => card(row, panel, tools)),
    h("section", { class: "card", "aria-labelledby": "log" }, h("h2", { id: "log" }, t("open-log.title")),
      h("p", { class: "quiet small" }, t("open-log.about")),
      h("ul", { class: "list" }, panel.log.map((/** @type {any} */ entry) => h("li", {},
        h("div", { class: "list__head" }, h("strong", {}, named("log", entry.kind)), h("span", {}, moment(entry.at))),
        h("p", { class: "small" }, Object.entries(entry.detail).map(([name, value]) => `${named("detail", name)}: ${typeof value === "object" ? JSON.stringify(value) : sentence(String(value))}`).join(" · ")))))),
  ];
}

/** @param {any} row @param {any} panel @param {import("./app.js").Tools} tools */
function card(row, panel, tools) {
  const heading = `proposal-${row.proposal}`;
  return h("section", { class: "card", "aria-labelledby": heading },
    h("div", { class: "card__head" },
      h("div", { class: "card__title" }, h("h2", { id: heading }, `${row.proposal}. ${row.title}`, " ", h("span", { class: "chip" }, t(`rule.status.${row.status}`))),
        h("p", { class: "quiet" }, `${t("by", { who: row.by })}, ${moment(row.at)}`)),
      panel.you.may_change && row.status === "open" && Object.keys(panel.board).length > 0
        && h("button", { type: "button", class: "button button--small", onclick: () => vote(row, panel, tools) }, t("vote.open"))),
    row.text && h("p", {}, row.text),
    h("p", {}, t("rule.votes", { yes: plural(row.yes, "vote"), no: row.no, abstained: row.abstained })),
    row.votes.length > 0 && h("ul", { class: "list" }, row.votes.map((/** @type {any} */ cast) => h("li", {}, `${cast.member}: ${t(`vote.${cast.choice}`)}${cast.reason ? `, ${cast.reason}` : ""}`))));
}

/** @param {import("./app.js").Tools} tools */
async function propose(tools) {
  const form = await ask({
    title: t("rule.title"),
    fields: [field("title", t("rule.name"), { required: true, maxlength: 64 }),
      h("div", { class: "field" }, h("label", { for: "dialog-text" }, t("rule.words")), h("textarea", { id: "dialog-text", name: "text", rows: 4, maxlength: 5000 }))],
    action: t("rule.action"),
  });
  if (form) await tools.act(async () => { await post("/propose", { title: form.title, text: form.text }); return t("rule.done"); });
}

/** @param {any} row @param {any} panel @param {import("./app.js").Tools} tools */
async function vote(row, panel, tools) {
  const select = (/** @type {string} */ name, /** @type {string} */ label, /** @type {[string, string][]} */ options) => h("div", { class: "field" },
    h("label", { for: `dialog-${name}` }, label), h("select", { id: `dialog-${name}`, name }, options.map(([value, words]) => h("option", { value }, words))));
  const form = await ask({
    title: t("vote.title", { title: row.title }),
    fields: [
      select("member", t("vote.member"), Object.keys(panel.board).map((member) => [member, member])),
      select("choice", t("vote.choice"), ["yes", "no", "abstain"].map((choice) => [choice, t(`vote.${choice}`)])), reasonField(false)],
    action: t("vote.action"),
  });
  if (form) await tools.act(async () => {
    const { status } = await post("/vote", { proposal: row.proposal, member: form.member, choice: form.choice, reason: form.reason });
    return t("vote.done", { status: t(`rule.status.${status}`) });
  });
}
