// The study rests; ask again from time to time.

import { clicked, primaryButton, showPage } from "/static/steps/page.js";
import { pause } from "/static/waiting.js";

const EVERY_MS = 20_000;

/**
 * @param {HTMLElement} container
 * @param {any} state
 * @param {import("../app.js").Tools} tools
 */
export async function paused(container, state, tools) {
  const { t } = tools;
  const again = primaryButton(t("paused.again"), () => {});
  showPage(container, state, tools, { title: t("paused.title"), lead: t("paused.text") }, [], [again]);
  const ask = () => tools.api.get("/api/state");
  return Promise.race([clicked(again, ask), pause(EVERY_MS, tools.signal).then(ask)]);
}
