// A start button before a timed sequence.

import { h } from "/static/dom.js";
import { Gate, onKeys } from "/static/keys.js";

/**
 * @param {HTMLElement} stage
 * @param {import("../steps/trial.js").TrialTools} tools
 * @returns {Promise<void>}
 */
export function startGate(stage, tools) {
  const { t } = tools;
  const go = h("button", { type: "button", class: "button button--primary" }, t("start.go"), h("kbd", {}, t("key.space")));
  const cover = h("div", { class: "start" }, h("p", {}, t("start.text")), go);
  const over = new AbortController();
  tools.signal.addEventListener("abort", () => over.abort(), { once: true });
  stage.append(cover);
  return new Promise((resolve) => {
    const start = () => {
      over.abort();
      cover.remove();
      resolve();
    };
    const gate = new Gate();
    gate.open(performance.now());
    go.addEventListener("click", start);
    onKeys({ " ": start, Enter: start }, gate, over.signal);
  });
}
