// Amounts, proportions and times in the rater's language.

/** @param {number} cents @param {string} currency @param {string} language */
export function money(cents, currency, language) {
  return new Intl.NumberFormat(language, { style: "currency", currency }).format(cents / 100);
}

/** @param {number} part @param {string} language */
export function percent(part, language) {
  return new Intl.NumberFormat(language, { style: "percent" }).format(part);
}

/** @param {number} seconds @param {string} language */
export function minutes(seconds, language) {
  return new Intl.NumberFormat(language, { maximumFractionDigits: 1 }).format(seconds / 60);
}

/**
 * A proportion with its interval, in words.
 * @param {{value: number, low: number, high: number}} estimate
 * @param {import("./app.js").Tools} tools
 */
export function interval({ value, low, high }, { t, texts }) {
  const [shown, from, to] = [value, low, high].map((part) => percent(part, texts.language));
  return t("panel.history.interval", { value: shown, low: from, high: to });
}
