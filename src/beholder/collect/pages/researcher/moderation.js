// Prompts that raters wrote and the images that came back: nobody else sees them before they are approved here.

import { h } from "/static/dom.js";
import { base, get, post } from "/static/researcher/api.js";
import { named, t } from "/static/researcher/language.js";
import { moment, plural } from "/static/researcher/words.js";

/** @typedef {{attempt: string, author: string, target: string, text: string, moderation: string, image: boolean, at: number}} Attempt */

/** @param {import("./types").Study} study @param {import("./app.js").Tools} tools */
export async function moderation(study, tools) {
  const everything = new URLSearchParams(location.search).has("decided");
  const { queue, banned } = await get(`/moderation?everything=${everything}`);
  const rows = /** @type {Attempt[]} */ (queue);
  const waiting = rows.filter((row) => row.moderation === "waiting");
  return [
    h("section", { class: "card", "aria-labelledby": "queue" },
      h("h2", { id: "queue" }, t("moderation.title", { waiting: waiting.length })),
      h("p", { class: "quiet" }, t("moderation.text")),
      rows.length
        ? h("ul", { class: "list moderation" }, rows.map((row) => entry(row, study.you.may_change, tools)))
        : h("p", { class: "quiet" }, t("moderation.none"))),
    bannedWords(banned, study.you.may_change, tools),
  ];
}

/** @param {Attempt} row @param {boolean} mayChange @param {import("./app.js").Tools} tools */
function entry(row, mayChange, tools) {
  const decide = (/** @type {string} */ decision, /** @type {string} */ words) => () => tools.act(async () => {
    await post("/moderation", { attempts: [row.attempt], decision });
    return words;
  });
  return h("li", { class: "moderation__row" },
    row.image && h("button", { type: "button", class: "moderation__image", "aria-label": t("moderation.image", { text: row.text }) },
      h("img", { src: `${base}/researcher/api/moderation/image/${row.attempt}`, alt: "", loading: "lazy" })),
    h("div", {},
      h("div", { class: "list__head" },
        h("span", { class: "mono" }, row.author), h("span", {}, row.target), h("span", {}, moment(row.at)),
        row.moderation !== "waiting" && h("span", { class: "chip" }, named("moderation", row.moderation))),
      h("p", {}, h("q", {}, row.text)),
      mayChange && h("div", { class: "buttons" },
        h("button", { type: "button", class: "button button--primary", onclick: decide("approved", t("moderation.approve.done")) }, t("moderation.approve")),
        h("button", { type: "button", class: "button", onclick: decide("hidden", t("moderation.hide.done")) }, t("moderation.hide")))));
}

/** @param {string[]} banned @param {boolean} mayChange @param {import("./app.js").Tools} tools */
function bannedWords(banned, mayChange, tools) {
  const field = h("textarea", { id: "banned", rows: 3, disabled: !mayChange }, banned.join(" "));
  const save = () => tools.act(async () => {
    const { banned: listed } = await post("/moderation/banned", { words: field.value.split(/[\s,]+/).filter(Boolean) });
    return t("banned.done", { banned: plural(listed.length, "banned") });
  });
  return h("section", { class: "card", "aria-labelledby": "banned-title" },
    h("h2", { id: "banned-title" }, t("banned.title")),
    h("div", { class: "field" }, h("label", { for: "banned" }, t("banned.label")), field),
    mayChange && h("div", { class: "buttons" }, h("button", { type: "button", class: "button", onclick: save }, t("banned.save"))));
}
