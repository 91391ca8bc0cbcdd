// Raters over sessions: accuracy with its interval, drift alarms, speed, reputation, and how much gold comes next.

import { h } from "/static/dom.js";
import { fact, spread } from "/static/panel/researcher/parts.js";
import { get, post } from "/static/researcher/api.js";
import { ask } from "/static/researcher/dialog.js";
import { t } from "/static/researcher/language.js";
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
    h("section", { class: "card", "aria-label": t("panel.raters.label") },
      h("div", { class: "filters" }, h("div", { class: "field" }, h("label", { for: "researcher" }, t("panel.raters.with")), choose)),
      h("dl", { class: "facts" }, fact(t("overview.raters"), count(rows.length)), fact(t("panel.raters.alarms"), count(alarms.length)),
        fact(t("panel.raters.gold"), rows.length ? percent(rows.reduce((/** @type {number} */ sum, /** @type {any} */ row) => sum + row.gold_rate, 0) / rows.length) : "–")),
      h("p", { class: "quiet small" }, t("panel.raters.about"))),
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
          hasAlarm(row) && h("span", { class: "chip chip--flag" }, t("panel.raters.drift", { trial: row.drift.change + 1 })),
          row.opted_out && h("span", { class: "chip" }, t("panel.raters.opted-out")), row.simulated && h("span", { class: "chip" }, t("platform.simulated")))),
      panel.you.may_change && row.sessions.length > 0 && h("button", { type: "button", class: "button button--small", onclick: () => rate(row, tools) }, t("rate.open"))),
    h("dl", { class: "facts" },
      fact(t("panel.part.overview"), count(row.studies)), fact(t("column.trials"), count(row.trials)),
      fact(t("panel.raters.seconds"), decimal(row.seconds_per_trial, 1)),
      fact(t("panel.raters.hourly"), decimal(row.hourly / 100)),
      fact(t("panel.raters.score"), decimal(row.reputation)),
      fact(t("panel.raters.gold-next"), percent(row.gold_rate))),
    h("div", { class: "spread" }, spread(t("panel.raters.all"), row.accuracy), row.predicted && spread(t("panel.raters.next"), row.predicted)),
    row.sessions.length > 0 && h("details", {}, h("summary", {}, plural(row.sessions.length, "session")),
      h("div", { class: "spread" }, row.sessions.map((/** @type {any} */ session) =>
        spread(session.study, session.accuracy, notes(session))))));
}

/** What is said of a session after its accuracy. @param {any} session */
function notes(session) {
  const pace = session.seconds_per_trial === null ? null : t("panel.raters.pace", { seconds: decimal(session.seconds_per_trial, 1) });
  return ["", moment(session.started), pace, session.excluded === null ? null : t("panel.raters.excluded")].filter((part) => part !== null).join(" · ");
}

/** @param {any} row @param {import("./app.js").Tools} tools */
async function rate(row, tools) {
  const study = row.sessions.at(-1).study;
  const form = await ask({
    title: t("rate.title", { rater: row.rater }),
    text: t("rate.text"),
    fields: [h("div", { class: "field" }, h("label", { for: "dialog-rating" }, t("rate.label")),
      h("select", { id: "dialog-rating", name: "rating" }, ["3", "2", "1"].map((value) => h("option", { value, selected: value === "2" }, t(`rate.${value}`)))))],
    action: t("rate"),
  });
  if (form) await tools.act(async () => { await post("/rate", { study, rater: row.rater, rating: Number(form.rating) }); return t("rate.done"); });
}
