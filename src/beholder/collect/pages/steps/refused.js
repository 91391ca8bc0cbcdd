// The server does not let someone in: say why.

import { h, show } from "/static/dom.js";

/**
 * @param {HTMLElement} place
 * @param {import("../texts.js").Texts} texts
 * @param {{code?: string}} error
 */
export function refused(place, texts, error) {
  const { t } = texts;
  const known = `refused.${error.code}`;
  const told = texts.has(known);
  const again = h("button", { type: "button", class: "button button--primary", onclick: () => location.reload() }, t("failure.again"));
  show(place, h("main", { class: "page page--refused" },
    h("h1", {}, t(told ? "refused.title" : "failure.title")),
    h("p", { class: "lead" }, t(told ? known : "failure.text")),
    h("div", { class: "page__buttons" }, again)));
}
