// Formatting of numbers, dates and plurals in the language of the page.

import { locale, t } from "/static/researcher/language.js";

/** @param {number} value */
export const count = (value) => new Intl.NumberFormat(locale()).format(value);

/** @param {number | null} value @param {number} [digits] */
export function decimal(value, digits = 2) {
  if (value === null) return "–";
  const format = { minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping: false };
  return new Intl.NumberFormat(locale(), format).format(value).replace("-", "−");
}

/** @param {number | null} value */
export const percent = (value) => (value === null ? "–" : `${Math.round(value * 100)}\u00a0%`);

/** @param {number | null} value @param {string} currency */
export function money(value, currency) {
  if (value === null) return "–";
  return new Intl.NumberFormat(locale(), { style: "currency", currency, currencyDisplay: "code" }).format(value);
}

/** @param {number} seconds @param {number} [digits] */
export const minutes = (seconds, digits = 1) => `${decimal(seconds / 60, digits)}\u00a0min`;

/** @param {number} seconds since 1970 */
export function moment(seconds) {
  return new Date(seconds * 1000).toLocaleString(locale(), { dateStyle: "medium", timeStyle: "short" });
}

/** A number of things, such as `count.slot.one` and `count.slot.other`. @param {number} number @param {string} name */
export const plural = (number, name) => t(`count.${name}.${number === 1 ? "one" : "other"}`, { count: count(number) });

/** A mean on a scale, or a part of a total. @param {string | number} part @param {string | number} total */
export const outOf = (part, total) => t("out-of", { part, total });
