// After an answer: right or not; or, that the trial was spoiled and will come again.

import { h } from "/static/dom.js";
import { Gate, onKeys } from "/static/keys.js";
import { KINDS } from "/static/kinds/catalogue.js";
import { pause } from "/static/waiting.js";

const SHORT_MS = 1100;
const SPOILED_MS = 2200;

/**
 * In training the rater sees the image again and continues by a key; otherwise it disappears by itself.
 * @param {{right: boolean, expected: string}} feedback
 * @param {any} task
 * @param {HTMLElement} work
 * @param {import("../app.js").Tools} tools
 */
export async function tellFeedback(feedback, task, work, tools) {
  const { t, texts } = tools;
  const name = `choice.${feedback.expected}`;
  const own = task.settings.labels?.[feedback.expected];
  const expected = texts.has(name) || own ? t(name) : feedback.expected;
  const text = t(feedback.right ? "feedback.right" : "feedback.wrong", { expected });
  const unhurried = task.phase === "training" && !KINDS[task.kind].hurried;
  await tell(work, feedback.right ? "good" : "bad", text, unhurried ? Infinity : SHORT_MS, tools);
}

/**
 * @param {HTMLElement} work
 * @param {import("../app.js").Tools} tools
 */
export function tellSpoiled(work, tools) {
  return tell(work, "again", tools.t("feedback.spoiled"), SPOILED_MS, tools);
}

/**
 * @param {HTMLElement} work
 * @param {"good" | "bad" | "again"} mood
 * @param {string} text
 * @param {number} ms
 * @param {import("../app.js").Tools} tools
 */
async function tell(work, mood, text, ms, tools) {
  const mark = { good: "✓", bad: "✗", again: "↻" }[mood];
  const next = h("button", { type: "button", class: "button" }, tools.t("feedback.next"), h("kbd", {}, tools.t("key.space")));
  const card = h("div", { class: "feedback", "data-mood": mood, role: "status" },
    h("span", { class: "feedback__mark", "aria-hidden": "true" }, mark), h("p", {}, text), ms === Infinity && next);
  work.append(card);
  const wanted = new Promise((resolve) => {
    const gate = new Gate();
    gate.open(performance.now());
    next.addEventListener("click", resolve);
    onKeys({ " ": resolve, Enter: resolve }, gate, tools.signal);
  });
  await (ms === Infinity ? wanted : Promise.race([pause(ms), wanted]));
}
