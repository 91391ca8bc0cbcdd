// The studies of the panel: progress, what raters say of them, and what they are told came of them.

import { h } from "/static/dom.js";
import { fact } from "/static/panel/researcher/parts.js";
import { post } from "/static/researcher/api.js";
import { ask, field, reasonField } from "/static/researcher/dialog.js";
import { count, decimal, moment, plural } from "/static/researcher/words.js";

/** @param {any} panel @param {import("./app.js").Tools} tools */
export async function overview(panel, tools) {
  const refresh = () => tools.act(async () => (await post("/results/refresh", {})).message);
  return [
    h("section", { class: "card", "aria-label": "The panel" },
      h("dl", { class: "facts" }, fact("Raters", count(panel.raters)), fact("Studies", count(panel.studies.length)),
        fact("Open appeals", count(panel.appeals.filter((/** @type {any} */ appeal) => appeal.decision === null).length))),
      panel.you.may_change && h("div", { class: "buttons" },
        h("button", { type: "button", class: "button button--small", onclick: refresh }, "Export answers and compute quality now")),
      h("p", { class: "quiet small" }, "Quality, agreement and skills are computed every ten minutes, in a process of their own.")),
    ...panel.studies.map((/** @type {any} */ study) => card(study, panel, tools)),
  ];
}

/** @param {any} study @param {any} panel @param {import("./app.js").Tools} tools */
function card(study, panel, tools) {
  const heading = `study-${study.study}`;
  const state = study.closed !== null ? "closed" : study.paused !== null ? "paused" : study.opened !== null ? "open" : "not open";
  return h("section", { class: "card", "aria-labelledby": heading },
    h("div", { class: "card__head" },
      h("div", { class: "card__title" },
        h("h2", { id: heading }, study.title, " ", h("span", { class: study.paused === null ? "chip" : "chip chip--flag" }, state)),
        h("p", { class: "quiet" }, `${study.study}, by ${study.researcher}${study.opened ? `, open since ${moment(study.opened)}` : ""}`)),
      h("div", { class: "buttons" },
        study.served && h("a", { class: "button button--small", href: `/s/${study.study}/researcher` }, "Study page"),
        panel.you.may_change && buttons(study, tools))),
    study.paused !== null && h("p", { class: "alert" }, `Paused: ${study.pause_reason}`),
    h("dl", { class: "facts" },
      fact("Sessions", count(study.sessions)),
      fact("Free slots", study.free === null ? "–" : count(study.free)),
      fact("Done in the last hour", study.recent === null ? "–" : count(study.recent)),
      fact("Rating by raters", study.mean_rating === null ? "–" : `${decimal(study.mean_rating)} of 3`, study.ratings ? plural(study.ratings, "rating") : "none yet"),
      fact("Flags", count(study.flags), "7 pause it"),
      fact("Open appeals", count(study.open_appeals))),
    study.flag_texts.length > 0 && h("ul", { class: "list" }, study.flag_texts.map((/** @type {any} */ flag) =>
      h("li", {}, h("div", { class: "list__head" }, h("span", { class: "chip chip--flag" }, flag.kind), h("span", {}, moment(flag.at))), flag.text && h("p", {}, flag.text)))),
    study.results !== null && h("p", {}, h("strong", {}, "Raters are told: "), study.results, " ", study.results_link && h("a", { href: study.results_link, rel: "noreferrer" }, study.results_link)));
}

/** @param {any} study @param {import("./app.js").Tools} tools */
function buttons(study, tools) {
  return [
    study.paused !== null && h("button", { type: "button", class: "button button--small", onclick: () => resume(study, tools) }, "Resume…"),
    study.opened !== null && study.closed === null && h("button", { type: "button", class: "button button--small", onclick: () => close(study, tools) }, "Close…"),
    h("button", { type: "button", class: "button button--small", onclick: () => publish(study, tools) }, "Publish results…"),
  ];
}

/** @param {any} study @param {import("./app.js").Tools} tools */
async function resume(study, tools) {
  const form = await ask({ title: `Resume ${study.title}?`, text: "Say what you changed: the reason is in the open log.", fields: [reasonField(true)], action: "Resume" });
  if (form) await tools.act(async () => { await post("/resume", { study: study.study, reason: form.reason }); return "The study goes on."; });
}

/** @param {any} study @param {import("./app.js").Tools} tools */
async function close(study, tools) {
  const form = await ask({ title: `Close ${study.title}?`, text: "Nobody new begins. Raters then see how often they were right on its gold trials, so that these should not be used again.", action: "Close", bad: true });
  if (form) await tools.act(async () => { await post("/close", { study: study.study }); return "The study is closed."; });
}

/** @param {any} study @param {import("./app.js").Tools} tools */
async function publish(study, tools) {
  const form = await ask({
    title: "What came of the study?",
    text: "It appears on the pages of its raters. A few plain sentences are best.",
    fields: [
      h("div", { class: "field" }, h("label", { for: "dialog-text" }, "For raters"), h("textarea", { id: "dialog-text", name: "text", rows: 4, required: true, maxlength: 5000 }, study.results ?? "")),
      field("link", "Link to the report (optional)", { type: "url", maxlength: 500, value: study.results_link ?? "" }),
    ],
    action: "Publish",
  });
  if (form) await tools.act(async () => { await post("/publish", { study: study.study, text: form.text, link: form.link }); return "Raters can read it now."; });
}
