// Every word that a rater sees, in the rater's language.

/**
 * @typedef {(key: string, values?: Record<string, string | number>) => string} Translate
 */

export class Texts {
  /**
   * @param {string} language
   * @param {Record<string, string>} entries
   */
  constructor(language, entries) {
    this.language = language;
    this.entries = entries;
    /** @type {Translate} */
    this.t = (key, values = {}) =>
      (entries[key] ?? key).replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
  }

  /** @param {string} key */
  has(key) {
    return key in this.entries;
  }
}

/**
 * @param {import("./api.js").Api} api
 * @param {string} language
 */
export async function loadTexts(api, language) {
  return new Texts(language, await api.get(`/api/texts/${encodeURIComponent(language)}`));
}

/** The first of the browser's languages that we have texts for. @param {string[]} available */
export function preferredLanguage(available) {
  const preferred = navigator.languages.map((language) => language.slice(0, 2).toLowerCase());
  return preferred.find((language) => available.includes(language)) ?? available[0];
}
