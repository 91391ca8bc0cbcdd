// Appeals: the reason, the rater's answer to it, and the rater's record beside them.

import { h } from "/static/dom.js";
import { table } from "/static/panel/researcher/parts.js";
import { post } from "/static/researcher/api.js";
import { ask, reasonField } from "/static/researcher/dialog.js";
import { named, sentence, t } from "/static/researcher/language.js";
import { count, minutes, moment, outOf } from "/static/researcher/words.js";

/** @param {any} panel @param {import("./app.js").Tools} tools */
export async function appeals(panel, tools) {
  if (!panel.appeals.length) return [h("section", { class: "card" }, h("p", { class: "quiet" }, t("appeals.none")))];
  const open = panel.appeals.filter((/** @type {any} */ appeal) => appeal.decision === null);
  const decided = panel.appeals.filter((/** @type {any} */ appeal) => appeal.decision !== null);
  return [...open, ...decided].map((appeal) => card(appeal, panel, tools));
}

/** @param {any} appeal @param {any} panel @param {import("./app.js").Tools} tools */
function card(appeal, panel, tools) {
  const heading = `appeal-${appeal.appeal}`;
  return h("section", { class: "card", "aria-labelledby": heading },
    h("div", { class: "card__head" },
      h("div", { class: "card__title" }, h("h2", { id: heading }, t("appeals.title", { number: appeal.appeal, study: appeal.study }), " ", h("span", { class: "chip" }, t(`appeals.decision.${appeal.decision ?? "open"}`))),
        h("p", { class: "quiet" }, h("span", { class: "mono" }, appeal.rater), ` · ${moment(appeal.at)}`)),
      panel.you.may_change && appeal.decision === null && h("div", { class: "buttons" },
        h("button", { type: "button", class: "button button--small button--primary", onclick: () => decide(appeal, true, tools) }, t("appeals.accept.open")),
        h("button", { type: "button", class: "button button--small", onclick: () => decide(appeal, false, tools) }, t("appeals.reject.open")))),
    h("div", { class: "side" },
      h("div", {}, h("h3", {}, t("appeals.reason")), h("p", {}, sentence(appeal.reason) || t("appeals.no-reason"))),
      h("div", {}, h("h3", {}, t("appeals.statement")), h("p", {}, appeal.statement))),
    appeal.decision !== null && h("p", {}, t("appeals.decided", { decision: t(`appeals.decision.${appeal.decision}`), who: appeal.decided_by, reason: appeal.decision_reason })),
    h("h3", {}, t("appeals.record")),
    table(t("appeals.record"), [...["study", "status", "trials", "gold", "measured", "reported"].map((name) => t(`column.${name}`)), ""], appeal.record.map((/** @type {any} */ row) => [
      row.study, named("session", row.status), count(row.trials), row.gold ? outOf(row.gold_right, row.gold) : "–", minutes(row.active_seconds),
      row.reported_seconds === null ? "–" : minutes(row.reported_seconds),
      [row.excluded !== null && t("raters.excluded", { reason: row.excluded }), row.frozen && t("frozen", { reason: sentence(row.frozen) })].filter(Boolean).join("; ")])));
}

/** @param {any} appeal @param {boolean} accept @param {import("./app.js").Tools} tools */
async function decide(appeal, accept, tools) {
  const form = await ask({
    title: t(accept ? "appeals.accept.title" : "appeals.reject.title"),
    text: t(accept ? "appeals.accept.text" : "appeals.reject.text"),
    fields: [h("p", { class: "quiet small" }, t("appeals.reason.read")), reasonField(true)], action: t(accept ? "appeals.accept" : "appeals.reject"), bad: !accept,
  });
  if (form) await tools.act(async () => { await post("/appeal", { appeal: appeal.appeal, accept, reason: form.reason }); return t("appeals.done"); });
}
