// Raters over sessions: accuracy with its interval, drift alarms, speed, reputation, and how much gold comes next.

import { h } from "/static/dom.js";
import { fact, spread } from "/static/panel/researcher/parts.js";
import { get, post } from "/static/researcher/api.js";
import { ask } from "/static/researcher/dialog.js";
import { count, decimal, moment, percent, plural } from "/static/researcher/words.js";

const filter = { researcher: "" };

/** @param {any} panel @param {import("./app.js").Tools} tools */
export async function raters(panel, tools) {
  const names = /** @type {string[]} */ ([...new Set(panel.studies.map((/** @type {any} */ study) => study.researcher))]);
  if (!names.includes(filter.researcher)) filter.researcher = names[0] ?? "";
  const { rows } = await get(`/results/raters?researcher=${encodeURIComponent(filter.researcher)}`);
  const choose = h("select", { id: "researcher", onchange: () => { filter.researcher = choose.value; tools.redraw(); } },
    names.map((name) => h("option", { value: name, selected: name === filter.researcher }, name)));
  const alarms = rows.filter(hasAlarm);
  return [
    h("section", { class: "card", "aria-label": "All raters" },
      h("div", { class: "filters" }, h("div", { class: "field" }, h("label", { for: "researcher" }, "Reputation with"), choose)),
      h("dl", { class: "facts" }, fact("Raters", count(rows.length)), fact("Drift alarms", count(alarms.length)),
        fact("Gold trials next, on average", rows.length ? percent(rows.reduce((/** @type {number} */ sum, /** @type {any} */ row) => sum + row.gold_rate, 0) / rows.length) : "–")),
      h("p", { class: "quiet small" }, "Accuracy is on gold and qualification trials, with 95 % confidence intervals. An alarm is a CUSUM that found a drop of .15; without a change it comes within 200 gold trials in at most 5 %. Raters never see these lists.")),
    ...[...alarms, ...rows.filter((/** @type {any} */ row) => !hasAlarm(row))].map((row) => card(row, panel, tools)),
  ];
}

/** @param {any} row */
function hasAlarm(row) {
  return row.drift !== null && row.drift.alarm !== null;
}

/** @param {any} row @param {any} panel @param {import("./app.js").Tools} tools */
function card(row, panel, tools) {
  const heading = `rater-${row.rater}`;
  return h("section", { class: "card", "aria-labelledby": heading },
    h("div", { class: "card__head" },
      h("div", { class: "card__title" }, h("h2", { id: heading, class: "mono" }, row.rater),
        h("div", { class: "chips" },
          hasAlarm(row) && h("span", { class: "chip chip--flag" }, `drift since gold trial ${row.drift.change + 1} after the baseline`),
          row.opted_out && h("span", { class: "chip" }, "opted out"), row.simulated && h("span", { class: "chip" }, "simulated"))),
      panel.you.may_change && row.sessions.length > 0 && h("button", { type: "button", class: "button button--small", onclick: () => rate(row, tools) }, "Rate…")),
    h("dl", { class: "facts" },
      fact("Studies", count(row.studies)), fact("Trials", count(row.trials)),
      fact("Seconds a trial", decimal(row.seconds_per_trial, 1)),
      fact("Earned an hour", (row.hourly / 100).toFixed(2)),
      fact("Score", decimal(row.reputation)),
      fact("Gold next", percent(row.gold_rate))),
    h("div", { class: "spread" }, spread("All sessions", row.accuracy), row.predicted && spread("Next 100 trials", row.predicted)),
    row.sessions.length > 0 && h("details", {}, h("summary", {}, plural(row.sessions.length, "session")),
      h("div", { class: "spread" }, row.sessions.map((/** @type {any} */ session) =>
        spread(session.study, session.accuracy, ` · ${moment(session.started)}${session.seconds_per_trial === null ? "" : ` · ${decimal(session.seconds_per_trial, 1)} s a trial`}${session.excluded === null ? "" : " · excluded"}`)))));
}

/** @param {any} row @param {import("./app.js").Tools} tools */
async function rate(row, tools) {
  const study = row.sessions.at(-1).study;
  const options = [["3", "First: as soon as it opens"], ["2", "Second: five minutes later"], ["1", "Last: after everybody else"]];
  const form = await ask({
    title: `When should ${row.rater} see your next study?`,
    text: "This is all that a rating does. Whoever rates everybody alike gains nothing by it.",
    fields: [h("div", { class: "field" }, h("label", { for: "dialog-rating" }, "The rater sees it"),
      h("select", { id: "dialog-rating", name: "rating" }, options.map(([value, words]) => h("option", { value, selected: value === "2" }, words))))],
    action: "Rate",
  });
  if (form) await tools.act(async () => { await post("/rate", { study, rater: row.rater, rating: Number(form.rating) }); return "Rated."; });
}
