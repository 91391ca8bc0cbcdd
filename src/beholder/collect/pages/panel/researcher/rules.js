// Rules of the panel: proposals, votes of the board of seven, and the open log.

import { h } from "/static/dom.js";
import { post } from "/static/researcher/api.js";
import { ask, field, reasonField } from "/static/researcher/dialog.js";
import { moment, plural } from "/static/researcher/words.js";

/** @param {any} panel @param {import("./app.js").Tools} tools */
export async function rules(panel, tools) {
  const seats = Object.entries(panel.board);
  return [
    h("section", { class: "card", "aria-labelledby": "board" },
      h("div", { class: "card__head" }, h("h2", { id: "board" }, "Board"),
        panel.you.may_change && h("button", { type: "button", class: "button button--small", onclick: () => propose(tools) }, "Propose a rule…")),
      h("p", { class: "quiet" }, "Three raters, three researchers and one independent member; four of seven votes decide."),
      seats.length ? h("div", { class: "chips" }, seats.map(([member, role]) => h("span", { class: "chip" }, `${member}: ${role}`)))
        : h("p", {}, "No board is seated yet: ", h("code", {}, "beholder panel board"))),
    ...panel.proposals.map((/** @type {any} */ row) => card(row, panel, tools)),
    h("section", { class: "card", "aria-labelledby": "log" }, h("h2", { id: "log" }, "Open log"),
      h("p", { class: "quiet small" }, "Every entry has a hash that covers the one before; it was checked when this page was drawn."),
      h("ul", { class: "list" }, panel.log.map((/** @type {any} */ entry) => h("li", {},
        h("div", { class: "list__head" }, h("strong", {}, entry.kind), h("span", {}, moment(entry.at))),
        h("p", { class: "small" }, Object.entries(entry.detail).map(([name, value]) => `${name}: ${typeof value === "object" ? JSON.stringify(value) : value}`).join(" · ")))))),
  ];
}

/** @param {any} row @param {any} panel @param {import("./app.js").Tools} tools */
function card(row, panel, tools) {
  const heading = `proposal-${row.proposal}`;
  return h("section", { class: "card", "aria-labelledby": heading },
    h("div", { class: "card__head" },
      h("div", { class: "card__title" }, h("h2", { id: heading }, `${row.proposal}. ${row.title}`, " ", h("span", { class: "chip" }, row.status)),
        h("p", { class: "quiet" }, `by ${row.by}, ${moment(row.at)}`)),
      panel.you.may_change && row.status === "open" && Object.keys(panel.board).length > 0
        && h("button", { type: "button", class: "button button--small", onclick: () => vote(row, panel, tools) }, "Enter a vote…")),
    row.text && h("p", {}, row.text),
    h("p", {}, `${plural(row.yes, "vote")} for it, ${row.no} against, ${row.abstained} abstained`),
    row.votes.length > 0 && h("ul", { class: "list" }, row.votes.map((/** @type {any} */ cast) => h("li", {}, `${cast.member}: ${cast.choice}${cast.reason ? `, ${cast.reason}` : ""}`))));
}

/** @param {import("./app.js").Tools} tools */
async function propose(tools) {
  const form = await ask({
    title: "Propose a rule",
    fields: [field("title", "Title", { required: true, maxlength: 64 }),
      h("div", { class: "field" }, h("label", { for: "dialog-text" }, "What is to change"), h("textarea", { id: "dialog-text", name: "text", rows: 4, maxlength: 5000 }))],
    action: "Propose",
  });
  if (form) await tools.act(async () => { await post("/propose", { title: form.title, text: form.text }); return "Proposed; it is in the open log."; });
}

/** @param {any} row @param {any} panel @param {import("./app.js").Tools} tools */
async function vote(row, panel, tools) {
  const select = (/** @type {string} */ name, /** @type {string} */ label, /** @type {string[]} */ options) => h("div", { class: "field" },
    h("label", { for: `dialog-${name}` }, label), h("select", { id: `dialog-${name}`, name }, options.map((option) => h("option", { value: option }, option))));
  const form = await ask({
    title: `Vote on “${row.title}”`,
    fields: [select("member", "Member of the board", Object.keys(panel.board)), select("choice", "Vote", ["yes", "no", "abstain"]), reasonField(false)],
    action: "Enter",
  });
  if (form) await tools.act(async () => {
    const { status } = await post("/vote", { proposal: row.proposal, member: form.member, choice: form.choice, reason: form.reason });
    return `The proposal is ${status}.`;
  });
}
