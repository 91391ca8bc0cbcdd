// How was it? The last questions: the task, the time it took and, in some studies, the work itself.

import { h } from "/static/dom.js";
import { clicked, showPage } from "/static/steps/page.js";
import { minutesField, numberIn, pointScale } from "/static/steps/points.js";

const CHARACTERISTICS = ["variety", "identity", "significance", "autonomy", "feedback"];
const JOB_QUESTIONS = CHARACTERISTICS.flatMap((name) => [name, `${name}-reversed`]);

/**
 * @param {HTMLElement} container
 * @param {any} state
 * @param {import("../app.js").Tools} tools
 */
export async function debrief(container, state, tools) {
  const { t } = tools;
  const asksTime = Boolean(state.debrief?.asks_time);
  const seconds = asksTime ? await tools.api.activeSeconds() : 0;
  const send = h("button", { type: "button", class: "button button--primary" }, t("debrief.send"));
  const comment = h("textarea", { id: "comment", rows: 4, maxlength: 2000 });
  const minutes = (seconds / 60).toFixed(1);
  const form = h("form", { class: "card form" },
    ask("clear", t("debrief.clear"), t("debrief.clear.low"), t("debrief.clear.high")),
    ask("fair", t("debrief.fair"), t("debrief.fair.low"), t("debrief.fair.high")),
    asksTime && minutesField(t("debrief.minutes"), seconds, t("debrief.minutes.note", { minutes })),
    h("label", { for: "comment", class: "form__label" }, t("debrief.comment")), comment);
  const survey = state.debrief?.job_survey ? jobSurvey(t) : null;
  form.addEventListener("submit", (/** @type {Event} */ event) => event.preventDefault());
  showPage(container, state, tools, { title: t("debrief.title"), lead: t("debrief.lead") }, [form, survey].filter(Boolean), [send]);
  return clicked(send, () => tools.api.post("/api/debrief", {
    clear: numberIn(form, "clear"), fair: numberIn(form, "fair"), comment: comment.value.trim(),
    ...(asksTime && { minutes: withinLimits(numberIn(form, "minutes")) }),
    ...(survey && { job: answersIn(survey) }),
  }));
}

/** @param {string} name @param {string} question @param {string} low @param {string} high */
function ask(name, question, low, high) {
  return pointScale({ name, question, low, high });
}

/** @param {import("../texts.js").Translate} t */
function jobSurvey(t) {
  return h("form", { class: "card form", "aria-labelledby": "job-title" },
    h("h2", { id: "job-title" }, t("job.title")), h("p", { class: "note" }, t("job.lead")),
    JOB_QUESTIONS.map((name) => pointScale({ name, question: t(`job.${name}`), low: t("job.low"), high: t("job.high"), points: 7 })));
}

/** The questions that were answered. @param {HTMLFormElement} survey */
function answersIn(survey) {
  const answers = JOB_QUESTIONS.map((name) => [name, numberIn(survey, name)]);
  return Object.fromEntries(answers.filter(([, point]) => point !== null));
}

/** A time that the server takes; nobody has to give one. @param {number | null} minutes */
function withinLimits(minutes) {
  return minutes !== null && minutes > 0 && minutes <= 600 ? minutes : null;
}
