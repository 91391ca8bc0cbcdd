// Conduct of raters, one row per session; excluding raters and ending sessions.

import { h } from "/static/dom.js";
import { get, post } from "/static/researcher/api.js";
import { ask, reasonField } from "/static/researcher/dialog.js";
import { named, t } from "/static/researcher/language.js";
import { count, decimal, money, moment, outOf, percent, plural } from "/static/researcher/words.js";

const PAGE = 50;
const filter = { question: "", code: "", flagged: false, offset: 0 };

/** @param {import("./types").Study} study @param {import("./app.js").Tools} tools */
export async function raters(study, tools) {
  const page = /** @type {import("./types").SessionPage} */ (await get(`/raters?offset=${filter.offset}&limit=${PAGE}&question=${encodeURIComponent(filter.question)}`
    + (filter.code ? `&code=${encodeURIComponent(filter.code)}` : "")));
  const rows = page.rows.filter((row) => !filter.flagged || row.flags.length);
  return [h("section", { class: "card", "aria-label": t("part.raters") },
    filters(study, tools),
    rows.length ? table(rows, study, tools) : h("p", { class: "quiet" }, noRows(page)),
    pages(page, tools),
    h("p", { class: "quiet small" }, t("raters.about", { wage: money(study.study.minimum_hourly, study.study.currency) })))];
}

/** @param {import("./types").SessionPage} page */
function noRows(page) {
  if (filter.code) return t("raters.no-code", { code: filter.code });
  return t(page.total ? "raters.no-match" : "raters.none");
}

/** @param {import("./types").Study} study @param {import("./app.js").Tools} tools */
function filters(study, tools) {
  const choose = h("select", { id: "filter-question", onchange: () => { Object.assign(filter, { question: choose.value, offset: 0 }); tools.redraw(); } },
    ["", ...study.questions.map((question) => question.question)].map((name) =>
      h("option", { value: name, selected: name === filter.question }, name || t("raters.all-questions"))));
  const flagged = h("input", { id: "filter-flagged", type: "checkbox", checked: filter.flagged,
    onchange: () => { filter.flagged = flagged.checked; tools.redraw(); } });
  const code = h("input", { id: "filter-code", type: "search", maxlength: 64, autocomplete: "off", value: filter.code,
    onchange: () => { Object.assign(filter, { code: code.value.trim(), offset: 0 }); tools.redraw(); } });
  return h("div", { class: "filters" },
    h("div", { class: "field" }, h("label", { for: "filter-code" }, t("raters.code")), code),
    h("div", { class: "field" }, h("label", { for: "filter-question" }, t("raters.question")), choose),
    h("div", { class: "inline" }, flagged, h("label", { for: "filter-flagged" }, t("raters.flagged"))));
}

const COLUMNS = ["rater", "status", "answers", "median", "same", "checks", "skipped", "spoiled", "screen", "pay", "hourly"];
const TEXT = new Set(["rater", "status"]);

/** @param {import("./types").Session[]} rows @param {import("./types").Study} study @param {import("./app.js").Tools} tools */
function table(rows, study, tools) {
  return h("div", { class: "table-wrap", role: "region", "aria-label": t("raters.sessions"), tabindex: 0 }, h("table", { class: "stack" },
    h("thead", {}, h("tr", {},
      COLUMNS.map((name) => h("th", { scope: "col", class: TEXT.has(name) ? null : "number" }, t(`raters.column.${name}`))),
      study.you.may_change && h("th", { scope: "col", class: "actions" }, t("raters.column.action")))),
    h("tbody", {}, rows.map((row) => line(row, study, tools)))));
}

/** @param {import("./types").Session} row @param {import("./types").Study} study @param {import("./app.js").Tools} tools */
function line(row, study, tools) {
  const currency = study.study.currency;
  const values = [
    row.planned ? outOf(count(row.answers), count(row.planned)) : count(row.answers),
    row.median_seconds === null ? "–" : `${decimal(row.median_seconds)} s`,
    percent(row.same_share),
    checks(row),
    count(row.skips) + (row.skips && row.skipped !== null ? ` (${percent(row.skipped)})` : ""),
    count(row.spoiled),
    row.frame_hz === null ? "–" : `${Math.round(row.frame_hz)} Hz`,
    money(row.pay, currency),
    money(row.hourly, currency),
  ];
  return h("tr", { class: row.excluded ? "out" : null },
    h("td", { class: "lead" }, h("div", {},
      h("span", { class: "mono" }, row.rater), h("div", { class: "quiet small" }, 
        [row.question, named("platform", row.platform), row.simulated && row.platform !== "simulated" && t("platform.simulated"), moment(row.started)].filter(Boolean).join(" · ")),
      row.code && h("div", { class: "quiet small" }, t("raters.ended-with"), " ", h("span", { class: "mono" }, row.code)),
      row.flags.length || row.excluded || row.other_device ? h("div", { class: "chips" },
        row.other_device && h("span", { class: "chip" }, t("raters.other-device")),
        row.excluded && h("span", { class: "chip chip--long" }, t("raters.excluded", { reason: row.reason ?? "" })),
        row.flags.map((flag) => h("span", { class: "chip chip--flag" }, named("flag", flag)))) : null)),
    h("td", { "data-label": t("raters.column.status") }, named("session", row.status)),
    values.map((value, position) => h("td", { class: "number", "data-label": t(`raters.column.${COLUMNS[position + 2]}`) }, value)),
    study.you.may_change && h("td", { class: "actions" }, h("div", { class: "buttons" },
      row.status === "running" && h("button", { type: "button", class: "button button--small", onclick: () => close(row, tools) }, t("close.open")),
      row.excluded
        ? h("button", { type: "button", class: "button button--small", onclick: () => include(row, tools) }, t("include.open"))
        : h("button", { type: "button", class: "button button--small button--bad", onclick: () => exclude(row, tools) }, t("exclude.open")))));
}

/** @param {import("./types").Session} row */
function checks(row) {
  const parts = [["gold", row.gold_share], ["attention", row.attention_share], ["qualification", row.qualification_share]];
  const available = parts.filter(([, rate]) => rate !== null);
  return available.length ? available.map(([name, rate]) => h("div", {}, `${t(`check.${name}`)} ${percent(/** @type {number} */ (rate))}`)) : "–";
}

/** @param {import("./types").SessionPage} page @param {import("./app.js").Tools} tools */
function pages(page, tools) {
  const last = Math.min(page.offset + PAGE, page.total);
  const turn = (/** @type {number} */ step) => { filter.offset = Math.max(0, filter.offset + step * PAGE); tools.redraw(); };
  return h("div", { class: "pages" },
    h("p", { class: "quiet small" }, page.total ? t("raters.page", { first: count(page.offset + 1), last: count(last), total: count(page.total) }) : ""),
    page.total > PAGE && h("div", { class: "buttons" },
      h("button", { type: "button", class: "button button--small", disabled: page.offset === 0, onclick: () => turn(-1) }, t("raters.later")),
      h("button", { type: "button", class: "button button--small", disabled: last >= page.total, onclick: () => turn(1) }, t("raters.earlier"))));
}

/** @param {import("./types").Session} row @param {import("./app.js").Tools} tools */
async function exclude(row, tools) {
  const form = await ask({
    title: t("exclude.title", { rater: row.rater }),
    text: t("exclude.text"),
    fields: [reasonField(true)],
    action: t("exclude.action"),
    bad: true,
  });
  if (!form) return;
  await tools.act(async () => {
    const done = await post("/exclude", { rater: row.rater, reason: form.reason });
    return t("exclude.done", { rater: row.rater, slots: plural(done.opened, "slot") });
  });
}

/** @param {import("./types").Session} row @param {import("./app.js").Tools} tools */
async function include(row, tools) {
  const form = await ask({ title: t("include.title", { rater: row.rater }), text: t("include.text"), fields: [reasonField(true)], action: t("include.action") });
  if (!form) return;
  await tools.act(async () => {
    await post("/include", { rater: row.rater, reason: form.reason });
    return t("include.done", { rater: row.rater });
  });
}

/** @param {import("./types").Session} row @param {import("./app.js").Tools} tools */
async function close(row, tools) {
  const form = await ask({
    title: t("close.title", { rater: row.rater }),
    text: t("close.text"),
    fields: [reasonField(false)],
    action: t("close.action"),
    bad: true,
  });
  if (!form) return;
  await tools.act(async () => {
    await post("/close", { session: row.session, reason: form.reason });
    return t("close.done");
  });
}
