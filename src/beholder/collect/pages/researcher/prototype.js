// A prototype round: the votes, the feedback beside the trials it concerns, and revised texts side by side.

import { h } from "/static/dom.js";
import { base, get } from "/static/researcher/api.js";
import { count, percent, plural } from "/static/researcher/words.js";

const WORDS = {
  publish: "The raters vote to publish: the full study may open.",
  revise: "The raters stop the study: revise it, and let them try it again.",
  "ask more": "Not decided yet: more raters are asked.",
};

export async function prototype() {
  const round = await get("/prototype");
  return [verdict(round), feedback(round), trials(round), changes(round)].filter((part) => part !== null);
}

/** @param {any} round */
function verdict(round) {
  const mean = (/** @type {string} */ name) => average(round.feedback.map((/** @type {any} */ row) => row[name]));
  const minutes = mean("minutes");
  const hourly = minutes && round.pay ? ((round.pay / minutes) * 60).toFixed(2) : "–";
  const missing = round.feedback.filter((/** @type {any} */ row) => row.examples).length;
  return h("section", { class: "card", "aria-labelledby": "round" },
    h("h2", { id: "round" }, `Prototype round ${round.round}`),
    h("p", { class: "verdict", "data-decision": round.decision }, h("strong", {}, WORDS[/** @type {keyof typeof WORDS} */ (round.decision)]),
      ` ${round.publish} to publish, ${round.revise} to revise; at least ${round.first_raters} and at most ${round.most_raters} raters vote.`),
    h("dl", { class: "facts" },
      fact("Clear", score(mean("clear"))), fact("Pay is fair", score(mean("pay"))),
      fact("Minutes reported", minutes === null ? "–" : minutes.toFixed(1), `announced: ${round.minutes}`),
      fact("Paid an hour at that time", `${hourly} ${round.currency}`, `minimum: ${round.minimum_hourly.toFixed(2)}`),
      fact("Miss examples", count(missing), `of ${round.feedback.length}`)),
    h("p", { class: "quiet small" }, `The votes go on until they decide. If each rater notices a fault with probability ${round.notice}, a faulty design is published in ${percent(round.missed)}; `
      + `if ${round.false_report} of raters object without cause, a faultless one is stopped in ${percent(round.stopped)}.`));
}

/** @param {any} round */
function feedback(round) {
  return h("section", { class: "card", "aria-labelledby": "feedback" }, h("h2", { id: "feedback" }, "What they say"),
    round.feedback.length
      ? h("ul", { class: "list" }, round.feedback.map((/** @type {any} */ row) => h("li", {},
        h("div", { class: "list__head" }, h("span", { class: row.vote === "revise" ? "chip chip--flag" : "chip" }, row.vote), h("span", {}, row.question),
          h("span", {}, `clear ${row.clear} of 5`), h("span", {}, `pay ${row.pay} of 5`), h("span", {}, `${row.minutes.toFixed(1)} min, measured ${row.active_minutes.toFixed(1)}`),
          row.examples && h("span", { class: "chip" }, "examples are missing"), row.trials.length > 0 && h("span", { class: "chip" }, `${plural(row.trials.length, "trial")} unclear`)),
        row.text && h("p", {}, row.text))))
      : h("p", { class: "quiet" }, "Nobody has voted yet."));
}

/** @param {any} round */
function trials(round) {
  if (!round.trials.length) return null;
  return h("section", { class: "card", "aria-labelledby": "trials" }, h("h2", { id: "trials" }, "Trials, the most often unclear first"),
    h("div", {}, round.trials.map((/** @type {any} */ trial) => h("div", { class: "beside" },
      h("div", {}, h("div", { class: "shots" }, trial.images.map((/** @type {string} */ image) =>
        h("img", { src: `${base}/researcher/api/prototype/image?image=${encodeURIComponent(image)}`, alt: image, loading: "lazy" }))),
        h("p", { class: "quiet small" }, `${trial.question}${trial.role === "test" ? "" : ` · ${trial.role}`}`), trial.prompt && h("p", { class: "small" }, trial.prompt)),
      h("div", {}, trial.notes.length
        ? [h("h3", {}, `${plural(trial.notes.length, "rater")} found it unclear`), h("ul", {}, trial.notes.map((/** @type {any} */ note) => h("li", {}, note.text || "without a comment")))]
        : h("p", { class: "quiet" }, "Nobody found it unclear."))))));
}

/** @param {any} round */
function changes(round) {
  if (round.round < 2) return null;
  return h("section", { class: "card", "aria-labelledby": "changes" }, h("h2", { id: "changes" }, `What was revised since round ${round.round - 1}`),
    round.changes.length
      ? round.changes.map((/** @type {any} */ change) => h("div", {}, h("h3", {}, change.place), h("div", { class: "side" },
        h("div", {}, h("h4", {}, "before"), change.before || "–"), h("div", {}, h("h4", {}, "now"), change.after || "–"))))
      : h("p", { class: "quiet" }, "No text, pay or time has changed."));
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
  return value === null ? "–" : `${value.toFixed(1)} of 5`;
}
