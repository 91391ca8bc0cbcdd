// Appeals: the reason, the rater's answer to it, and the rater's record beside them.

import { h } from "/static/dom.js";
import { table } from "/static/panel/researcher/parts.js";
import { post } from "/static/researcher/api.js";
import { ask, reasonField } from "/static/researcher/dialog.js";
import { count, moment } from "/static/researcher/words.js";

/** @param {any} panel @param {import("./app.js").Tools} tools */
export async function appeals(panel, tools) {
  if (!panel.appeals.length) return [h("section", { class: "card" }, h("p", { class: "quiet" }, "Nobody has answered an exclusion or a frozen report."))];
  const open = panel.appeals.filter((/** @type {any} */ appeal) => appeal.decision === null);
  const decided = panel.appeals.filter((/** @type {any} */ appeal) => appeal.decision !== null);
  return [...open, ...decided].map((appeal) => card(appeal, panel, tools));
}

/** @param {any} appeal @param {any} panel @param {import("./app.js").Tools} tools */
function card(appeal, panel, tools) {
  const heading = `appeal-${appeal.appeal}`;
  return h("section", { class: "card", "aria-labelledby": heading },
    h("div", { class: "card__head" },
      h("div", { class: "card__title" }, h("h2", { id: heading }, `Appeal ${appeal.appeal}: ${appeal.study}`, " ", h("span", { class: "chip" }, appeal.decision ?? "open")),
        h("p", { class: "quiet" }, h("span", { class: "mono" }, appeal.rater), ` · ${moment(appeal.at)}`)),
      panel.you.may_change && appeal.decision === null && h("div", { class: "buttons" },
        h("button", { type: "button", class: "button button--small button--primary", onclick: () => decide(appeal, true, tools) }, "Accept…"),
        h("button", { type: "button", class: "button button--small", onclick: () => decide(appeal, false, tools) }, "Reject…"))),
    h("div", { class: "side" },
      h("div", {}, h("h3", {}, "What the rater was told"), h("p", {}, appeal.reason || "no reason")),
      h("div", {}, h("h3", {}, "The rater's answer"), h("p", {}, appeal.statement))),
    appeal.decision !== null && h("p", {}, `${appeal.decision} by ${appeal.decided_by}: ${appeal.decision_reason}`),
    h("h3", {}, "The rater's record"),
    table("Record", ["Study", "Status", "Trials", "Gold right", "Measured", "Reported", ""], appeal.record.map((/** @type {any} */ row) => [
      row.study, row.status, count(row.trials), row.gold ? `${row.gold_right} of ${row.gold}` : "–", `${(row.active_seconds / 60).toFixed(1)} min`,
      row.reported_seconds === null ? "–" : `${(row.reported_seconds / 60).toFixed(1)} min`,
      [row.excluded !== null && `excluded: ${row.excluded}`, row.frozen && `frozen: ${row.frozen}`].filter(Boolean).join("; ")])));
}

/** @param {any} appeal @param {boolean} accept @param {import("./app.js").Tools} tools */
async function decide(appeal, accept, tools) {
  const form = await ask({
    title: accept ? "Accept the appeal?" : "Reject the appeal?",
    text: accept ? "An excluded rater's answers count again; a frozen report counts again." : "The exclusion or the frozen report stays.",
    fields: [h("p", { class: "quiet small" }, "The rater reads the reason."), reasonField(true)], action: accept ? "Accept" : "Reject", bad: !accept,
  });
  if (form) await tools.act(async () => { await post("/appeal", { appeal: appeal.appeal, accept, reason: form.reason }); return "Decided."; });
}
