// The language of the researcher's pages: the browser's or the one chosen here, which is remembered.

import { h } from "/static/dom.js";
import { base } from "/static/link.js";
import { Texts, preferredLanguage } from "/static/texts.js";

const LANGUAGES = { en: "English", de: "Deutsch" };
const STORED = "beholder.language";
const SENTENCE = "sentence.";

let texts = new Texts("en", {});
/** What the server says in English, as patterns. @type {{key: string, pattern: RegExp, names: string[]}[]} */
let sentences = [];

/** @type {import("../texts.js").Translate} */
export const t = (key, values) => texts.t(key, values);

/** The locale of numbers and dates. */
export const locale = () => (texts.language === "en" ? "en-GB" : texts.language);

/** The words for a value of a closed list, such as a status; a value without words stays. @param {string} list @param {string} value */
export function named(list, value) {
  const key = `${list}.${value.replaceAll(" ", "-")}`;
  return texts.has(key) ? t(key) : value;
}

/**
 * A sentence that the server made, in the language of the page. What people wrote themselves stays.
 * @param {string} words
 * @returns {string}
 */
export function sentence(words) {
  for (const { key, pattern, names } of sentences) {
    const parts = pattern.exec(words);
    if (parts) return t(key, Object.fromEntries(names.map((name, position) => [name, sentence(parts[position + 1])])));
  }
  return words;
}

/** Load the texts of a language, and fill in those of the page itself. @param {string} [language] */
export async function speak(language = remembered()) {
  const [english, own] = await Promise.all(["en", language].map(load));
  texts = new Texts(language, own);
  sentences = language === "en" ? [] : Object.entries(english).filter(([key]) => key.startsWith(SENTENCE)).map(asPattern);
  document.documentElement.lang = language;
  for (const element of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-text]"))) {
    element.textContent = t(element.dataset.text ?? "", /** @type {Record<string, string>} */ ({ ...element.dataset }));
  }
  for (const element of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-label-text]"))) {
    element.setAttribute("aria-label", t(element.dataset.labelText ?? ""));
  }
}

/** @param {() => void} changed called when the texts are there */
export function languageSwitch(changed) {
  const choose = h("select", { id: "language", "aria-label": t("language"), onchange: async () => {
    localStorage.setItem(STORED, choose.value);
    await speak(choose.value);
    changed();
  } }, Object.entries(LANGUAGES).map(([code, name]) => h("option", { value: code, lang: code, selected: code === texts.language }, name)));
  return choose;
}

function remembered() {
  const stored = localStorage.getItem(STORED) ?? "";
  return stored in LANGUAGES ? stored : preferredLanguage(Object.keys(LANGUAGES));
}

/** @param {string} language @returns {Promise<Record<string, string>>} */
async function load(language) {
  return (await fetch(`${base}/researcher/texts/${language}`)).json();
}

/** @param {[string, string]} entry of the English texts */
function asPattern([key, text]) {
  const escaped = text.replace(/[.*+?^$()|[\]\\]/g, "\\$&");
  const names = [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  return { key, names, pattern: new RegExp(`^${escaped.replace(/\{\w+\}/g, "(.+?)")}$`, "s") };
}
