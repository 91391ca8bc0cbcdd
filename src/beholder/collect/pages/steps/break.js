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

/**
 * A rest within a part: offered once before a trial, and over when the rater goes on.
 * @param {HTMLElement} container
 * @param {any} state
 * @param {import("../app.js").Tools} tools
 * @returns {Promise<void>}
 */
export async function offerBreak(container, state, tools) {
  if (tools.flow.rested === state.trial.trial) return;
  const { t } = tools;
  const { done, total } = state.progress;
  tools.flow.rolling = false;
  tools.flow.rested = state.trial.trial;
  const go = primaryButton(t("break.go"), () => {});
  showPage(
    container, { ...state, step: "break" }, tools,
    { title: t("break.offer.title"), lead: t("break.offer.lead", { done, total }) },
    [h("p", {}, t("break.text")), resumeCard(tools)],
    [go],
  );
  await clicked(go, async () => {});
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
