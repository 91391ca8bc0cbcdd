// Formatting of numbers, dates and plurals.

const integers = new Intl.NumberFormat("en");

/** @param {number} value */
export const count = (value) => integers.format(value);

/** @param {number | null} value @param {number} [digits] */
export const decimal = (value, digits = 2) => (value === null ? "–" : value.toFixed(digits).replace("-", "−"));

/** @param {number | null} value */
export const percent = (value) => (value === null ? "–" : `${Math.round(value * 100)}\u00a0%`);

/** @param {number | null} value @param {string} currency */
export function money(value, currency) {
  if (value === null) return "–";
  return new Intl.NumberFormat("en", { style: "currency", currency, currencyDisplay: "code" }).format(value);
}

/** @param {number} seconds since 1970 */
export function moment(seconds) {
  return new Date(seconds * 1000).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}

/** @param {number} number @param {string} name @param {string} [several] */
export const plural = (number, name, several = `${name}s`) => `${count(number)} ${number === 1 ? name : several}`;
