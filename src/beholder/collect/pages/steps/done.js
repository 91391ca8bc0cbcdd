// Thanks, the completion code, and the way back.

import { copyButton, h } from "/static/dom.js";
import { showPage } from "/static/steps/page.js";

/**
 * @param {HTMLElement} container
 * @param {any} state
 * @param {import("../app.js").Tools} tools
 */
export function done(container, state, tools) {
  const { t, texts } = tools;
  const { outcome, code, personal_code: own, redirect, message_key: key } = state.done;
  const complete = outcome === "complete";
  const message = [key, `done.${outcome}`, "done.complete"].find((candidate) => candidate && texts.has(candidate));
  showPage(
    container, state, tools,
    { title: t(complete ? "done.title.complete" : "done.title.other"), lead: t(message) },
    [complete && tick(), payLine(state.done, texts), code && codeCard(code, "done.code", t), own && codeCard(own, "done.personal", t), !redirect && !state.done.panel && h("p", { class: "note" }, t("done.close"))],
    [
      redirect && h("a", { class: "button button--primary", href: redirect, rel: "noreferrer" }, t("done.back")),
      state.done.panel && h("a", { class: redirect ? "button" : "button button--primary", href: "/" }, t("done.panel")),
    ].filter(Boolean),
  );
  return new Promise(() => {});
}

/** What was earned, if the server says so. @param {any} end @param {import("../texts.js").Texts} texts */
function payLine({ pay, currency }, texts) {
  if (!pay || !currency) return null;
  const amount = new Intl.NumberFormat(texts.language, { style: "currency", currency }).format(pay);
  return h("p", {}, texts.t("done.pay", { amount }));
}

/** @param {string} code @param {string} key of its texts @param {import("../texts.js").Translate} t */
function codeCard(code, key, t) {
  return h("section", { class: "card" }, h("h2", {}, t(key)), h("p", {}, t(`${key}.text`)),
    h("div", { class: "copyable" }, h("code", { class: "copyable__text copyable__text--large" }, code),
      copyButton(code, t("copy"), t("copied"))));
}

function tick() {
  return h("div", { class: "tick", "aria-hidden": "true" }, "✓");
}
