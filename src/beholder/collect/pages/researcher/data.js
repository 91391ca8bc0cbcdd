// Links for raters, downloads, and the log of the researchers' actions.

import { copyButton, h } from "/static/dom.js";
import { base, download, post } from "/static/researcher/api.js";
import { ask, field, reasonField, say } from "/static/researcher/dialog.js";
import { moment, plural } from "/static/researcher/words.js";

/** @type {Record<string, string>} */
const ABOUT = {
  parquet: "our tables, row for row",
  csv: "our tables as text",
  layer6: "realism, by rater and by image",
  hpd: "pairs and rankings, HPD v2",
  pickapic: "one row per vote, Pick-a-Pic",
  agiqa: "mean opinion scores, AGIQA-3K",
  aigciqa: "mean opinion scores, AIGCIQA2023",
  imagereward: "one consensus ranking per prompt",
  richhf: "rich feedback, TFRecord",
  jspsych: "every answer as a trial, JSON",
  datasets: "with images, for Hugging Face",
};

/** @param {import("./types").Study} study @param {import("./app.js").Tools} tools */
export async function data(study, tools) {
  return [...(study.rehearsal ? [] : [invitations(study, tools)]), exports(study), log(study)];
}

/** @param {import("./types").Study} study @param {import("./app.js").Tools} tools */
function invitations(study, tools) {
  const open = `${location.origin}${base}/`;
  const container = h("div", {});
  return h("section", { class: "card" },
    h("h2", {}, "Links for raters"),
    h("p", {}, entry(study.entry), " ", h("code", {}, open), "; a single question has the link ",
      h("code", {}, `${open}q/${study.questions[0].question}`), "."),
    h("div", { class: "buttons" },
      copyButton(open, "Copy link", "Copied"),
      study.you.may_change && h("button", { type: "button", class: "button", onclick: () => invite(container, tools) }, "Make invitations…")),
    container);
}

/** Who may enter by the plain link. @param {{open: boolean, platforms: string[]}} entry */
function entry({ open, platforms }) {
  if (open) return "Anyone who has it may enter by the link";
  const invited = "The study is closed: raters need a personal invitation";
  return platforms.length ? `${invited}, or come from ${platforms.join(" or ")} by` : `${invited}; without one, nobody may enter by`;
}

/** @param {HTMLElement} container @param {import("./app.js").Tools} tools */
async function invite(container, tools) {
  const form = await ask({
    title: "Make invitations",
    text: "Each link is for one rater and leads back to where they stopped. Links cannot be shown again: only their hashes are stored.",
    fields: [
      field("count", "How many", { type: "number", min: 1, max: 1000, value: 10, required: true }),
      field("note", "For whom (optional)", { maxlength: 200 }),
      reasonField(false),
    ],
    action: "Make links",
  });
  if (!form) return;
  await tools.act(async () => {
    const body = { count: Number(form.count), note: form.note, reason: form.reason };
    const links = /** @type {string[]} */ ((await post("/invite", body)).links);
    const text = links.map((link) => location.origin + base + link).join("\n");
    container.replaceChildren(h("div", { class: "field" },
      h("label", { for: "links" }, `${plural(links.length, "link")}, one per line`),
      h("textarea", { id: "links", rows: Math.min(links.length, 10), readonly: true, class: "mono" }, text),
      h("div", { class: "buttons" }, copyButton(text, "Copy all", "Copied"))));
    return `${plural(links.length, "invitation")} made.`;
  }, { redraw: false });
}

/** @param {import("./types").Study} study */
function exports(study) {
  return h("section", { class: "card" },
    h("h2", {}, "Download the answers"),
    h("p", { class: "quiet" }, "As they stand now; excluded raters are not in them, and nothing in them identifies anyone."),
    h("div", { class: "downloads" }, study.formats.map((name) => {
      const button = h("button", { type: "button", class: "download", onclick: () => fetchFile(study, name, button) },
        h("strong", {}, name), h("span", { class: "quiet small" }, ABOUT[name] ?? ""));
      return button;
    })));
}

/** @param {import("./types").Study} study @param {string} name @param {HTMLButtonElement} button */
async function fetchFile(study, name, button) {
  button.disabled = true;
  try {
    await download(`/export/${name}`, `${study.study.name}-${name}.zip`);
  } catch (error) {
    say(error instanceof Error ? error.message : String(error), "bad");
  } finally {
    button.disabled = false;
  }
}

/** @param {import("./types").Study} study */
function log(study) {
  return h("section", { class: "card" },
    h("h2", {}, "Log of actions"),
    study.log.length
      ? h("ul", { class: "list" }, study.log.map((entry) => h("li", {},
        h("div", { class: "list__head" }, h("strong", {}, entry.kind), h("span", {}, `by ${entry.detail.who ?? "–"}`), h("span", {}, moment(entry.at)),
          Object.entries(entry.detail).filter(([name]) => !["who", "reason"].includes(name))
            .map(([name, value]) => h("span", {}, `${name.replaceAll("_", " ")}: ${value}`))),
        entry.detail.reason && h("p", {}, entry.detail.reason))))
      : h("p", { class: "quiet" }, "Nothing yet."));
}
