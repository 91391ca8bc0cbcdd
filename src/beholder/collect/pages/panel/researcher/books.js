// The ledger, which balances to the cent, and credit among contributors.

import { h } from "/static/dom.js";
import { amount, table } from "/static/panel/researcher/parts.js";
import { get } from "/static/researcher/api.js";
import { t } from "/static/researcher/language.js";
import { percent } from "/static/researcher/words.js";

/** @param {any} panel */
export async function money(panel) {
  const credit = await get("/results/credit");
  const sums = /** @type {Record<string, number>} */ ({});
  for (const row of panel.ledger) sums[row.currency] = (sums[row.currency] ?? 0) + row.cents;
  return [
    h("section", { class: "card", "aria-labelledby": "ledger" }, h("h2", { id: "ledger" }, t("ledger.title")),
      panel.ledger.length
        ? [table(t("ledger.title"), [t("column.account"), t("column.amount")], panel.ledger.map((/** @type {any} */ row) => [h("span", { class: "mono" }, row.account), amount(row.cents, row.currency)])),
          h("p", {}, Object.entries(sums).map(([currency, cents]) => t("ledger.sum", { sum: amount(cents, currency) })).join(" "))]
        : h("p", { class: "quiet" }, t("ledger.none"))),
    h("section", { class: "card", "aria-labelledby": "credit" }, h("h2", { id: "credit" }, t("credit.title")),
      credit.rows.length
        ? [table(t("credit.title"), [...["contributor", "credit", "unprotected"].map((name) => t(`column.${name}`)), ""], credit.rows.map((/** @type {any} */ row) =>
          [row.name, percent(row.proportion), percent(row.unprotected), row.flagged ? t("credit.ring") : ""])),
          h("h3", {}, t("credit.statement")), h("p", { class: "quote" }, credit.statement)]
        : h("p", { class: "quiet" }, t("credit.none"), " ", h("code", {}, "beholder panel credit POINTS.csv --panel FOLDER"))),
  ];
}
