// The researcher's pages of a panel: one part at a time, drawn from the server's replies.

import { h } from "/static/dom.js";
import { appeals } from "/static/panel/researcher/appeals.js";
import { money } from "/static/panel/researcher/books.js";
import { overview } from "/static/panel/researcher/overview.js";
import { pay } from "/static/panel/researcher/pay.js";
import { raters } from "/static/panel/researcher/raters.js";
import { rules } from "/static/panel/researcher/rules.js";
import { Failed, get, signOut } from "/static/researcher/api.js";
import { say } from "/static/researcher/dialog.js";
import { languageSwitch, speak, t } from "/static/researcher/language.js";

/** @type {Record<string, (panel: any, tools: Tools) => Promise<Node[]>>} */
const PARTS = {
  overview,
  raters,
  pay,
  appeals,
  rules,
  books: money,
};

/**
 * What a part may use.
 * @typedef {object} Tools
 * @property {() => Promise<void>} redraw draw the part again
 * @property {(action: () => Promise<string>) => Promise<void>} act run an action, show its outcome
 */

const content = /** @type {HTMLElement} */ (document.getElementById("content"));
/** @type {any} */
let panel;

/** @type {Tools} */
const tools = { redraw, act };

const current = () => (location.hash.slice(1) in PARTS ? location.hash.slice(1) : "overview");

/** How often drawing has begun: what was asked for last is what stays, whatever is ready last. */
let begun = 0;

async function redraw() {
  const own = ++begun;
  const overview = await get("/overview");
  if (own !== begun) return;
  panel = overview;
  drawHead();
  const part = current();
  const drawn = await PARTS[part](panel, tools);
  if (own === begun && part === current()) content.replaceChildren(...drawn.filter(Boolean));
}

/** @param {() => Promise<string>} action */
async function act(action) {
  try {
    say(await action());
    await redraw();
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    say(error.message, "bad");
  }
}

function drawHead() {
  document.title = t("panel.page-title");
  const waiting = panel.appeals.filter((/** @type {any} */ appeal) => appeal.decision === null).length;
  const { name, role } = panel.you;
  document.getElementById("control")?.replaceChildren(languageSwitch(() => redraw().catch(failed)), h("div", { class: "account" },
    h("span", { class: "account__who" }, h("span", { class: "account__name" }, name === "link" ? t("account.link") : name), h("span", { class: "chip" }, t(`role.${role}`))),
    h("button", { type: "button", class: "button button--small", onclick: () => act(async () => { await signOut(); return t("signed-out"); }) }, t("sign-out"))));
  document.getElementById("tabs")?.replaceChildren(...Object.keys(PARTS).map((key) =>
    h("li", {}, h("a", { href: `#${key}`, "aria-current": key === current() ? "page" : null },
      t(`panel.part.${key}`), key === "appeals" && waiting ? ` (${waiting})` : ""))));
}

function failed(/** @type {Error} */ error) {
  content.replaceChildren(h("p", { class: "alert", role: "alert" }, error.message));
}

window.addEventListener("hashchange", () => {
  if (!(location.hash.slice(1) in PARTS)) return;
  content.replaceChildren(h("p", { class: "quiet" }, "…"));
  redraw().then(() => content.focus({ preventScroll: true }), failed);
  window.scrollTo(0, 0);
});
speak().then(redraw).catch(failed);
