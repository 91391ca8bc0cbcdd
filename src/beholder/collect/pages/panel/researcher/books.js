// The ledger, which balances to the cent, and credit among contributors.

import { h } from "/static/dom.js";
import { amount, table } from "/static/panel/researcher/parts.js";
import { get } from "/static/researcher/api.js";
import { percent } from "/static/researcher/words.js";

/** @param {any} panel */
export async function money(panel) {
  const credit = await get("/results/credit");
  const sums = /** @type {Record<string, number>} */ ({});
  for (const row of panel.ledger) sums[row.currency] = (sums[row.currency] ?? 0) + row.cents;
  return [
    h("section", { class: "card", "aria-labelledby": "ledger" }, h("h2", { id: "ledger" }, "Ledger"),
      panel.ledger.length
        ? [table("Ledger", ["Account", "Amount"], panel.ledger.map((/** @type {any} */ row) => [h("span", { class: "mono" }, row.account), amount(row.cents, row.currency)])),
          h("p", {}, Object.entries(sums).map(([currency, cents]) => `All accounts sum to ${amount(cents, currency)}.`).join(" "))]
        : h("p", { class: "quiet" }, "No payment was approved yet.")),
    h("section", { class: "card", "aria-labelledby": "credit" }, h("h2", { id: "credit" }, "Credit"),
      credit.rows.length
        ? [table("Credit", ["Contributor", "Credit", "Without protection", ""], credit.rows.map((/** @type {any} */ row) =>
          [row.name, percent(row.proportion), percent(row.unprotected), row.flagged ? "exchanged points in a ring: not counted" : ""])),
          h("h3", {}, "Statement of contributions"), h("p", { class: "quote" }, credit.statement)]
        : h("p", { class: "quiet" }, "No points were given yet: ", h("code", {}, "beholder panel credit POINTS.csv --panel FOLDER"))),
  ];
}
