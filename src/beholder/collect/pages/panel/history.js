// What the rater took part in: work, pay, accuracy, agreement, what came of it, and the rater's say in it.

import { h } from "/static/dom.js";
import { interval, minutes, money } from "/static/panel/money.js";
import { appealPart, flagPart, ratePart } from "/static/panel/voices.js";

/** @param {any} page @param {import("./app.js").Tools} tools */
export function history(page, tools) {
  const { t } = tools;
  return h("section", { class: "part", "aria-labelledby": "history-title" },
    h("h2", { id: "history-title" }, t("panel.history.title")),
    page.history.length ? page.history.map((/** @type {any} */ row) => card(row, tools)) : h("p", {}, t("panel.history.none")));
}

/** @param {any} row @param {import("./app.js").Tools} tools */
function card(row, tools) {
  const { t } = tools;
  const heading = `history-${row.study}`;
  const status = row.excluded === null ? row.status : "excluded";
  return h("article", { class: "card", "aria-labelledby": heading },
    h("div", { class: "offer__head" }, h("h3", { id: heading }, row.title), h("span", { class: "chip" }, t(`panel.status.${status}`))),
    row.purpose && h("p", {}, h("strong", {}, `${t("panel.open.purpose")}: `), row.purpose),
    facts(row, tools), results(row, tools), topUps(row, tools), appealPart(row, tools), ratePart(row, tools), flagPart(row, tools));
}

/** @param {any} row @param {import("./app.js").Tools} tools */
function facts(row, tools) {
  const { t, texts } = tools;
  const amount = (/** @type {number} */ cents) => money(cents, row.currency, texts.language);
  const hourly = row.seconds ? amount((row.cents / row.seconds) * 3600) : "–";
  const { gold, agreement } = row.standing;
  const rows = [
    [t("panel.history.work"), t("panel.history.trials", { trials: row.trials, minutes: minutes(row.seconds, texts.language) })],
    [t("panel.history.earned"), t("panel.history.hourly", { amount: amount(row.cents), hourly })],
    [t("panel.history.gold"), gold ? interval(gold, tools) : t("panel.history.gold.later")],
    [t("panel.history.agreement"), agreement ? interval(agreement, tools) : t("panel.history.agreement.later")],
  ];
  return h("dl", { class: "facts" }, rows.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

/** @param {any} row @param {import("./app.js").Tools} tools */
function results(row, { t }) {
  const content = row.results === null
    ? [h("p", { class: "note" }, t("panel.history.results.none"))]
    : [h("p", {}, row.results.text), row.results.link && h("p", {}, h("a", { href: row.results.link, rel: "noreferrer noopener", target: "_blank" }, t("panel.history.results.link")))];
  return h("div", { class: "came" }, h("h4", {}, t("panel.history.results")), content);
}

/** @param {any} row @param {import("./app.js").Tools} tools */
function topUps(row, { t, texts }) {
  const shown = { proposed: "proposed", approved: "approved", sending: "approved", sent: "sent", confirmed: "sent", declined: "declined" };
  return row.payments.map((/** @type {any} */ payment) => h("p", { class: "note" },
    t(`panel.topup.${shown[/** @type {keyof typeof shown} */ (payment.status)]}`, { amount: money(payment.cents, row.currency, texts.language) })));
}
