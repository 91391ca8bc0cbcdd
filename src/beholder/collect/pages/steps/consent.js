// What the study is, what it pays, what is kept; agree or decline.

import { h, paragraphs } from "/static/dom.js";
import { enter } from "/static/entry.js";
import { clicked, showPage } from "/static/steps/page.js";

/**
 * @param {HTMLElement} container
 * @param {any} state
 * @param {import("../app.js").Tools} tools
 */
export function consent(container, state, tools) {
  const { t } = tools;
  const agree = h("button", { type: "button", class: "button button--primary" }, t("consent.agree"));
  const decline = h("button", { type: "button", class: "button" }, t("consent.decline"));
  showPage(
    container, state, tools,
    { title: state.study.title, lead: state.consent.description || t("consent.lead"), aside: languageSwitch(state, tools) },
    [
      facts(state, tools),
      state.consent.masked && warning(t),
      h("section", { class: "card prose", "aria-label": t("consent.title") }, paragraphs(state.consent.text)),
      h("p", { class: "note" }, t("consent.withdraw")),
    ],
    [agree, decline],
  );
  const post = (/** @type {boolean} */ agreed) => () => {
    const { hash, version, language } = state.consent;
    return tools.api.post("/api/consent", { agreed, hash, version, language });
  };
  return Promise.race([clicked(agree, post(true)), clicked(decline, post(false))]);
}

/** Pay and time at a glance. @param {any} state @param {import("../app.js").Tools} tools */
function facts(state, { t, texts }) {
  const { pay, minutes } = state.consent;
  const rows = [
    pay && [t("consent.pay"), payText(pay, texts)],
    minutes && [t("consent.time"), t("consent.minutes", { minutes: Math.ceil(minutes) })],
    [t("consent.voluntary"), t("consent.anytime")],
  ].filter(Boolean);
  return h("dl", { class: "facts" }, rows.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

/** @param {any} pay a ready text, or the amounts @param {import("../texts.js").Texts} texts */
function payText(pay, texts) {
  if (typeof pay !== "object") return String(pay);
  const money = (/** @type {number} */ amount) =>
    new Intl.NumberFormat(texts.language, { style: "currency", currency: pay.currency }).format(amount);
  const base = money(pay.base);
  return pay.per_right ? texts.t("consent.bonus", { base, bonus: money(pay.per_right) }) : base;
}

/** @param {import("../texts.js").Translate} t */
function warning(t) {
  return h("section", { class: "card card--warning" },
    h("h2", {}, h("span", { class: "card__mark", "aria-hidden": "true" }, "!"), t("consent.flicker.title")),
    h("p", {}, t("consent.flicker.text")));
}

/** @param {any} state @param {import("../app.js").Tools} tools */
function languageSwitch(state, tools) {
  const { language, languages } = state.study;
  if (languages.length < 2) return h("span");
  const change = async (/** @type {Event} */ event) =>
    tools.go(await enter(tools.api, /** @type {HTMLSelectElement} */ (event.target).value));
  return h("label", { class: "language" },
    h("span", { class: "unseen" }, tools.t("consent.language")),
    h("select", { onchange: change }, languages.map((/** @type {string} */ code) =>
      h("option", { value: code, lang: code, selected: code === language }, nameOf(code)))));
}

/** A language's own name for itself. @param {string} language */
function nameOf(language) {
  const name = new Intl.DisplayNames([language], { type: "language" }).of(language) ?? language;
  return name.charAt(0).toLocaleUpperCase(language) + name.slice(1);
}
