// The studies of the panel: progress, what raters say of them, and what they are told came of them.

import { h } from "/static/dom.js";
import { fact } from "/static/panel/researcher/parts.js";
import { post } from "/static/researcher/api.js";
import { ask, field, reasonField } from "/static/researcher/dialog.js";
import { named, sentence, t } from "/static/researcher/language.js";
import { count, decimal, moment, outOf, plural } from "/static/researcher/words.js";

const FLAGS_TO_PAUSE = 7;

/** @param {any} panel @param {import("./app.js").Tools} tools */
export async function overview(panel, tools) {
  const refresh = () => tools.act(async () => { await post("/results/refresh", {}); return t("refresh.done"); });
  return [
    h("section", { class: "card", "aria-label": t("panel.label") },
      h("dl", { class: "facts" }, fact(t("overview.raters"), count(panel.raters)), fact(t("panel.part.overview"), count(panel.studies.length)),
        fact(t("panel.open-appeals"), count(panel.appeals.filter((/** @type {any} */ appeal) => appeal.decision === null).length))),
      panel.you.may_change && h("div", { class: "buttons" },
        h("button", { type: "button", class: "button button--small", onclick: refresh }, t("refresh.action"))),
      h("p", { class: "quiet small" }, t("refresh.about"))),
    ...panel.studies.map((/** @type {any} */ study) => card(study, panel, tools)),
  ];
}

/** @param {any} study @param {any} panel @param {import("./app.js").Tools} tools */
function card(study, panel, tools) {
  const heading = `study-${study.study}`;
  const state = study.closed !== null ? "closed" : study.paused !== null ? "paused" : study.opened !== null ? "open" : "waiting";
  return h("section", { class: "card", "aria-labelledby": heading },
    h("div", { class: "card__head" },
      h("div", { class: "card__title" },
        h("h2", { id: heading }, study.title, " ", h("span", { class: study.paused === null ? "chip" : "chip chip--flag" }, t(`study.state.${state}`))),
        h("p", { class: "quiet" }, t(study.opened ? "study.opened" : "study.by", { study: study.study, who: study.researcher, at: study.opened ? moment(study.opened) : "" }))),
      h("div", { class: "buttons" },
        study.served && h("a", { class: "button button--small", href: `/s/${study.study}/researcher` }, t("study.page")),
        panel.you.may_change && buttons(study, tools))),
    study.paused !== null && h("p", { class: "alert" }, t("study.paused", { reason: sentence(study.pause_reason) })),
    h("dl", { class: "facts" },
      fact(t("question.sessions"), count(study.sessions)),
      fact(t("study.free"), study.free === null ? "–" : count(study.free)),
      fact(t("study.recent"), study.recent === null ? "–" : count(study.recent)),
      fact(t("study.rating"), study.mean_rating === null ? "–" : outOf(decimal(study.mean_rating), 3), study.ratings ? plural(study.ratings, "rating") : t("none-yet")),
      fact(t("study.flags"), count(study.flags), t("study.flags.limit", { limit: FLAGS_TO_PAUSE })),
      fact(t("panel.open-appeals"), count(study.open_appeals))),
    study.flag_texts.length > 0 && h("ul", { class: "list" }, study.flag_texts.map((/** @type {any} */ flag) =>
      h("li", {}, h("div", { class: "list__head" }, h("span", { class: "chip chip--flag" }, named("study.flag", flag.kind)), h("span", {}, moment(flag.at))), flag.text && h("p", {}, flag.text)))),
    study.results !== null && h("p", {}, h("strong", {}, t("study.results")), " ", study.results, " ", study.results_link && h("a", { href: study.results_link, rel: "noreferrer" }, study.results_link)));
}

/** @param {any} study @param {import("./app.js").Tools} tools */
function buttons(study, tools) {
  return [
    study.paused !== null && h("button", { type: "button", class: "button button--small", onclick: () => resume(study, tools) }, t("study.resume.open")),
    study.opened !== null && study.closed === null && h("button", { type: "button", class: "button button--small", onclick: () => close(study, tools) }, t("study.close.open")),
    h("button", { type: "button", class: "button button--small", onclick: () => publish(study, tools) }, t("publish.open")),
  ];
}

/** @param {any} study @param {import("./app.js").Tools} tools */
async function resume(study, tools) {
  const form = await ask({ title: t("study.resume.title", { study: study.title }), text: t("study.resume.text"), fields: [reasonField(true)], action: t("resume") });
  if (form) await tools.act(async () => { await post("/resume", { study: study.study, reason: form.reason }); return t("resume.done"); });
}

/** @param {any} study @param {import("./app.js").Tools} tools */
async function close(study, tools) {
  const form = await ask({ title: t("study.close.title", { study: study.title }), text: t("study.close.text"), action: t("study.close"), bad: true });
  if (form) await tools.act(async () => { await post("/close", { study: study.study }); return t("study.close.done"); });
}

/** @param {any} study @param {import("./app.js").Tools} tools */
async function publish(study, tools) {
  const form = await ask({
    title: t("publish.title"),
    text: t("publish.text"),
    fields: [
      h("div", { class: "field" }, h("label", { for: "dialog-text" }, t("publish.words")), h("textarea", { id: "dialog-text", name: "text", rows: 4, required: true, maxlength: 5000 }, study.results ?? "")),
      field("link", t("publish.link"), { type: "url", maxlength: 500, value: study.results_link ?? "" }),
    ],
    action: t("publish"),
  });
  if (form) await tools.act(async () => { await post("/publish", { study: study.study, text: form.text, link: form.link }); return t("publish.done"); });
}
