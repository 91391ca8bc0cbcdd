// The server does not let someone in: say why.

import { h, show } from "/static/dom.js";

/**
 * @param {HTMLElement} container
 * @param {import("../texts.js").Texts} texts
 * @param {{code?: string}} error
 */
export function refused(container, texts, error) {
  const { t } = texts;
  const key = `refused.${error.code}`;
  const hasText = texts.has(key);
  const again = h("button", { type: "button", class: "button button--primary", onclick: () => location.reload() }, t("failure.again"));
  show(container, h("main", { class: "page page--refused" },
    h("h1", {}, t(hasText ? "refused.title" : "failure.title")),
    h("p", { class: "lead" }, t(hasText ? key : "failure.text")),
    h("div", { class: "page__buttons" }, again)));
}
