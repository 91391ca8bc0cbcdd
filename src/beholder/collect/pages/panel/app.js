// A rater's own page in a panel: sign in by the personal link, and show what the server says of this rater alone.

import { h, show } from "/static/dom.js";
import { Failed, get, me, post } from "/static/panel/api.js";
import { history } from "/static/panel/history.js";
import { offers } from "/static/panel/offers.js";
import { contact, interests, leaving } from "/static/panel/settings.js";
import { governance } from "/static/panel/rules.js";
import { earnings, skills } from "/static/panel/standing.js";
import { Texts, preferredLanguage } from "/static/texts.js";

/**
 * What a part of the page may use.
 * @typedef {object} Tools
 * @property {import("../texts.js").Texts} texts
 * @property {import("../texts.js").Translate} t
 * @property {(path: string, body?: object, options?: {quiet?: boolean}) => Promise<any>} act post, say so, and draw the page again
 * @property {(path: string, body?: object) => Promise<any>} send post, and say why not
 * @property {(title: string, text: string) => void} end show that there is nothing more to do
 */

const LANGUAGES = ["en", "de"];
const LANGUAGE = "beholder.language";
const ENTERED = "beholder.entered";

const container = /** @type {HTMLElement} */ (document.getElementById("app"));
const notice = /** @type {HTMLElement} */ (document.getElementById("notice"));
let texts = new Texts("", {});
let timer = 0;

async function start() {
  await speak(localStorage.getItem(LANGUAGE) ?? preferredLanguage(LANGUAGES));
  const link = /^\/i\/([\w-]+)$/.exec(location.pathname)?.[1];
  if (link) {
    localStorage.removeItem(ENTERED); // else a study would go on with the session of whoever used this browser before
    await post("/api/enter", { link });
    window.history.replaceState(null, "", "/"); // the link stays in nobody's list of visited pages
  }
  await draw();
}

/** @param {string} language */
async function speak(language) {
  texts = new Texts(language, await get(`/api/texts/${language}`));
  document.documentElement.lang = language;
  document.title = texts.t("panel.title");
}

/** Draw the page; a part that had the focus gets it back, and what was unfolded stays so. */
async function draw() {
  const [page, rules] = await Promise.all([me(), get("/api/rules")]);
  const { t } = texts;
  const focused = document.activeElement?.id;
  const unfolded = [...container.querySelectorAll("details[open]")].map((part) => part.id);
  show(container, h("main", { class: "page page--panel" },
    h("div", { class: "page__top" }, h("p", { class: "page__study" }, t("panel.you", { rater: page.rater })), languageSwitch(), signOutButton()),
    h("h1", {}, t("panel.title")), h("p", { class: "lead" }, t("panel.lead")),
    offers(page, tools), history(page, tools), skills(page, tools), earnings(page, tools), interests(page, tools), governance(rules, tools), contact(page, tools), leaving(page, tools)));
  for (const id of unfolded) document.getElementById(id)?.setAttribute("open", "");
  if (focused) document.getElementById(focused)?.focus();
}

/** @type {Tools} */
const tools = {
  get texts() { return texts; },
  get t() { return texts.t; },
  async act(path, body = {}, { quiet = false } = {}) {
    const reply = await tools.send(path, body);
    if (reply === null) return null;
    await draw();
    if (!quiet) say(texts.t("panel.saved"));
    return reply;
  },
  async send(path, body = {}) {
    try {
      return await post(path, body);
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      const key = `panel.refused.${error.code}`;
      say(texts.t(texts.has(key) ? key : "panel.failed"));
      return null;
    }
  },
  end: message,
};

function signOutButton() {
  const leave = async () => {
    if (await tools.send("/api/sign-out")) message("panel.away.title", "panel.away.text");
  };
  return h("button", { type: "button", class: "button button--quiet", id: "sign-out", onclick: leave }, texts.t("panel.sign-out"));
}

function languageSwitch() {
  const change = async (/** @type {Event} */ event) => {
    const { value } = /** @type {HTMLSelectElement} */ (event.target);
    localStorage.setItem(LANGUAGE, value);
    await speak(value);
    await draw();
  };
  return h("label", { class: "language" }, h("span", { class: "unseen" }, texts.t("panel.language")),
    h("select", { id: "language", onchange: change }, LANGUAGES.map((code) =>
      h("option", { value: code, lang: code, selected: code === texts.language }, code === "de" ? "Deutsch" : "English"))));
}

/** @param {string} title @param {string} text keys of texts */
function message(title, text) {
  show(container, h("main", { class: "page" }, h("h1", {}, texts.t(title)), h("p", { class: "lead" }, texts.t(text))));
}

/** @param {string} words */
function say(words) {
  notice.textContent = words;
  notice.hidden = false;
  clearTimeout(timer);
  timer = setTimeout(() => { notice.hidden = true; }, 5000);
}

start().catch((error) => {
  if (!(error instanceof Failed)) throw error;
  if (error.status === 401) message("panel.entrance.title", "panel.entrance.text");
  else if (error.status === 404) message("panel.entrance.title", "panel.entrance.wrong");
  else message("failure.title", "panel.failed");
});
