// Overview of the study: slots, answers, sessions, and the coverage of the design.

import { h } from "/static/dom.js";
import { base, post } from "/static/researcher/api.js";
import { ask, field, reasonField } from "/static/researcher/dialog.js";
import { count, plural } from "/static/researcher/words.js";

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
  const simulated = study.raters.simulated ? `${count(study.raters.simulated)} simulated` : null;
  const excluded = study.raters.excluded ? `${count(study.raters.excluded)} excluded` : null;
  return h("section", { class: "card", "aria-label": "The whole study" },
    study.study.description && h("p", { class: "quiet" }, study.study.description),
    h("dl", { class: "facts" },
      fact("Raters", study.raters.total, [simulated, excluded].filter(Boolean).join(", ")),
      fact("Slots done", total("done"), `of ${count(total("done") + total("running") + total("free"))}`),
      fact("Taking part now", total("running")),
      fact("Answers", answers),
      fact("Comments", study.comments),
      fact("Images ready", study.images.done, `of ${count(study.images.total)}`),
      h("div", {}, h("dt", {}, "Free on the disk"), h("dd", {}, size(study.disk.free)))));
}

/** @param {number} bytes */
function size(bytes) {
  return bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.floor(bytes / 1e6)} MB`;
}

/** Images that cannot be shown, all of them. @param {import("./types").BrokenImage[]} broken */
function unshown(broken) {
  if (!broken.length) return [];
  return [h("section", { class: "card", "aria-labelledby": "unshown" },
    h("h2", { id: "unshown" }, `${plural(broken.length, "image")} cannot be shown`),
    h("p", { class: "quiet" }, "Raters can skip them. Repair the files, and start the server again."),
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
          rel: "noopener" }, "Preview"),
        study.you.may_change && !study.rehearsal && h("button", { class: "button button--small", type: "button",
          onclick: () => extend(question, tools) }, "Add slots…"))),
    slotBar(question.slots),
    h("dl", { class: "facts" },
      fact("Answers that count", question.answers.valid),
      fact("Spoiled trials", question.answers.spoiled),
      fact("Skipped images", question.skips),
      h("div", {}, h("dt", {}, "Sessions"),
        h("dd", {}, h("div", { class: "chips" }, statuses.length
          ? statuses.map(([status, sessions]) => h("span", { class: "chip" }, `${count(sessions)} ${status}`))
          : h("small", {}, "none yet"))))),
    cells(question.cells));
}

/** @param {import("./types").Slots} slots */
function slotBar(slots) {
  const part = (/** @type {keyof import("./types").Slots} */ name, /** @type {string} */ label) => h("li", { class: `key__${name}` }, `${count(slots[name])} ${label}`);
  return h("div", {},
    h("div", { class: "slots", "aria-hidden": "true" },
      /** @type {(keyof import("./types").Slots)[]} */ (["done", "running", "free"]).map((name) => h("span", { class: `slots__${name}`, vars: { "--count": slots[name] } }))),
    h("ul", { class: "key", "aria-label": "Slots" },
      part("done", "slots done"), part("running", "running"), part("free", "free")));
}

/** @param {{cell: string, collected: number, planned: number}[]} list */
function cells(list) {
  return h("div", {}, h("h3", {}, "Answers to test trials, of those planned"),
    h("ul", { class: "cells" }, list.map((cell) => h("li", {},
      h("span", { class: "cells__name", title: cell.cell }, cell.cell),
      h("span", { class: "bar", "aria-hidden": "true" },
        h("span", { vars: { "--proportion": cell.planned ? cell.collected / cell.planned : 0 } })),
      h("span", { class: "cells__count" }, `${count(cell.collected)} of ${count(cell.planned)}`)))));
}

/** @param {import("./types").Question} question @param {import("./app.js").Tools} tools */
async function extend(question, tools) {
  const form = await ask({
    title: `Add slots to “${question.question}”`,
    text: "New trials are drawn by the same design and appended; existing ones do not change. "
      + "Raters added because of results that you have seen make the confidence intervals invalid.",
    fields: [field("slots", "How many more slots", { type: "number", min: 1, max: 10_000, value: 10, required: true }), reasonField(false)],
    action: "Add slots",
  });
  if (!form) return;
  await tools.act(async () => {
    const body = { question: question.question, slots: Number(form.slots), reason: form.reason };
    const added = await post("/extend", body);
    return `${plural(added.slots, "slot")} with ${plural(added.trials, "trial")} added.`;
  });
}
