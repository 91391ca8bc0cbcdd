// The raters' comments on the task.

import { h } from "/static/dom.js";
import { get } from "/static/researcher/api.js";
import { moment } from "/static/researcher/words.js";

/** @param {import("./types").Study} study */
export async function comments(study) {
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
      : h("p", { class: "quiet" }, "Nobody has written anything yet."))];
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
