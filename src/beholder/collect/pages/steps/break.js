// A rest between two parts.

import { copyButton, h } from "/static/dom.js";
import { resumeLink } from "/static/entry.js";
import { clicked, primaryButton, showPage } from "/static/steps/page.js";

/**
 * @param {HTMLElement} container
 * @param {any} state
 * @param {import("../app.js").Tools} tools
 */
export function breakTime(container, state, tools) {
  const { t } = tools;
  tools.flow.rolling = false;
  const go = primaryButton(t("break.go"), () => {});
  const { block, blocks } = state.break;
  showPage(
    container, state, tools,
    { title: t("break.title"), lead: t("break.lead", { block, blocks }) },
    [parts(block, blocks), h("p", {}, t("break.text")), resumeCard(tools)],
    [go],
  );
  return clicked(go, () => tools.api.post("/api/break"));
}

/** How many parts are behind, as a row of dots. @param {number} block @param {number} blocks */
function parts(block, blocks) {
  return h("div", { class: "parts", "aria-hidden": "true" },
    Array.from({ length: blocks }, (_, part) => h("span", { class: "parts__dot", "data-done": part < block })));
}

/**
 * The link by which the session goes on elsewhere.
 * @param {import("../app.js").Tools} tools
 */
function resumeCard({ t }) {
  const link = resumeLink();
  if (!link) return null;
  return h("section", { class: "card" }, h("h2", {}, t("resume.title")), h("p", {}, t("resume.text")),
    h("div", { class: "copyable" }, h("code", { class: "copyable__text" }, link),
      copyButton(link, t("copy"), t("copied"))));
}
