// The raters' comments on the task.

import { h } from "/static/dom.js";
import { get } from "/static/researcher/api.js";
import { moment } from "/static/researcher/words.js";

/** @param {import("./types").Study} study */
export async function comments(study) {
  const job = await get("/results/job");
  const rows = /** @type {import("./types").Comment[]} */ ((await get("/comments")).rows);
  const rated = (/** @type {"clear" | "fair"} */ name) => {
    const scores = rows.map((row) => row[name]).filter((value) => value !== null && value !== undefined);
    return scores.length ? `${(scores.reduce((a, b) => a + b, 0) / scores.length).toFixed(1)} of 5 (${scores.length})` : "–";
  };
  const written = rows.filter((row) => row.text || row.skipped);
  return [h("section", { class: "card", "aria-label": `Comments on ${study.study.title}` },
    h("dl", { class: "facts" },
      h("div", {}, h("dt", {}, "Task was clear, on average"), h("dd", {}, rated("clear"))),
      h("div", {}, h("dt", {}, "Pay was fair, on average"), h("dd", {}, rated("fair")))),
    written.length
      ? h("ul", { class: "list" }, written.map(entry))
      : h("p", { class: "quiet" }, "Nobody has written anything yet.")),
  job.rows.length > 0 && jobSurvey(job)].filter(Boolean);
}

/** @type {Record<string, [string, string]>} name, and what raises it */
const CHARACTERISTICS = {
  variety: ["Skill variety", "mix questions of different kinds, or offer more than one"],
  identity: ["Task identity", "show at the end what the answers are part of"],
  significance: ["Significance", "say in the description what the study is for, and publish what came of it"],
  autonomy: ["Autonomy", "let raters choose among studies and pause when they like"],
  feedback: ["Feedback", "show training trials with feedback, and accuracy on the raters' own pages"],
};

/** @param {any} job */
function jobSurvey(job) {
  const words = (/** @type {any} */ row) => `${row.value.toFixed(1)}${row.low === null ? "" : ` [${row.low.toFixed(1)}, ${row.high.toFixed(1)}]`}`;
  const [name, advice] = CHARACTERISTICS[job.weakest];
  return h("section", { class: "card", "aria-labelledby": "job" }, h("h2", { id: "job" }, "The work, as raters see it"),
    h("dl", { class: "facts" }, job.rows.map((/** @type {any} */ row) =>
      h("div", {}, h("dt", {}, CHARACTERISTICS[row.name][0]), h("dd", {}, row.value.toFixed(1), h("small", {}, ` ${words(row).slice(3)} of 7`)))),
      job.motivating && h("div", {}, h("dt", {}, "Motivating potential"), h("dd", {}, job.motivating.value.toFixed(0), h("small", {}, ` ${words(job.motivating).replace(/^\S+ ?/, "")} of 343`)))),
    h("p", {}, `Weakest: ${name.toLowerCase()}. What raises it: ${advice}.`),
    h("p", { class: "quiet small" }, `Means of ${job.raters} raters with 95 % confidence intervals; adapted from the Job Diagnostic Survey of Hackman and Oldham.`));
}

/** @param {import("./types").Comment} row */
function entry(row) {
  const marks = [
    row.skipped && `skipped an image: ${row.skipped}`,
    typeof row.clear === "number" && `clear ${row.clear} of 5`,
    typeof row.fair === "number" && `fair ${row.fair} of 5`,
  ].filter(Boolean);
  return h("li", {},
    h("div", { class: "list__head" },
      h("span", { class: "mono" }, row.rater), h("span", {}, row.question), h("span", {}, moment(row.at)),
      marks.map((mark) => h("span", { class: "chip" }, mark))),
    row.text && h("p", {}, row.text));
}
