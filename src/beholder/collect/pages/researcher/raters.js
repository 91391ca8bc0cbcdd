// Conduct of raters, one row per session; excluding raters and ending sessions.

import { h } from "/static/dom.js";
import { get, post } from "/static/researcher/api.js";
import { ask, reasonField } from "/static/researcher/dialog.js";
import { count, decimal, money, moment, percent, plural } from "/static/researcher/words.js";

const PAGE = 50;
const filter = { question: "", code: "", flagged: false, offset: 0 };

/** @param {import("./types").Study} study @param {import("./app.js").Tools} tools */
export async function raters(study, tools) {
  const page = /** @type {import("./types").SessionPage} */ (await get(`/raters?offset=${filter.offset}&limit=${PAGE}&question=${encodeURIComponent(filter.question)}`
    + (filter.code ? `&code=${encodeURIComponent(filter.code)}` : "")));
  const rows = page.rows.filter((row) => !filter.flagged || row.flags.length);
  return [h("section", { class: "card", "aria-label": "Raters" },
    filters(study, tools),
    rows.length ? table(rows, study, tools) : h("p", { class: "quiet" }, noRows(page)),
    pages(page, tools),
    h("p", { class: "quiet small" }, "Active time is the sum of the gaps between answers, each counted as 60 s at most. "
      + `Flags follow the screening rules of the study and its minimum wage of ${money(study.study.minimum_hourly, study.study.currency)} per hour.`))];
}

/** @param {import("./types").SessionPage} page */
function noRows(page) {
  if (filter.code) return `No session has ended with the code ${filter.code}.`;
  return page.total ? "No session matches." : "No rater has entered yet.";
}

/** @param {import("./types").Study} study @param {import("./app.js").Tools} tools */
function filters(study, tools) {
  const choose = h("select", { id: "filter-question", onchange: () => { Object.assign(filter, { question: choose.value, offset: 0 }); tools.redraw(); } },
    ["", ...study.questions.map((question) => question.question)].map((name) =>
      h("option", { value: name, selected: name === filter.question }, name || "All questions")));
  const flagged = h("input", { id: "filter-flagged", type: "checkbox", checked: filter.flagged,
    onchange: () => { filter.flagged = flagged.checked; tools.redraw(); } });
  const code = h("input", { id: "filter-code", type: "search", maxlength: 64, autocomplete: "off", value: filter.code,
    onchange: () => { Object.assign(filter, { code: code.value.trim(), offset: 0 }); tools.redraw(); } });
  return h("div", { class: "filters" },
    h("div", { class: "field" }, h("label", { for: "filter-code" }, "Personal code"), code),
    h("div", { class: "field" }, h("label", { for: "filter-question" }, "Question"), choose),
    h("div", { class: "inline" }, flagged, h("label", { for: "filter-flagged" }, "Flagged only (this page)")));
}

const ACTION = "Action";

/** @param {import("./types").Session[]} rows @param {import("./types").Study} study @param {import("./app.js").Tools} tools */
function table(rows, study, tools) {
  const heads = ["Rater", "Status", "Answers", "Median time", "Same answer", "Checks right", "Skipped", "Spoiled", "Screen", "Pay", "Pay per hour", ...(study.you.may_change ? [ACTION] : [])];
  const numbers = new Set([2, 3, 4, 5, 6, 7, 8, 9, 10]);
  return h("div", { class: "table-wrap", role: "region", "aria-label": "Sessions", tabindex: 0 }, h("table", { class: "stack" },
    h("thead", {}, h("tr", {}, heads.map((head, position) => h("th", { scope: "col", class: numbers.has(position) ? "number" : head === ACTION ? "actions" : null }, head)))),
    h("tbody", {}, rows.map((row) => line(row, study, tools, heads)))));
}

/** @param {import("./types").Session} row @param {import("./types").Study} study @param {import("./app.js").Tools} tools @param {string[]} heads */
function line(row, study, tools, heads) {
  const currency = study.study.currency;
  const values = [
    count(row.answers) + (row.planned ? ` of ${count(row.planned)}` : ""),
    row.median_seconds === null ? "–" : `${decimal(row.median_seconds)} s`,
    percent(row.same_share),
    checks(row),
    row.skips ? `${count(row.skips)}${row.skipped === null ? "" : ` (${percent(row.skipped)})`}` : count(0),
    count(row.spoiled),
    row.frame_hz === null ? "–" : `${Math.round(row.frame_hz)} Hz`,
    money(row.pay, currency),
    money(row.hourly, currency),
  ];
  return h("tr", { class: row.excluded ? "out" : null },
    h("td", { class: "lead" }, h("div", {},
      h("span", { class: "mono" }, row.rater), h("div", { class: "quiet small" }, `${row.question} · ${row.platform}${row.simulated && row.platform !== "simulated" ? " · simulated" : ""} · ${moment(row.started)}`),
      row.code && h("div", { class: "quiet small" }, "code ", h("span", { class: "mono" }, row.code)),
      row.flags.length || row.excluded || row.other_device ? h("div", { class: "chips" },
        row.other_device && h("span", { class: "chip" }, "unproven id on another device"),
        row.excluded && h("span", { class: "chip chip--long" }, `excluded: ${row.reason}`),
        row.flags.map((flag) => h("span", { class: "chip chip--flag" }, flag))) : null)),
    h("td", { "data-label": "Status" }, row.status),
    values.map((value, position) => h("td", { class: "number", "data-label": heads[position + 2] }, value)),
    study.you.may_change && h("td", { class: "actions" }, h("div", { class: "buttons" },
      row.status === "running" && h("button", { type: "button", class: "button button--small", onclick: () => close(row, tools) }, "End session…"),
      row.excluded
        ? h("button", { type: "button", class: "button button--small", onclick: () => include(row, tools) }, "Include again…")
        : h("button", { type: "button", class: "button button--small button--bad", onclick: () => exclude(row, tools) }, "Exclude…"))));
}

/** @param {import("./types").Session} row */
function checks(row) {
  const parts = [["gold", row.gold_share], ["attention", row.attention_share], ["entry", row.qualification_share]];
  const available = parts.filter(([, rate]) => rate !== null);
  return available.length ? available.map(([name, rate]) => h("div", {}, `${name} ${percent(/** @type {number} */ (rate))}`)) : "–";
}

/** @param {import("./types").SessionPage} page @param {import("./app.js").Tools} tools */
function pages(page, tools) {
  const last = Math.min(page.offset + PAGE, page.total);
  const turn = (/** @type {number} */ step) => { filter.offset = Math.max(0, filter.offset + step * PAGE); tools.redraw(); };
  return h("div", { class: "pages" },
    h("p", { class: "quiet small" }, page.total ? `Sessions ${count(page.offset + 1)} to ${count(last)} of ${count(page.total)}, the latest first` : ""),
    page.total > PAGE && h("div", { class: "buttons" },
      h("button", { type: "button", class: "button button--small", disabled: page.offset === 0, onclick: () => turn(-1) }, "Later"),
      h("button", { type: "button", class: "button button--small", disabled: last >= page.total, onclick: () => turn(1) }, "Earlier")));
}

/** @param {import("./types").Session} row @param {import("./app.js").Tools} tools */
async function exclude(row, tools) {
  const form = await ask({
    title: `Exclude ${row.rater}?`,
    text: "Their answers stay in the database but count nowhere; their trials go to other raters. "
      + "A running session ends and is paid for the part that was done. Excluding a rater is no reason not to pay them.",
    fields: [reasonField(true)],
    action: "Exclude",
    bad: true,
  });
  if (!form) return;
  await tools.act(async () => {
    const done = await post("/exclude", { rater: row.rater, reason: form.reason });
    return `${row.rater} is excluded; ${plural(done.opened, "slot")} open again.`;
  });
}

/** @param {import("./types").Session} row @param {import("./app.js").Tools} tools */
async function include(row, tools) {
  const form = await ask({ title: `Include ${row.rater} again?`, text: "Their answers count again.", fields: [reasonField(true)], action: "Include" });
  if (!form) return;
  await tools.act(async () => {
    await post("/include", { rater: row.rater, reason: form.reason });
    return `${row.rater} is included again.`;
  });
}

/** @param {import("./types").Session} row @param {import("./app.js").Tools} tools */
async function close(row, tools) {
  const form = await ask({
    title: `End the session of ${row.rater}?`,
    text: "Their answers count and are paid; another rater takes over the slot.",
    fields: [reasonField(false)],
    action: "End session",
    bad: true,
  });
  if (!form) return;
  await tools.act(async () => {
    await post("/close", { session: row.session, reason: form.reason });
    return "The session has ended.";
  });
}
