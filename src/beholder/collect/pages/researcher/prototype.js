// A prototype round: the votes, the feedback beside the trials it concerns, and revised texts side by side.

import { h } from "/static/dom.js";
import { base, get } from "/static/researcher/api.js";
import { named, sentence, t } from "/static/researcher/language.js";
import { count, decimal, outOf, percent, plural } from "/static/researcher/words.js";

export async function prototype() {
  const round = await get("/prototype");
  return [verdict(round), feedback(round), trials(round), changes(round)].filter((part) => part !== null);
}

/** @param {any} round */
function verdict(round) {
  const mean = (/** @type {string} */ name) => average(round.feedback.map((/** @type {any} */ row) => row[name]));
  const taken = mean("minutes");
  const hourly = taken && round.pay ? decimal((round.pay / taken) * 60) : "–";
  const missing = round.feedback.filter((/** @type {any} */ row) => row.examples).length;
  return h("section", { class: "card", "aria-labelledby": "round" },
    h("h2", { id: "round" }, t("round.title", { round: round.round })),
    h("p", { class: "verdict", "data-decision": round.decision }, h("strong", {}, named("round.decision", round.decision)),
      ` ${t("round.votes", { publish: round.publish, revise: round.revise, least: round.first_raters, most: round.most_raters })}`),
    h("dl", { class: "facts" },
      fact(t("round.clear"), score(mean("clear"))), fact(t("round.fair"), score(mean("pay"))),
      fact(t("round.minutes"), decimal(taken, 1), t("round.announced", { minutes: round.minutes })),
      fact(t("round.hourly"), `${hourly} ${round.currency}`, t("round.minimum", { wage: decimal(round.minimum_hourly) })),
      fact(t("round.examples"), count(missing), t("of", { total: round.feedback.length }))),
    h("p", { class: "quiet small" }, t("round.rule", {
      notice: percent(round.notice), missed: percent(round.missed), objecting: percent(round.false_report), stopped: percent(round.stopped) })));
}

/** @param {any} round */
function feedback(round) {
  return h("section", { class: "card", "aria-labelledby": "feedback" }, h("h2", { id: "feedback" }, t("round.feedback")),
    round.feedback.length
      ? h("ul", { class: "list" }, round.feedback.map((/** @type {any} */ row) => h("li", {},
        h("div", { class: "list__head" }, h("span", { class: row.vote === "revise" ? "chip chip--flag" : "chip" }, t(`round.vote.${row.vote}`)), h("span", {}, row.question),
          h("span", {}, t("comments.row.clear", { value: outOf(row.clear, 5) })), h("span", {}, t("round.row.pay", { value: outOf(row.pay, 5) })), h("span", {}, t("round.row.minutes", { reported: decimal(row.minutes, 1), measured: decimal(row.active_minutes, 1) })),
          row.examples && h("span", { class: "chip" }, t("round.row.examples")), row.trials.length > 0 && h("span", { class: "chip" }, t("round.row.unclear", { trials: plural(row.trials.length, "trial") }))),
        row.text && h("p", {}, row.text))))
      : h("p", { class: "quiet" }, t("round.none")));
}

/** @param {any} round */
function trials(round) {
  if (!round.trials.length) return null;
  return h("section", { class: "card", "aria-labelledby": "trials" }, h("h2", { id: "trials" }, t("round.trials")),
    h("div", {}, round.trials.map((/** @type {any} */ trial) => h("div", { class: "beside" },
      h("div", {}, h("div", { class: "shots" }, trial.images.map((/** @type {string} */ image) =>
        h("img", { src: `${base}/researcher/api/prototype/image?image=${encodeURIComponent(image)}`, alt: image, loading: "lazy" }))),
        h("p", { class: "quiet small" }, `${trial.question}${trial.role === "test" ? "" : ` · ${named("trial-role", trial.role)}`}`), trial.prompt && h("p", { class: "small" }, trial.prompt)),
      h("div", {}, trial.notes.length
        ? [h("h3", {}, t("round.unclear", { raters: plural(trial.notes.length, "rater") })), h("ul", {}, trial.notes.map((/** @type {any} */ note) => h("li", {}, note.text || t("round.no-comment"))))]
        : h("p", { class: "quiet" }, t("round.all-clear")))))));
}

/** @param {any} round */
function changes(round) {
  if (round.round < 2) return null;
  return h("section", { class: "card", "aria-labelledby": "changes" }, h("h2", { id: "changes" }, t("round.changes", { round: round.round - 1 })),
    round.changes.length
      ? round.changes.map((/** @type {any} */ change) => h("div", {}, h("h3", {}, sentence(change.place)), h("div", { class: "side" },
        h("div", {}, h("h4", {}, t("round.before")), sentence(change.before) || "–"), h("div", {}, h("h4", {}, t("round.now")), sentence(change.after) || "–"))))
      : h("p", { class: "quiet" }, t("round.unchanged")));
}

/** @param {string} name @param {any} value @param {string} [more] */
function fact(name, value, more) {
  return h("div", {}, h("dt", {}, name), h("dd", {}, value, more ? h("small", {}, ` ${more}`) : null));
}

/** @param {number[]} values */
function average(values) {
  return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
}

/** @param {number | null} value */
function score(value) {
  return value === null ? "–" : outOf(decimal(value, 1), 5);
}
