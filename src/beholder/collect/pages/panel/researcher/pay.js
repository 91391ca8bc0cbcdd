// Fair pay: the effective hourly pay of a study, what is missing, frozen reports, and a researcher's word on it.

import { h } from "/static/dom.js";
import { amount, fact, table } from "/static/panel/researcher/parts.js";
import { get, post } from "/static/researcher/api.js";
import { ask, reasonField } from "/static/researcher/dialog.js";
import { named, sentence, t } from "/static/researcher/language.js";
import { count, decimal, minutes, moment, plural } from "/static/researcher/words.js";

const filter = { study: "" };
const GRACE_HOURS = 12;

/** @param {any} panel @param {import("./app.js").Tools} tools */
export async function pay(panel, tools) {
  const worked = panel.studies.filter((/** @type {any} */ study) => study.sessions > 0);
  if (!worked.length) return [h("section", { class: "card" }, h("p", { class: "quiet" }, t("pay.none")))];
  const study = worked.find((/** @type {any} */ row) => row.study === filter.study) ?? worked[0];
  const report = await get(`/results/pay?study=${encodeURIComponent(study.study)}`);
  const choose = h("select", { id: "pay-study", onchange: () => { filter.study = choose.value; tools.redraw(); } },
    worked.map((/** @type {any} */ row) => h("option", { value: row.study, selected: row.study === study.study }, row.title)));
  return [
    h("section", { class: "card", "aria-label": t("column.study") }, h("div", { class: "filters" }, h("div", { class: "field" }, h("label", { for: "pay-study" }, t("column.study")), choose))),
    ...report.questions.map((/** @type {any} */ question) => wages(question, study)),
    missing(report, study, panel, tools), payments(report, study, panel, tools), sessions(report, study, panel, tools),
  ];
}

/** @param {any} question @param {any} study */
function wages(question, study) {
  const { value, low, high } = question.seconds;
  return h("section", { class: "card", "aria-label": t("pay.label", { question: question.question }) }, h("h2", {}, question.question),
    h("dl", { class: "facts" },
      fact(t("pay.effective"), minutes(value), t("range", { low: decimal(low / 60, 1), high: decimal(high / 60, 1) })),
      fact(t("pay.hourly"), amount(question.hourly_cents, study.currency)),
      fact(t("pay.below"), count(question.missing.length)),
      fact(t("pay.frozen"), count(question.frozen))),
    h("p", { class: "quiet small" }, t("pay.about")));
}

/** @param {any} report @param {any} study @param {any} panel @param {import("./app.js").Tools} tools */
function missing(report, study, panel, tools) {
  const known = new Set(report.payments.map((/** @type {any} */ payment) => payment.session + payment.kind));
  const rows = report.questions.flatMap((/** @type {any} */ question) => question.missing)
    .filter((/** @type {any} */ up) => !known.has(`${up.session}top-up`));
  const propose = () => tools.act(async () => {
    const done = await post("/results/propose", { study: study.study });
    return t("propose.done", { count: plural(done.top_ups, "top-up"), sum: amount(done.cents, study.currency), hours: GRACE_HOURS });
  });
  return h("section", { class: "card", "aria-labelledby": "missing" }, h("h2", { id: "missing" }, t("missing.title")),
    rows.length
      ? [table(t("missing.title"), ["rater", "amount", "reason"].map((name) => t(`column.${name}`)), rows.map((/** @type {any} */ up) => [h("span", { class: "mono" }, up.rater), amount(up.cents, study.currency), sentence(up.reason)])),
        panel.you.may_change && h("div", { class: "buttons" }, h("button", { type: "button", class: "button button--primary", onclick: propose }, t("propose.action", { count: plural(rows.length, "top-up") })))]
      : h("p", { class: "quiet" }, t("missing.none")));
}

/** @param {any} report @param {any} study @param {any} panel @param {import("./app.js").Tools} tools */
function payments(report, study, panel, tools) {
  const open = report.payments.filter((/** @type {any} */ payment) => payment.status === "proposed").map((/** @type {any} */ payment) => payment.payment);
  const sum = report.payments.filter((/** @type {any} */ payment) => payment.status === "proposed").reduce((/** @type {number} */ total, /** @type {any} */ payment) => total + payment.cents, 0);
  return h("section", { class: "card", "aria-labelledby": "payments" }, h("h2", { id: "payments" }, t("payments.title")),
    report.payments.length
      ? table(t("payments.title"), ["rater", "amount", "status", "proposed", "reason"].map((name) => t(`column.${name}`)), report.payments.map((/** @type {any} */ payment) =>
        [h("span", { class: "mono" }, payment.rater), amount(payment.cents, payment.currency), named("payment", payment.status), moment(payment.proposed), sentence(payment.reason)]))
      : h("p", { class: "quiet" }, t("payments.none")),
    panel.you.may_change && open.length > 0 && h("div", { class: "buttons" },
      h("button", { type: "button", class: "button button--primary", onclick: () => decide(open, sum, true, study, tools) }, t("approve.open", { payments: plural(open.length, "payment") })),
      h("button", { type: "button", class: "button", onclick: () => decide(open, sum, false, study, tools) }, t("decline.open"))));
}

/** @param {string[]} open @param {number} sum @param {boolean} approve @param {any} study @param {import("./app.js").Tools} tools */
async function decide(open, sum, approve, study, tools) {
  const form = await ask({
    title: t(approve ? "approve.title" : "decline.title", { payments: plural(open.length, "payment"), sum: amount(sum, study.currency) }),
    text: t(approve ? "approve.text" : "decline.text"),
    fields: approve ? [h("div", { class: "inline" }, h("input", { id: "dialog-grace", name: "grace", type: "checkbox" }), h("label", { for: "dialog-grace" }, t("approve.grace", { hours: GRACE_HOURS })))] : [],
    action: t(approve ? "approve" : "decline"), bad: !approve,
  });
  if (!form) return;
  await tools.act(async () => {
    const done = await post("/payments", { payments: open, approve, without_grace: form.grace === "on" });
    return t(approve ? "approve.done" : "decline.done", { payments: plural(done.decided, "payment") });
  });
}

/** @param {any} report @param {any} study @param {any} panel @param {import("./app.js").Tools} tools */
function sessions(report, study, panel, tools) {
  return h("section", { class: "card", "aria-labelledby": "sessions" }, h("h2", { id: "sessions" }, t("times.title")),
    table(t("times.title"), ["rater", "status", "measured", "reported", "pay", "report"].map((name) => t(`column.${name}`)), report.sessions.map((/** @type {any} */ row) => [
      h("span", { class: "mono" }, row.rater), named("session", row.status), minutes(row.active_seconds),
      row.reported_seconds === null ? "–" : minutes(row.reported_seconds), amount(row.pay_cents, study.currency),
      h("div", {}, row.frozen && h("p", { class: "small" }, t("frozen", { reason: sentence(row.frozen) })),
        panel.you.may_change && h("button", { type: "button", class: "button button--small", onclick: () => freeze(row, study, tools) }, t(row.frozen ? "unfreeze.open" : "freeze.open")))])));
}

/** @param {any} row @param {any} study @param {import("./app.js").Tools} tools */
async function freeze(row, study, tools) {
  const frozen = !row.frozen;
  const form = await ask({
    title: t(frozen ? "freeze.title" : "unfreeze.title"),
    text: t(frozen ? "freeze.text" : "unfreeze.text"),
    fields: [reasonField(true)], action: t(frozen ? "freeze" : "unfreeze"), bad: frozen,
  });
  if (form) await tools.act(async () => { await post("/freeze", { study: study.study, session: row.session, frozen, reason: form.reason }); return t(frozen ? "freeze.done" : "unfreeze.done"); });
}
