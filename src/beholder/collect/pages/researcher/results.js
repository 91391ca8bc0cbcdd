// The leaderboard now, as a table and as a plot: confidence sequences, which stay valid under continuous looking.

import { h } from "/static/dom.js";
import { get } from "/static/researcher/api.js";
import { intervalPlot } from "/static/researcher/plot.js";
import { count, decimal, percent, plural } from "/static/researcher/words.js";

/** @type {Record<string, string>} */
const WORDS = {
  "error-rate": "Error rate, real and generated images alike",
  "fake-error-rate": "Proportion of generated images taken for real",
  "real-error-rate": "Proportion of real images taken for generated",
  "bradley-terry": "Strength in pairs (Bradley–Terry)",
  "win-rate": "Win rate against the other generators",
  "mean-opinion": "Mean opinion",
  "mean-preference": "Mean preference, from −2 to 2",
  "pass-rate": "Images passed over in a series",
  "option-share": "Answers that name an option that counts",
  "plackett-luce": "Strength in rankings (Plackett–Luce)",
  "d-prime": "Discrimination of generated from real images (d′)",
  "modal-exposure": "Modal exposure of the staircases, in ms",
  "exposure-threshold": "Exposure threshold by maximum likelihood, in ms",
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
    h("p", { class: "note" }, h("strong", {}, "Look as often as you like. "), reply.note),
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
  const label = `${board.question}, ${board.aspect}: ${WORDS[board.method] ?? board.method}, with ${percent(level)} confidence intervals`;
  tools.onWidth(figure, (width) => figure.replaceChildren(intervalPlot(board.rows, width, label)));
  return h("section", { class: "card" },
    h("div", { class: "card__title" },
      h("h2", {}, board.question, " ", h("span", { class: "chip" }, board.aspect)),
      h("p", { class: "quiet" }, WORDS[board.method] ?? board.method, board.ties ? ` · ties: ${board.ties}` : "")),
    board.anytime ? h("p", {}, verdict(board)) : h("p", { class: "note" }, h("strong", {}, "Not for stopping. "), board.note),
    h("div", { class: "results" }, figure, h("div", { class: "table-wrap", role: "region", "aria-label": `Table: ${label}`, tabindex: 0 }, table(board, level))));
}

/** How many pairs the sequential test separates, in words. @param {import("./types").Board} board */
function verdict(board) {
  const pairs = (board.rows.length * (board.rows.length - 1)) / 2;
  const separated = board.rows.reduce((total, row) => total + row.separated_from.length, 0) / 2;
  const raters = plural(Math.max(...board.rows.map((row) => row.raters)), "rater");
  if (!pairs) return `${raters} finished.`;
  if (separated === pairs) return `${pairs === 1 ? "The two generators are" : `All ${count(pairs)} pairs are`} separated after ${raters}.`;
  if (!separated) return `${pairs === 1 ? "The two generators are not separated" : `None of ${count(pairs)} pairs is separated`} after ${raters}: not enough evidence yet.`;
  return `${count(separated)} of ${count(pairs)} pairs are separated after ${raters}; for the others there is not enough evidence yet.`;
}

/** @param {import("./types").Board} board @param {number} level */
function table(board, level) {
  const words = board.anytime ? ["Rank", "Separated from"] : [];
  const heads = ["Generator", "Rating", `${percent(level)} CI`, ...words, "Answers", "Raters"];
  const text = new Set(["Generator", "Separated from"]);
  return h("table", { class: "stack" },
    h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col", class: text.has(head) ? null : "number" }, head)))),
    h("tbody", {}, board.rows.map((row) => h("tr", {}, h("th", { scope: "row" }, row.generator), cells(board, row).map((cell, position) => {
      const head = heads[position + 1];
      return h("td", { class: text.has(head) ? null : "number", "data-label": head }, cell);
    })))));
}

/** What follows the name of a generator. @param {import("./types").Board} board @param {import("./types").BoardRow} row */
function cells(board, row) {
  const interval = row.low === null ? "–" : `${decimal(row.low, 3)} to ${decimal(row.high, 3)}`;
  const rank = row.rank_low === row.rank_high ? `${row.rank_low}` : `${row.rank_low}–${row.rank_high}`;
  const standing = board.anytime ? [rank, others(row, board.rows.length)] : [];
  return [decimal(row.rating, 3), interval, ...standing, count(row.answers), count(row.raters)];
}

/** @param {import("./types").BoardRow} row @param {number} generators */
function others(row, generators) {
  if (!row.separated_from.length) return "none yet";
  return row.separated_from.length === generators - 1 && generators > 2 ? "all others" : row.separated_from.join(", ");
}
