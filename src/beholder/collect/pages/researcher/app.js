// The researcher's page: one part at a time, drawn from the server's replies; the overview is refreshed by itself.

import { h } from "/static/dom.js";
import { Failed, get, post, signOut } from "/static/researcher/api.js";
import { comments } from "/static/researcher/comments.js";
import { data } from "/static/researcher/data.js";
import { ask, reasonField, say } from "/static/researcher/dialog.js";
import { languageSwitch, sentence, speak, t } from "/static/researcher/language.js";
import { moderation } from "/static/researcher/moderation.js";
import { overview } from "/static/researcher/overview.js";
import { prototype } from "/static/researcher/prototype.js";
import { raters } from "/static/researcher/raters.js";
import { results } from "/static/researcher/results.js";

const PROTOTYPE = { draw: prototype, live: false };
const MODERATION = { draw: moderation, live: false };

/** @type {Record<string, {draw: (study: import("./types").Study, tools: Tools) => Promise<Node[]>, live: boolean}>} */
const PARTS = {
  overview: { draw: overview, live: true },
  results: { draw: results, live: false },
  raters: { draw: raters, live: false },
  comments: { draw: comments, live: false },
  data: { draw: data, live: false },
};

/**
 * The parts of this study: a prototype round has one more, and so has a study whose raters write prompts.
 * @returns {typeof PARTS}
 */
const partsOf = () => ({ ...(study?.prototype && { prototype: PROTOTYPE }), ...PARTS, ...(study?.moderated && { moderation: MODERATION }) });
const REFRESH_MS = 10_000;
const WARNINGS_MS = 5_000;

/**
 * What a part may use.
 * @typedef {object} Tools
 * @property {() => Promise<void>} redraw draw the part again
 * @property {(action: () => Promise<string>, options?: {redraw: boolean}) => Promise<void>} act run an action, show its outcome
 * @property {(element: Element, draw: (width: number) => void) => void} onWidth draw for the width that an element has
 */

const content = /** @type {HTMLElement} */ (document.getElementById("content"));
/** @type {import("./types").Study} */
let study;
/** @type {ResizeObserver[]} */
const watching = [];

/** @type {Tools} */
const tools = { redraw, act, onWidth };

const current = () => (location.hash.slice(1) in partsOf() ? location.hash.slice(1) : study?.prototype ? "prototype" : "overview");

/** How often drawing has begun: what was asked for last is what stays, whatever is ready last. */
let begun = 0;

async function redraw() {
  const own = ++begun;
  const overview = await get("/overview");
  if (own !== begun) return;
  study = overview;
  drawHead();
  const part = current();
  const drawn = await partsOf()[part].draw(study, tools);
  if (own !== begun || part !== current()) return;
  watching.splice(0).forEach((observer) => observer.disconnect());
  content.replaceChildren(...drawn);
}

/** @param {Element} element @param {(width: number) => void} draw */
function onWidth(element, draw) {
  let before = 0;
  const observer = new ResizeObserver(([entry]) => {
    const width = Math.floor(entry.contentRect.width);
    if (width > 0 && width !== before) draw(before = width);
  });
  observer.observe(element);
  watching.push(observer);
}

/** @param {() => Promise<string>} action @param {{redraw: boolean}} [options] */
async function act(action, options = { redraw: true }) {
  try {
    say(await action());
    if (options.redraw) await redraw();
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    say(error.message, "bad");
  }
}

function drawHead() {
  document.title = `${study.study.title} · beholder`;
  text("title", study.study.title);
  const status = text("status", t(`state.${study.rehearsal ? "rehearsal" : study.paused ? "paused" : "running"}`));
  status.dataset.paused = String(study.paused || study.rehearsal);
  const rehearsal = /** @type {HTMLElement} */ (document.getElementById("rehearsal"));
  rehearsal.hidden = !study.rehearsal;
  document.getElementById("control")?.replaceChildren(...(study.you.may_change && !study.rehearsal
    ? [h("button", { type: "button", class: "button", onclick: turn }, t(study.paused ? "resume" : "pause"))] : []), languageSwitch(redrawOrSay), account());
  document.getElementById("tabs")?.replaceChildren(...Object.keys(partsOf()).map((key) =>
    h("li", {}, h("a", { href: `#${key}`, "aria-current": key === current() ? "page" : null }, t(`part.${key}`)))));
}

/** Who is signed in, what they may do, and the way out. */
function account() {
  const { name, role } = study.you;
  return h("div", { class: "account" },
    h("span", { class: "account__who", title: t(`role.${role}.about`) },
      h("span", { class: "account__name" }, name === "link" ? t("account.link") : name), h("span", { class: "chip" }, t(`role.${role}`))),
    h("button", { type: "button", class: "button button--small", id: "sign-out",
      onclick: () => act(async () => { await signOut(); return t("signed-out"); }, { redraw: false }) }, t("sign-out")));
}

/** @param {string} id @param {string} words */
function text(id, words) {
  const element = /** @type {HTMLElement} */ (document.getElementById(id));
  if (element.textContent !== words) element.textContent = words;
  return element;
}

/** What cannot wait, above every part. */
async function drawWarnings() {
  const warnings = /** @type {string[]} */ ((await get("/warnings")).warnings).map(sentence);
  const box = /** @type {HTMLElement} */ (document.getElementById("warnings"));
  const before = [...box.children].map((line) => line.textContent);
  if (before.join("\n") === warnings.join("\n")) return; // else a screen reader would say it again and again
  box.replaceChildren(...warnings.map((line) => h("p", { class: "alert" }, line)));
}

async function turn() {
  const paused = study.paused;
  const form = await ask({
    title: t(paused ? "resume.title" : "pause.title"),
    text: t(paused ? "resume.text" : "pause.text"),
    fields: [reasonField(false)],
    action: t(paused ? "resume" : "pause"),
  });
  if (form) await act(async () => {
    await post(paused ? "/resume" : "/pause", { reason: form.reason });
    return t(paused ? "resume.done" : "pause.done");
  });
}

const redrawOrSay = () => { redraw().catch(failed); drawWarnings().catch(() => {}); };

function failed(/** @type {Error} */ error) {
  content.replaceChildren(h("p", { class: "alert", role: "alert" }, error.message));
}

window.addEventListener("hashchange", () => {
  if (!(location.hash.slice(1) in partsOf())) return;
  redraw().then(() => content.focus({ preventScroll: true }), failed);
  window.scrollTo(0, 0);
});
setInterval(() => {
  const busy = document.hidden || document.querySelector("dialog") || content.contains(document.activeElement);
  if (!busy && partsOf()[current()]?.live) redraw().catch(() => {});
}, REFRESH_MS);
setInterval(() => drawWarnings().catch(() => {}), WARNINGS_MS);
speak().then(redrawOrSay, failed);
