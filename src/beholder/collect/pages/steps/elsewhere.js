// The study goes on in another tab.

import { h, show } from "/static/dom.js";
import { clicked, primaryButton } from "/static/steps/page.js";

/**
 * @param {HTMLElement} container
 * @param {import("../app.js").Tools} tools
 */
export function elsewhere(container, { t, flow }) {
  flow.rolling = false;
  const here = primaryButton(t("elsewhere.here"), () => {});
  show(container, h("main", { class: "page page--elsewhere" }, h("h1", {}, t("elsewhere.title")),
    h("p", { class: "lead" }, t("elsewhere.text")), h("div", { class: "page__buttons" }, here)));
  return clicked(here, async () => {});
}
