// The leaderboard now, as a table and as a plot, with a warning about early stopping.

import { h } from "/static/dom.js";
import { get } from "/static/researcher/api.js";
import { intervalPlot } from "/static/researcher/plot.js";
import { count, decimal, percent } from "/static/researcher/words.js";

/** @type {Record<string, string>} */
const WORDS = {
  "error-rate": "Error rate, real and generated images alike",
  "fake-error-rate": "Proportion of generated images taken for real",
  "real-error-rate": "Proportion of real images taken for generated",
  "bradley-terry": "Strength in pairs (Bradley–Terry)",
  "win-rate": "Win rate in pairs",
  "mean-opinion": "Mean opinion",
};

/** @param {import("./types").Study} study @param {import("./app.js").Tools} tools */
export async function results(study, tools) {
  const container = h("div", { class: "card" }, h("p", { role: "status" }, "Consolidating and ranking what has been answered so far …"));
  get("/results").then(
    (reply) => container.replaceWith(...boards(reply, tools)),
    (error) => container.replaceChildren(h("p", { class: "alert", role: "alert" }, error.message)),
  );
  return [container];
}

/** @param {import("./types").Results} reply @param {import("./app.js").Tools} tools */
function boards(reply, tools) {
  return [
    h("p", { class: "note" }, h("strong", {}, "Before you look. "), reply.note),
    ...reply.boards.map((board) => section(board, reply.level, tools)),
    h("p", { class: "quiet small" }, `From ${count(reply.responses)} responses. Confidence intervals: ${percent(reply.level)}, over raters.`),
  ];
}

/** @param {import("./types").Board} board @param {number} level @param {import("./app.js").Tools} tools */
function section(board, level, tools) {
  if (!board.rows.length) {
    return h("section", { class: "card" }, h("h2", {}, board.question), h("p", { class: "note" }, board.why));
  }
  const figure = h("figure", { class: "figure" });
  const label = `${board.question}, ${board.aspect}: ratings with ${percent(level)} confidence intervals`;
  tools.onWidth(figure, (width) => figure.replaceChildren(intervalPlot(board.rows, width, label)));
  return h("section", { class: "card" },
    h("div", { class: "card__title" },
      h("h2", {}, board.question, " ", h("span", { class: "chip" }, board.aspect)),
      h("p", { class: "quiet" }, WORDS[board.method] ?? board.method, board.ties ? ` · ties: ${board.ties}` : "")),
    h("div", { class: "results" }, figure, h("div", { class: "table-wrap", role: "region", "aria-label": `Table: ${label}`, tabindex: 0 }, table(board, level))));
}

/** @param {import("./types").Board} board @param {number} level */
function table(board, level) {
  const heads = ["Generator", "Rating", `${percent(level)} CI`, "Rank", "Answers", "Raters"];
  return h("table", {},
    h("thead", {}, h("tr", {}, heads.map((head, position) => h("th", { scope: "col", class: position ? "number" : null }, head)))),
    h("tbody", {}, board.rows.map((row) => h("tr", {},
      h("th", { scope: "row" }, row.generator),
      h("td", { class: "number" }, decimal(row.rating, 3)),
      h("td", { class: "number" }, row.low === null ? "–" : `${decimal(row.low, 3)} – ${decimal(row.high, 3)}`),
      h("td", { class: "number" }, row.rank_low === row.rank_high ? row.rank_low : `${row.rank_low}–${row.rank_high}`),
      h("td", { class: "number" }, count(row.answers)),
      h("td", { class: "number" }, count(row.raters))))));
}
