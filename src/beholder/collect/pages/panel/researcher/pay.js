// Fair pay: the effective hourly pay of a study, what is missing, frozen reports, and a researcher's word on it.

import { h } from "/static/dom.js";
import { amount, fact, table } from "/static/panel/researcher/parts.js";
import { get, post } from "/static/researcher/api.js";
import { ask, reasonField } from "/static/researcher/dialog.js";
import { count, moment, plural } from "/static/researcher/words.js";

const filter = { study: "" };
const GRACE_HOURS = 12;

/** @param {any} panel @param {import("./app.js").Tools} tools */
export async function pay(panel, tools) {
  const worked = panel.studies.filter((/** @type {any} */ study) => study.sessions > 0);
  if (!worked.length) return [h("section", { class: "card" }, h("p", { class: "quiet" }, "Nobody has worked in a study yet."))];
  const study = worked.find((/** @type {any} */ row) => row.study === filter.study) ?? worked[0];
  const report = await get(`/results/pay?study=${encodeURIComponent(study.study)}`);
  const choose = h("select", { id: "pay-study", onchange: () => { filter.study = choose.value; tools.redraw(); } },
    worked.map((/** @type {any} */ row) => h("option", { value: row.study, selected: row.study === study.study }, row.title)));
  return [
    h("section", { class: "card", "aria-label": "Study" }, h("div", { class: "filters" }, h("div", { class: "field" }, h("label", { for: "pay-study" }, "Study"), choose))),
    ...report.questions.map((/** @type {any} */ question) => wages(question, study)),
    missing(report, study, panel, tools), payments(report, study, panel, tools), sessions(report, study, panel, tools),
  ];
}

/** @param {any} question @param {any} study */
function wages(question, study) {
  const { value, low, high } = question.seconds;
  return h("section", { class: "card", "aria-label": `Pay of ${question.question}` }, h("h2", {}, question.question),
    h("dl", { class: "facts" },
      fact("Effective time", `${(value / 60).toFixed(1)} min`, `${(low / 60).toFixed(1)}–${(high / 60).toFixed(1)}`),
      fact("Paid an hour", amount(question.hourly_cents, study.currency)),
      fact("Raters below the wage", count(question.missing.length)),
      fact("Frozen reports", count(question.frozen))),
    h("p", { class: "quiet small" }, "The median over sessions of the time that raters report, which the page fills in with the active time that it measured."));
}

/** @param {any} report @param {any} study @param {any} panel @param {import("./app.js").Tools} tools */
function missing(report, study, panel, tools) {
  const known = new Set(report.payments.map((/** @type {any} */ payment) => payment.session + payment.kind));
  const rows = report.questions.flatMap((/** @type {any} */ question) => question.missing)
    .filter((/** @type {any} */ up) => !known.has(`${up.session}top-up`));
  const propose = () => tools.act(async () => {
    const done = await post("/results/propose", { study: study.study });
    return `${plural(done.top_ups, "top-up")} proposed: ${amount(done.cents, study.currency)}. They can be approved in ${GRACE_HOURS} hours.`;
  });
  return h("section", { class: "card", "aria-labelledby": "missing" }, h("h2", { id: "missing" }, "Missing to the minimum wage"),
    rows.length
      ? [table("Missing", ["Rater", "Amount", "Reason"], rows.map((/** @type {any} */ up) => [h("span", { class: "mono" }, up.rater), amount(up.cents, study.currency), up.reason])),
        panel.you.may_change && h("div", { class: "buttons" }, h("button", { type: "button", class: "button button--primary", onclick: propose }, `Propose ${plural(rows.length, "top-up")}`))]
      : h("p", { class: "quiet" }, "Nothing that is not proposed already."));
}

/** @param {any} report @param {any} study @param {any} panel @param {import("./app.js").Tools} tools */
function payments(report, study, panel, tools) {
  const open = report.payments.filter((/** @type {any} */ payment) => payment.status === "proposed").map((/** @type {any} */ payment) => payment.payment);
  const sum = report.payments.filter((/** @type {any} */ payment) => payment.status === "proposed").reduce((/** @type {number} */ total, /** @type {any} */ payment) => total + payment.cents, 0);
  return h("section", { class: "card", "aria-labelledby": "payments" }, h("h2", { id: "payments" }, "Payments"),
    report.payments.length
      ? table("Payments", ["Rater", "Amount", "Status", "Proposed", "Reason"], report.payments.map((/** @type {any} */ payment) =>
        [h("span", { class: "mono" }, payment.rater), amount(payment.cents, payment.currency), payment.status, moment(payment.proposed), payment.reason]))
      : h("p", { class: "quiet" }, "None yet."),
    panel.you.may_change && open.length > 0 && h("div", { class: "buttons" },
      h("button", { type: "button", class: "button button--primary", onclick: () => decide(open, sum, true, study, tools) }, `Approve ${plural(open.length, "payment")}…`),
      h("button", { type: "button", class: "button", onclick: () => decide(open, sum, false, study, tools) }, "Decline…")));
}

/** @param {string[]} open @param {number} sum @param {boolean} approve @param {any} study @param {import("./app.js").Tools} tools */
async function decide(open, sum, approve, study, tools) {
  const form = await ask({
    title: `${approve ? "Approve" : "Decline"} ${plural(open.length, "payment")}, ${amount(sum, study.currency)}?`,
    text: approve ? "The raters are owed the money from then on. Sending it is a step of its own: beholder panel pay." : "They are not proposed again.",
    fields: approve ? [h("div", { class: "inline" }, h("input", { id: "dialog-grace", name: "grace", type: "checkbox" }), h("label", { for: "dialog-grace" }, `Do not wait for ${GRACE_HOURS} hours after the proposal`))] : [],
    action: approve ? "Approve" : "Decline", bad: !approve,
  });
  if (!form) return;
  await tools.act(async () => {
    const done = await post("/payments", { payments: open, approve, without_grace: form.grace === "on" });
    return `${plural(done.decided, "payment")} ${approve ? "approved" : "declined"}.`;
  });
}

/** @param {any} report @param {any} study @param {any} panel @param {import("./app.js").Tools} tools */
function sessions(report, study, panel, tools) {
  return h("section", { class: "card", "aria-labelledby": "sessions" }, h("h2", { id: "sessions" }, "Sessions and their times"),
    table("Sessions", ["Rater", "Status", "Measured", "Reported", "Pay", "Report"], report.sessions.map((/** @type {any} */ row) => [
      h("span", { class: "mono" }, row.rater), row.status, `${(row.active_seconds / 60).toFixed(1)} min`,
      row.reported_seconds === null ? "–" : `${(row.reported_seconds / 60).toFixed(1)} min`, amount(row.pay_cents, study.currency),
      h("div", {}, row.frozen && h("p", { class: "small" }, `Frozen: ${row.frozen}`),
        panel.you.may_change && h("button", { type: "button", class: "button button--small", onclick: () => freeze(row, study, tools) }, row.frozen ? "Count again…" : "Freeze…"))])));
}

/** @param {any} row @param {any} study @param {import("./app.js").Tools} tools */
async function freeze(row, study, tools) {
  const frozen = !row.frozen;
  const form = await ask({
    title: frozen ? "Freeze this report?" : "Let this report count again?",
    text: frozen ? "It leaves the medians, and the rater is paid by them. The rater sees the reason and can answer." : "It counts in the medians again.",
    fields: [reasonField(true)], action: frozen ? "Freeze" : "Count again", bad: frozen,
  });
  if (form) await tools.act(async () => { await post("/freeze", { study: study.study, session: row.session, frozen, reason: form.reason }); return frozen ? "Frozen." : "It counts again."; });
}
