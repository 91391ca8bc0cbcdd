// The leaderboard now, as a table and as a plot: confidence sequences, which stay valid under continuous looking.

import { h } from "/static/dom.js";
import { get } from "/static/researcher/api.js";
import { named, sentence, t } from "/static/researcher/language.js";
import { intervalPlot } from "/static/researcher/plot.js";
import { count, decimal, percent, plural } from "/static/researcher/words.js";

/** @param {import("./types").Study} study @param {import("./app.js").Tools} tools */
export async function results(study, tools) {
  const container = h("div", { class: "card" }, h("p", { role: "status" }, t("results.waiting")));
  get("/results").then(
    (reply) => container.replaceWith(...boards(reply, tools)),
    (error) => container.replaceChildren(h("p", { class: "alert", role: "alert" }, error.message)),
  );
  return [container];
}

/** @param {import("./types").Results} reply @param {import("./app.js").Tools} tools */
function boards(reply, tools) {
  return [
    h("p", { class: "note" }, h("strong", {}, t("results.look")), " ", sentence(reply.note)),
    ...reply.boards.map((board) => section(board, reply.level, tools)),
    h("p", { class: "quiet small" }, t("results.about", { responses: count(reply.responses), level: percent(reply.level) })),
  ];
}

/** @param {import("./types").Board} board @param {number} level @param {import("./app.js").Tools} tools */
function section(board, level, tools) {
  if (!board.rows.length) {
    return h("section", { class: "card" }, h("h2", {}, board.question), h("p", { class: "note" }, sentence(board.why)));
  }
  const figure = h("figure", { class: "figure" });
  const label = t("results.label", { question: board.question, aspect: board.aspect, method: named("method", board.method), level: percent(level) });
  tools.onWidth(figure, (width) => figure.replaceChildren(intervalPlot(board.rows, width, label)));
  return h("section", { class: "card" },
    h("div", { class: "card__title" },
      h("h2", {}, board.question, " ", h("span", { class: "chip" }, board.aspect)),
      h("p", { class: "quiet" }, named("method", board.method), board.ties ? ` · ${t("results.ties", { rule: sentence(board.ties) })}` : "")),
    board.anytime ? h("p", {}, verdict(board)) : h("p", { class: "note" }, h("strong", {}, t("results.fixed")), " ", sentence(board.note)),
    h("div", { class: "results" }, figure, h("div", { class: "table-wrap", role: "region", "aria-label": t("results.table", { label }), tabindex: 0 }, table(board, level))));
}

/** How many pairs the sequential test separates, in words. @param {import("./types").Board} board */
function verdict(board) {
  const pairs = (board.rows.length * (board.rows.length - 1)) / 2;
  const separated = board.rows.reduce((total, row) => total + row.separated_from.length, 0) / 2;
  const raters = plural(Math.max(...board.rows.map((row) => row.raters)), "rater");
  const verdict = !pairs ? "finished" : separated === pairs ? "all" : separated ? "some" : "none";
  return t(`results.verdict.${verdict}${pairs === 1 ? ".two" : ""}`, { raters, pairs: count(pairs), separated: count(separated) });
}

/** @param {import("./types").Board} board @param {number} level */
function table(board, level) {
  const names = ["generator", "rating", "interval", ...(board.anytime ? ["rank", "separated"] : []), "answers", "raters"];
  const columns = names.map((name) => ({ head: t(`results.column.${name}`, { level: percent(level) }), kind: ["generator", "separated"].includes(name) ? null : "number" }));
  return h("table", { class: "stack" },
    h("thead", {}, h("tr", {}, columns.map(({ head, kind }) => h("th", { scope: "col", class: kind }, head)))),
    h("tbody", {}, board.rows.map((row) => h("tr", {}, h("th", { scope: "row" }, row.generator), cells(board, row).map((cell, position) => {
      const { head, kind } = columns[position + 1];
      return h("td", { class: kind, "data-label": head }, cell);
    })))));
}

/** What follows the name of a generator. @param {import("./types").Board} board @param {import("./types").BoardRow} row */
function cells(board, row) {
  const interval = row.low === null ? "–" : t("range", { low: decimal(row.low, 3), high: decimal(row.high, 3) });
  const rank = row.rank_low === row.rank_high ? `${row.rank_low}` : `${row.rank_low}–${row.rank_high}`;
  const standing = board.anytime ? [rank, others(row, board.rows.length)] : [];
  return [decimal(row.rating, 3), interval, ...standing, count(row.answers), count(row.raters)];
}

/** @param {import("./types").BoardRow} row @param {number} generators */
function others(row, generators) {
  if (!row.separated_from.length) return t("none-yet");
  return row.separated_from.length === generators - 1 && generators > 2 ? t("results.all-others") : row.separated_from.join(", ");
}
