// The study goes on in another tab.

import { h, show } from "/static/dom.js";
import { clicked, primaryButton } from "/static/steps/page.js";

/**
 * @param {HTMLElement} place
 * @param {import("../app.js").Tools} tools
 */
export function elsewhere(place, { t, flow }) {
  flow.rolling = false;
  const here = primaryButton(t("elsewhere.here"), () => {});
  show(place, h("main", { class: "page page--elsewhere" }, h("h1", {}, t("elsewhere.title")),
    h("p", { class: "lead" }, t("elsewhere.text")), h("div", { class: "page__buttons" }, here)));
  return clicked(here, async () => {});
}
