// Skills that were shown, and earnings; nothing here compares raters.

import { h } from "/static/dom.js";
import { interval, money } from "/static/panel/money.js";

/** @param {any} page @param {import("./app.js").Tools} tools */
export function skills(page, tools) {
  const { t } = tools;
  const list = h("ul", { class: "skills" }, page.skills.map((/** @type {any} */ skill) => h("li", {},
    h("span", { class: "chip", "data-earned": String(skill.earned) }, t(skill.earned ? "panel.skills.earned" : "panel.skills.growing")),
    h("span", {}, `${t(`panel.kind.${skill.kind}`)}: ${interval(skill, tools)}`))));
  return h("section", { class: "part", "aria-labelledby": "skills-title" },
    h("h2", { id: "skills-title" }, t("panel.skills.title")),
    page.skills.length ? [h("p", { class: "note" }, t("panel.skills.text")), list] : h("p", {}, t("panel.skills.none")));
}

/** @param {any} page @param {import("./app.js").Tools} tools */
export function earnings(page, { t, texts }) {
  const lines = page.earnings.map((/** @type {any} */ row) => {
    const amount = (/** @type {number} */ cents) => money(cents, row.currency, texts.language);
    return h("p", {}, t("panel.earnings.line", { amount: amount(row.cents), hourly: row.hourly === null ? "–" : amount(row.hourly) }));
  });
  return h("section", { class: "part", "aria-labelledby": "earnings-title" },
    h("h2", { id: "earnings-title" }, t("panel.earnings.title")), lines.length ? lines : h("p", {}, t("panel.earnings.none")));
}
