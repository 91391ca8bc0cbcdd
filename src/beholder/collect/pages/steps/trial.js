// One trial: progress, question, the kind's own view, and what comes back from the server.

import { h, show } from "/static/dom.js";
import { BrokenImage } from "/static/images.js";
import { KINDS } from "/static/kinds/catalogue.js";
import { withLabels } from "/static/own_words.js";
import { attentionText } from "/static/steps/attention.js";
import { offerBreak } from "/static/steps/break.js";
import { tellFeedback, tellSpoiled } from "/static/steps/feedback.js";
import { withdrawButton } from "/static/steps/page.js";
import { reportDialog } from "/static/steps/report.js";

/**
 * What a kind gets besides the tools of a step.
 * @typedef {import("../app.js").Tools & {ahead: () => void}} TrialTools
 */

/**
 * What a kind gives back.
 * @typedef {object} Answer
 * @property {{aspect: string, choice?: string, value?: number, ranking?: number[]}[]} said
 * @property {{aspect: string, kind: string, image?: number, x?: number, y?: number, word?: number, at_ms?: number}[]} marks
 * @property {number} seconds
 * @property {import("../presenter.js").Exposure} [exposure]
 * @property {boolean} spoiled
 * @property {string} [spoiled_reason]
 */

/**
 * @param {HTMLElement} container
 * @param {any} state
 * @param {import("../app.js").Tools} stepTools
 */
export async function trial(container, state, stepTools) {
  const task = state.trial;
  if (task.break_offered) await offerBreak(container, state, stepTools);
  const tools = { ...stepTools, t: withLabels(stepTools.t, task.settings.labels) };
  const tokens = task.images.map((/** @type {{token: string}} */ image) => image.token);
  tools.images.keepOnly([...tokens, ...task.prefetch]);
  const work = h("div", { class: `work work--${task.kind}` });
  show(container, h("main", { class: "trial" }, bar(state, tools), ask(task, tools), work));
  const ahead = () => fetchAhead(task.prefetch, tools);
  try {
    const answer = await KINDS[task.kind].render(work, task, { ...tools, ahead });
    return await submit(task, answer, work, tools);
  } catch (error) {
    if (!(error instanceof BrokenImage)) throw error;
    return offerSkip(task, work, tools);
  }
}

/**
 * The images of the next trials, one after the other, so that they never crowd out something urgent.
 * @param {string[]} tokens
 * @param {import("../app.js").Tools} tools
 */
async function fetchAhead(tokens, { images, signal }) {
  for (const token of tokens) {
    if (signal.aborted) return;
    await images.blob(token).catch(() => {});
  }
}

/**
 * @param {any} task
 * @param {Answer} answer
 * @param {HTMLElement} work
 * @param {import("../app.js").Tools} tools
 */
async function submit(task, answer, work, tools) {
  const reply = await tools.api.answer({ trial: task.trial, attempt: task.attempt, ...answer });
  tools.flow.rolling = !answer.spoiled || answer.spoiled_reason === "dropped-frames"; // else the rater was away
  if (answer.spoiled || reply.spoiled) await tellSpoiled(work, tools);
  else if (reply.feedback) await tellFeedback(reply.feedback, task, work, tools);
  return reply.state;
}

/**
 * An image that cannot be had is not the rater's fault.
 * @param {any} task
 * @param {HTMLElement} work
 * @param {import("../app.js").Tools} tools
 */
function offerSkip(task, work, tools) {
  const { t } = tools;
  const go = h("button", { type: "button", class: "button button--primary" }, t("broken.skip"));
  const again = h("button", { type: "button", class: "button", onclick: async () => tools.go(await tools.refresh()) },
    t("broken.again"));
  go.addEventListener("click", () => reportDialog(task, tools, "broken"));
  work.replaceChildren(h("div", { class: "broken", role: "alert" }, h("p", {}, t("broken.text")),
    h("div", { class: "page__buttons" }, go, again)));
  return new Promise(() => {});
}

/** Progress and the ways out. @param {any} state @param {import("../app.js").Tools} tools */
function bar(state, tools) {
  const { t } = tools;
  const { done, total } = state.progress;
  const report = () => reportDialog(state.trial, tools);
  return h("header", { class: "bar" },
    h("progress", { class: "bar__progress", max: Math.max(1, total), value: done, "aria-label": t("trial.progress") }),
    h("span", { class: "bar__count" }, t("trial.count", { number: Math.min(done + 1, total), total })),
    phase(state.trial.phase, t),
    h("span", { class: "bar__space" }),
    h("button", { type: "button", class: "button button--quiet", onclick: report }, t("report.open")),
    withdrawButton(tools));
}

/** @param {string} name @param {import("../texts.js").Translate} t */
function phase(name, t) {
  return name === "test" ? null : h("span", { class: "bar__phase" }, t(`trial.${name}`));
}

/** What is asked, and about what. @param {any} task @param {import("../app.js").Tools} tools */
function ask(task, { t }) {
  const inWords = task.words !== null && task.words !== undefined;
  return h("div", { class: "ask" },
    h("h1", { class: "ask__question" }, task.text),
    task.prompt && !inWords && h("p", { class: "ask__prompt" },
      h("span", { class: "ask__label" }, t("trial.prompt")), h("q", {}, task.prompt)),
    task.instruction && h("p", { class: "ask__instruction" },
      h("strong", {}, t("trial.attention")), " ", attentionText(task, t)));
}
