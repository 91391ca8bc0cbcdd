// The raters' comments on the task.

import { h } from "/static/dom.js";
import { get } from "/static/researcher/api.js";
import { named, t } from "/static/researcher/language.js";
import { decimal, moment, outOf, plural } from "/static/researcher/words.js";

/** @param {import("./types").Study} study */
export async function comments(study) {
  const job = await get("/results/job");
  const rows = /** @type {import("./types").Comment[]} */ ((await get("/comments")).rows);
  const rated = (/** @type {"clear" | "fair"} */ name) => {
    const scores = rows.map((row) => row[name]).filter((value) => value !== null && value !== undefined);
    return scores.length ? `${outOf(decimal(scores.reduce((a, b) => a + b, 0) / scores.length, 1), 5)} (${scores.length})` : "–";
  };
  const written = rows.filter((row) => row.text || row.skipped);
  return [h("section", { class: "card", "aria-label": t("comments.label", { study: study.study.title }) },
    h("dl", { class: "facts" },
      h("div", {}, h("dt", {}, t("comments.clear")), h("dd", {}, rated("clear"))),
      h("div", {}, h("dt", {}, t("comments.fair")), h("dd", {}, rated("fair")))),
    written.length
      ? h("ul", { class: "list" }, written.map(entry))
      : h("p", { class: "quiet" }, t("comments.none"))),
  job.rows.length > 0 && jobSurvey(job)].filter(Boolean);
}

/** @param {any} job */
function jobSurvey(job) {
  const reach = (/** @type {any} */ row) => (row.low === null ? "" : `[${decimal(row.low, 1)}; ${decimal(row.high, 1)}]`);
  return h("section", { class: "card", "aria-labelledby": "job" }, h("h2", { id: "job" }, t("job.title")),
    h("dl", { class: "facts" }, job.rows.map((/** @type {any} */ row) =>
      h("div", {}, h("dt", {}, t(`job.${row.name}`)), h("dd", {}, decimal(row.value, 1), h("small", {}, ` ${outOf(reach(row), 7)}`)))),
      job.motivating && h("div", {}, h("dt", {}, t("job.motivating")), h("dd", {}, decimal(job.motivating.value, 0), h("small", {}, ` ${outOf(reach(job.motivating), 343)}`)))),
    h("p", {}, t(`job.weakest.${job.weakest}`)),
    h("p", { class: "quiet small" }, t("job.about", { raters: plural(job.raters, "rater") })));
}

/** @param {import("./types").Comment} row */
function entry(row) {
  const marks = [
    row.skipped && t("comments.skipped", { reason: named("skip", row.skipped) }),
    typeof row.clear === "number" && t("comments.row.clear", { value: outOf(row.clear, 5) }),
    typeof row.fair === "number" && t("comments.row.fair", { value: outOf(row.fair, 5) }),
  ].filter(Boolean);
  return h("li", {},
    h("div", { class: "list__head" },
      h("span", { class: "mono" }, row.rater), h("span", {}, row.question), h("span", {}, moment(row.at)),
      marks.map((mark) => h("span", { class: "chip" }, mark))),
    row.text && h("p", {}, row.text));
}
