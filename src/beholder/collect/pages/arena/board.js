// The board of an arena: intervals that hold at any time, ratings with and without style, history, one's own votes.

import { Api } from "/static/api.js";
import { h, show, svg } from "/static/dom.js";
import { Notice } from "/static/notice.js";
import { loadTexts, preferredLanguage } from "/static/texts.js";
import { pause } from "/static/waiting.js";

const RENEW_MS = 5000;

async function start() {
  const container = /** @type {HTMLElement} */ (document.getElementById("app"));
  const notice = new Notice(/** @type {HTMLElement} */ (document.getElementById("notice")));
  const api = new Api(notice);
  const texts = await loadTexts(api, preferredLanguage(["en", "de"]));
  document.documentElement.lang = texts.language;
  notice.t = texts.t;
  let known = -1;
  for (;;) {
    const board = await api.get("/api/board");
    if (board.known !== known) {
      const own = await fetch("/api/own").then((reply) => (reply.ok ? reply.json() : null), () => null);
      if (known < 0) show(container, page(board, own, texts.t));
      else container.replaceChildren(page(board, own, texts.t));
      known = board.known;
    }
    await pause(RENEW_MS);
  }
}

/** @param {any} board @param {any} own @param {import("../texts.js").Translate} t */
function page(board, own, t) {
  const rows = [...board.entries].sort((a, b) => Number(a.retired !== null) - Number(b.retired !== null) || (b.rate ?? b.weighted ?? -1) - (a.rate ?? a.weighted ?? -1));
  return h("main", { class: "board" },
    h("p", { class: "page__study" }, board.title),
    h("h1", {}, t("arena.board")),
    h("p", { class: "lead" }, t("arena.counts", { votes: board.votes, voters: board.voters })),
    h("p", {}, t("arena.anytime")),
    h("div", { class: "board__scroll", tabindex: 0, role: "region", "aria-label": t("arena.board") }, table(rows, t)),
    h("p", { class: "quiet" }, t("arena.columns", { even: Math.round(100 * board.even) })),
    ownPart(own, t),
    history(board, t),
    h("p", {}, h("a", { href: "/" }, t("arena.back"))));
}

/** @param {any[]} rows @param {import("../texts.js").Translate} t */
function table(rows, t) {
  const heads = ["arena.entry", "arena.rate", "arena.interval", "arena.rating", "arena.styled", "arena.better", "arena.exposure", "arena.of-votes"];
  return h("table", {},
    h("thead", {}, h("tr", {}, heads.map((key) => h("th", { scope: "col" }, t(key))))),
    h("tbody", {}, rows.map((row) => h("tr", { "data-retired": String(row.retired !== null) },
      h("td", {}, row.entry, row.retired !== null && ` (${t("arena.retired")})`),
      h("td", {}, percent(row.rate)),
      h("td", {}, plot(row), h("span", { class: "quiet" }, `${percent(row.low)} – ${percent(row.high)}`)),
      h("td", {}, plusMinus(row.rating, row.rating_error)),
      h("td", {}, plusMinus(row.styled, row.styled_error)),
      h("td", {}, row.better_than.join(", ") || "–"),
      h("td", {}, percent(row.exposure / 2)),
      h("td", {}, row.votes)))));
}

/** @param {any} row */
function plot(row) {
  const x = (/** @type {number} */ value) => 4 + 142 * value;
  return svg("svg", { class: "board__plot", viewBox: "0 0 150 18", "aria-hidden": "true" },
    svg("rect", { x: 4, y: 8, width: 142, height: 2 }),
    svg("line", { class: "board__half", x1: x(0.5), x2: x(0.5), y1: 1, y2: 17 }),
    svg("line", { class: "board__reach", x1: x(row.low), x2: x(row.high), y1: 9, y2: 9 }),
    row.rate !== null && svg("circle", { class: "board__dot", cx: x(row.rate), cy: 9, r: 5 }));
}

/** @param {any} own @param {import("../texts.js").Translate} t */
function ownPart(own, t) {
  if (!own) return null;
  return h("section", { class: "card" }, h("h2", {}, t("arena.own")),
    own.entries === null
      ? h("p", {}, t("arena.own.wait", { needed: own.needed, votes: own.votes }))
      : h("ol", {}, own.entries.map((/** @type {any} */ row) => h("li", {}, t("arena.own.row", { entry: row.entry, rate: percent(row.rate), votes: row.votes })))));
}

/** Every entry that came and went. @param {any} board @param {import("../texts.js").Translate} t */
function history(board, t) {
  const lines = board.log.map((/** @type {any} */ event) => h("li", {},
    new Date(1000 * event.at).toISOString().slice(0, 10), " ",
    event.kind === "retired" ? t("arena.log.retired", { entry: event.entry, reason: event.reason }) : t("arena.log.entered", { entry: event.entry })));
  return h("section", { class: "card" }, h("h2", {}, t("arena.log")), h("p", {}, t("arena.variants", { number: board.entries.length })), h("ul", {}, lines));
}

/** @param {number | null} value */
function percent(value) {
  return value === null ? "–" : `${Math.round(100 * value)} %`;
}

/** @param {number | null} value @param {number | null} error */
function plusMinus(value, error) {
  if (value === null || error === null) return "–";
  const sign = value < 0 ? "−" : "+";
  return `${sign}${Math.abs(value).toFixed(2)} ± ${(1.96 * error).toFixed(2)}`;
}

start();
