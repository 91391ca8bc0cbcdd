// Links for raters, downloads, and the log of the researchers' actions.

import { copyButton, h } from "/static/dom.js";
import { base, download, post } from "/static/researcher/api.js";
import { ask, field, reasonField, say } from "/static/researcher/dialog.js";
import { named, t } from "/static/researcher/language.js";
import { moment, plural } from "/static/researcher/words.js";

/** @param {import("./types").Study} study @param {import("./app.js").Tools} tools */
export async function data(study, tools) {
  return [...(study.rehearsal ? [] : [invitations(study, tools)]), exports(study), log(study)];
}

/** @param {import("./types").Study} study @param {import("./app.js").Tools} tools */
function invitations(study, tools) {
  const open = `${location.origin}${base}/`;
  const container = h("div", {});
  return h("section", { class: "card" },
    h("h2", {}, t("links.title")),
    h("p", {}, entry(study.entry)),
    h("dl", { class: "links" }, h("dt", {}, t("links.study")), h("dd", {}, h("code", {}, open)),
      h("dt", {}, t("links.question")), h("dd", {}, h("code", {}, `${open}q/${study.questions[0].question}`))),
    h("div", { class: "buttons" },
      copyButton(open, t("copy.link"), t("copied")),
      study.you.may_change && h("button", { type: "button", class: "button", onclick: () => invite(container, tools) }, t("invite.open"))),
    container);
}

/** Who may enter by the plain links. @param {{open: boolean, platforms: string[]}} entry */
function entry({ open, platforms }) {
  if (open) return t("links.open");
  return platforms.length ? t("links.platforms", { platforms: platforms.join(", ") }) : t("links.invited");
}

/** @param {HTMLElement} container @param {import("./app.js").Tools} tools */
async function invite(container, tools) {
  const form = await ask({
    title: t("invite.title"),
    text: t("invite.text"),
    fields: [
      field("count", t("invite.count"), { type: "number", min: 1, max: 1000, value: 10, required: true }),
      field("note", t("invite.note"), { maxlength: 200 }),
      reasonField(false),
    ],
    action: t("invite.action"),
  });
  if (!form) return;
  await tools.act(async () => {
    const body = { count: Number(form.count), note: form.note, reason: form.reason };
    const links = /** @type {string[]} */ ((await post("/invite", body)).links);
    const text = links.map((link) => location.origin + base + link).join("\n");
    container.replaceChildren(h("div", { class: "field" },
      h("label", { for: "links" }, t("invite.links", { links: plural(links.length, "link") })),
      h("textarea", { id: "links", rows: Math.min(links.length, 10), readonly: true, class: "mono" }, text),
      h("div", { class: "buttons" }, copyButton(text, t("copy.all"), t("copied")))));
    return t("invite.done", { invitations: plural(links.length, "invitation") });
  }, { redraw: false });
}

/** @param {import("./types").Study} study */
function exports(study) {
  return h("section", { class: "card" },
    h("h2", {}, t("download.title")),
    h("p", { class: "quiet" }, t("download.text")),
    h("div", { class: "downloads" }, study.formats.map((name) => {
      const button = h("button", { type: "button", class: "download", onclick: () => fetchFile(study, name, button) },
        h("strong", {}, name), h("span", { class: "quiet small" }, t(`format.${name}`)));
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
    h("h2", {}, t("log.title")),
    study.log.length
      ? h("ul", { class: "list" }, study.log.map((entry) => h("li", {},
        h("div", { class: "list__head" }, h("strong", {}, named("log", entry.kind)), h("span", {}, t("by", { who: entry.detail.who ?? "–" })), h("span", {}, moment(entry.at)),
          Object.entries(entry.detail).filter(([name]) => !["who", "reason"].includes(name))
            .map(([name, value]) => h("span", {}, `${named("detail", name)}: ${value}`))),
        entry.detail.reason && h("p", {}, entry.detail.reason))))
      : h("p", { class: "quiet" }, t("log.none")));
}
