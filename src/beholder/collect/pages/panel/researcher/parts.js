// What the parts of a panel's pages share.

import { h } from "/static/dom.js";
import { t } from "/static/researcher/language.js";
import { decimal, percent } from "/static/researcher/words.js";

/** @param {string} name @param {any} value @param {string} [more] */
export function fact(name, value, more) {
  return h("div", {}, h("dt", {}, name), h("dd", {}, value, more ? h("small", {}, ` ${more}`) : null));
}

/** A proportion with its interval, drawn and in words. @param {string} label @param {{value: number, low: number, high: number} | null} estimate @param {string} [more] */
export function spread(label, estimate, more = "") {
  if (!estimate) return h("div", { class: "spread__row" }, h("span", {}, label), h("span", { class: "quiet" }, t("no-gold")), h("span", {}, more));
  const { value, low, high } = estimate;
  return h("div", { class: "spread__row" }, h("span", {}, label),
    h("span", { class: "spread__line", "aria-hidden": "true" },
      h("span", { class: "spread__reach", vars: { "--low": low, "--high": high } }), h("span", { class: "spread__dot", vars: { "--value": value } })),
    h("span", {}, `${percent(value)} [${percent(low)}; ${percent(high)}]${more}`));
}

/** A table that becomes a list on a phone. @param {string} label @param {string[]} heads @param {any[][]} rows */
export function table(label, heads, rows) {
  return h("div", { class: "table-wrap", role: "region", "aria-label": label, tabindex: 0 }, h("table", { class: "stack" },
    h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, place) =>
      h("td", { class: place === 0 ? "lead" : null, "data-label": place === 0 ? null : heads[place] }, cell)))))));
}

/** @param {number} cents @param {string} currency */
export function amount(cents, currency) {
  return `${decimal(cents / 100)}\u00a0${currency}`;
}
