// Overview of the study: slots, answers, sessions, and the coverage of the design.

import { h } from "/static/dom.js";
import { base, post } from "/static/researcher/api.js";
import { ask, field, reasonField } from "/static/researcher/dialog.js";
import { named, t } from "/static/researcher/language.js";
import { count, decimal, outOf, plural } from "/static/researcher/words.js";

/** @param {import("./types").Study} study @param {import("./app.js").Tools} tools */
export async function overview(study, tools) {
  return [
    totals(study), ...unshown(study.images.broken),
    ...study.questions.map((question) => card(question, study, tools)),
  ];
}

/** @param {import("./types").Study} study */
function totals(study) {
  const slots = study.questions.map((question) => question.slots);
  const total = (/** @type {keyof import("./types").Slots} */ name) => slots.reduce((sum, part) => sum + part[name], 0);
  const answers = study.questions.reduce((sum, part) => sum + part.answers.valid, 0);
  const simulated = study.raters.simulated ? t("overview.simulated", { count: count(study.raters.simulated) }) : null;
  const excluded = study.raters.excluded ? t("overview.excluded", { count: count(study.raters.excluded) }) : null;
  return h("section", { class: "card", "aria-label": t("overview.label") },
    study.study.description && h("p", { class: "quiet" }, study.study.description),
    h("dl", { class: "facts" },
      fact(t("overview.raters"), study.raters.total, [simulated, excluded].filter(Boolean).join(", ")),
      fact(t("overview.slots"), total("done"), t("of", { total: count(total("done") + total("running") + total("free")) })),
      fact(t("overview.running"), total("running")),
      fact(t("overview.answers"), answers),
      fact(t("overview.comments"), study.comments),
      fact(t("overview.images"), study.images.done, t("of", { total: count(study.images.total) })),
      h("div", {}, h("dt", {}, t("overview.disk")), h("dd", {}, size(study.disk.free)))));
}

/** @param {number} bytes */
function size(bytes) {
  return bytes >= 1e9 ? `${decimal(bytes / 1e9, 1)} GB` : `${Math.floor(bytes / 1e6)} MB`;
}

/** Images that cannot be shown, all of them. @param {import("./types").BrokenImage[]} broken */
function unshown(broken) {
  if (!broken.length) return [];
  return [h("section", { class: "card", "aria-labelledby": "unshown" },
    h("h2", { id: "unshown" }, t("overview.broken", { images: plural(broken.length, "image") })),
    h("p", { class: "quiet" }, t("overview.broken.text")),
    h("ul", {}, broken.map(({ image, path, reason }) => h("li", {}, h("strong", {}, image), ` ${path}: ${reason}`))))];
}

/** @param {string} name @param {number} value @param {string} [more] */
function fact(name, value, more) {
  return h("div", {}, h("dt", {}, name), h("dd", {}, count(value), more ? h("small", {}, ` ${more}`) : null));
}

/** @param {import("./types").Question} question @param {import("./types").Study} study @param {import("./app.js").Tools} tools */
function card(question, study, tools) {
  const heading = `question-${question.question}`;
  const statuses = Object.entries(question.sessions);
  return h("section", { class: "card", "aria-labelledby": heading },
    h("div", { class: "card__head" },
      h("div", { class: "card__title" },
        h("h2", { id: heading }, question.question, " ", h("span", { class: "chip" }, question.kind)),
        h("p", { class: "quiet" }, question.text)),
      h("div", { class: "buttons" },
        h("a", { class: "button button--small", href: `${base}/researcher/preview/${question.question}`, target: "_blank",
          rel: "noopener" }, t("preview")),
        study.you.may_change && !study.rehearsal && h("button", { class: "button button--small", type: "button",
          onclick: () => extend(question, tools) }, t("extend.open")))),
    slotBar(question.slots),
    h("dl", { class: "facts" },
      fact(t("question.valid"), question.answers.valid),
      fact(t("question.spoiled"), question.answers.spoiled),
      fact(t("question.skips"), question.skips),
      h("div", {}, h("dt", {}, t("question.sessions")),
        h("dd", {}, h("div", { class: "chips" }, statuses.length
          ? statuses.map(([status, sessions]) => h("span", { class: "chip" }, `${count(sessions)} ${named("session", status)}`))
          : h("small", {}, t("none-yet")))))),
    cells(question.cells));
}

/** @param {import("./types").Slots} slots */
function slotBar(slots) {
  const parts = /** @type {(keyof import("./types").Slots)[]} */ (["done", "running", "free"]);
  return h("div", {},
    h("div", { class: "slots", "aria-hidden": "true" },
      parts.map((name) => h("span", { class: `slots__${name}`, vars: { "--count": slots[name] } }))),
    h("ul", { class: "key", "aria-label": t("slots.label") },
      parts.map((name) => h("li", { class: `key__${name}` }, t(`slots.${name}`, { count: count(slots[name]) })))));
}

/** @param {{cell: string, collected: number, planned: number}[]} list */
function cells(list) {
  return h("div", {}, h("h3", {}, t("cells.title")),
    h("ul", { class: "cells" }, list.map((cell) => h("li", {},
      h("span", { class: "cells__name", title: cell.cell }, cell.cell),
      h("span", { class: "bar", "aria-hidden": "true" },
        h("span", { vars: { "--proportion": cell.planned ? cell.collected / cell.planned : 0 } })),
      h("span", { class: "cells__count" }, outOf(count(cell.collected), count(cell.planned)))))));
}

/** @param {import("./types").Question} question @param {import("./app.js").Tools} tools */
async function extend(question, tools) {
  const form = await ask({
    title: t("extend.title", { question: question.question }),
    text: t("extend.text"),
    fields: [field("slots", t("extend.count"), { type: "number", min: 1, max: 10_000, value: 10, required: true }), reasonField(false)],
    action: t("extend.action"),
  });
  if (!form) return;
  await tools.act(async () => {
    const body = { question: question.question, slots: Number(form.slots), reason: form.reason };
    const added = await post("/extend", body);
    return t("extend.done", { slots: plural(added.slots, "slot"), trials: plural(added.trials, "trial") });
  });
}
