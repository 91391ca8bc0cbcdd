// The voters' page of an arena: agree, judge blind pairs, see who made them, go on.

import { Api, Refused } from "/static/api.js";
import { h, paragraphs, show } from "/static/dom.js";
import { Images } from "/static/images.js";
import { AnswerBar } from "/static/kinds/answer_bar.js";
import { twoImages } from "/static/kinds/two_images.js";
import { onKeys, Gate } from "/static/keys.js";
import { Notice } from "/static/notice.js";
import { loadTexts, preferredLanguage } from "/static/texts.js";
import { pause } from "/static/waiting.js";

const LANGUAGES = ["en", "de"];
const OWN_FROM = 30;
const POLL_MS = 400;

/** @typedef {{api: Api, t: import("../texts.js").Translate, images: Images, language: string}} ArenaTools */

async function start() {
  const container = /** @type {HTMLElement} */ (document.getElementById("app"));
  const notice = new Notice(/** @type {HTMLElement} */ (document.getElementById("notice")));
  const api = new Api(notice);
  const texts = await loadTexts(api, preferredLanguage(LANGUAGES));
  document.documentElement.lang = texts.language;
  notice.t = texts.t;
  const tools = { api, t: texts.t, images: new Images((waiting) => notice.preparing(waiting)), language: texts.language };
  await api.settle();
  let state = await whereWeStand(container, tools);
  while (["vote", "making"].includes(state.step)) state = await (state.step === "vote" ? vote : making)(container, state, tools);
  await ended(container, state, tools);
}

/** The state of who has voted before; others are asked to agree first. @param {HTMLElement} container @param {ArenaTools} tools */
async function whereWeStand(container, tools) {
  try {
    return await tools.api.get("/api/state");
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 401) throw error;
    return agree(container, tools);
  }
}

/** @param {HTMLElement} container @param {ArenaTools} tools @returns {Promise<any>} */
function agree(container, { api, t, language }) {
  const button = h("button", { type: "button", class: "button button--primary" }, t("arena.agree"));
  show(container, h("main", { class: "page" },
    h("h1", {}, t("arena.title")),
    h("div", { class: "card" }, paragraphs(t("arena.about"))),
    h("div", { class: "page__buttons" }, button, h("a", { class: "button", href: "/board" }, t("arena.board")))));
  return new Promise((resolve, reject) => {
    button.addEventListener("click", () => {
      button.disabled = true;
      api.post("/api/enter", { language, agreed: true }).then(resolve, reject);
    });
  });
}

/**
 * One pair, its vote, and who made the images.
 * @param {HTMLElement} container
 * @param {any} state
 * @param {ArenaTools} tools
 * @returns {Promise<any>} the next state
 */
async function vote(container, state, { api, t, images }) {
  const over = new AbortController();
  const stepTools = /** @type {any} */ ({ t, images, signal: over.signal, ahead: () => {} });
  const bar = new AnswerBar(state.options, stepTools);
  const work = h("div", { class: "work" });
  show(container, h("main", { class: "trial arena" }, topBar(state, t),
    h("div", { class: "ask" },
      h("h1", { class: "ask__question" }, t("arena.ask")),
      h("p", { class: "ask__prompt" }, h("span", { class: "ask__label" }, t("trial.prompt")), h("q", {}, state.prompt))),
    work));
  if (state.unmade) work.before(h("p", { class: "quiet", role: "status" }, state.unmade.status === "refused" ? t("live.refused", { note: state.unmade.note }) : t("live.failed")));
  const onset = await twoImages(work, state, stepTools, bar.element);
  const wish = new Promise((resolve) => container.querySelector(".arena__write")?.addEventListener("click", () => resolve(null)));
  const given = await Promise.race([bar.open(onset), wish]);
  if (!given) {
    over.abort();
    return write(container, state, { api, t, images, language: "" });
  }
  const { choice, at } = given;
  const seconds = Math.max(0, Math.round(at - onset)) / 1000;
  const reply = /** @type {any} */ (await api.answer({ ballot: state.ballot, outcome: choice, seconds }));
  images.keepOnly(state.images.map((/** @type {any} */ image) => image.token));
  await reveal(work, reply.revealed, choice, t);
  over.abort();
  return reply.state;
}

/** Wait until both images of one's own text are there. @param {HTMLElement} container @param {any} state @param {ArenaTools} tools */
async function making(container, state, { api, t }) {
  show(container, h("main", { class: "page" }, h("h1", {}, t("arena.write.title")),
    h("p", { class: "lead" }, h("q", {}, state.prompt)), h("p", { role: "status" }, t("live.waiting"))));
  let next = state;
  while (next.step === "making") {
    await pause(POLL_MS);
    next = await api.get("/api/state");
  }
  return next;
}

/** A text of one's own, after the warning; the next state. @param {HTMLElement} container @param {any} state @param {ArenaTools} tools @returns {Promise<any>} */
function write(container, state, { api, t }) {
  const field = h("textarea", { id: "own-text", rows: 3, maxlength: 300 });
  const notice = h("p", { role: "status" });
  const make = h("button", { type: "submit", class: "button button--primary" }, t("live.make"));
  const back = h("button", { type: "button", class: "button" }, t("arena.cancel"));
  const form = h("form", { class: "arena__own" }, h("label", { for: "own-text" }, t("live.text")), field, notice,
    h("div", { class: "page__buttons" }, make, back));
  show(container, h("main", { class: "page" }, h("h1", {}, t("arena.write.title")), h("p", { class: "lead" }, t("arena.write.about")),
    h("div", { class: "card" }, paragraphs(t("live.warning"))), form));
  field.focus();
  return new Promise((resolve, reject) => {
    back.addEventListener("click", () => resolve({ ...state, unmade: null }));
    form.addEventListener("submit", (/** @type {Event} */ event) => {
      event.preventDefault();
      make.disabled = true;
      api.post("/api/own/agree").then(() => api.post("/api/own/prompt", { text: field.value })).then((reply) => {
        if (!reply.refused) return resolve(reply.state);
        make.disabled = false;
        notice.textContent = t(`live.${reply.refused}`, { shortest: 3, longest: 300 });
      }).catch(reject);
    });
  });
}

/** @param {any} state @param {import("../texts.js").Translate} t */
function topBar(state, t) {
  const left = OWN_FROM - state.votes;
  return h("div", { class: "bar" },
    h("span", { class: "bar__count" }, t("arena.votes", { votes: state.votes })),
    h("span", { class: "bar__count bar__more" }, left > 0 ? t("arena.own.left", { left }) : ""),
    h("span", { class: "bar__space" }),
    state.own_prompts && h("button", { type: "button", class: "button button--quiet arena__write" }, t("arena.write")),
    h("a", { class: "button button--quiet", href: "/board" }, t("arena.board")));
}

/**
 * Show the names below the images until the voter goes on.
 * @param {HTMLElement} work
 * @param {{left: string, right: string, check: boolean}} revealed
 * @param {string} choice
 * @param {import("../texts.js").Translate} t
 * @returns {Promise<void>}
 */
function reveal(work, revealed, choice, t) {
  const next = h("button", { type: "button", class: "button button--primary" }, t("arena.next"), h("kbd", {}, t("key.enter")));
  const name = (/** @type {"left" | "right"} */ side, /** @type {string} */ letter) =>
    h("div", { class: "revealed__name", "data-won": String(choice === side) },
      h("span", { class: "revealed__letter" }, t("arena.made", { letter })), revealed[side]);
  const panel = h("div", { class: "revealed", role: "status" },
    h("div", { class: "revealed__names" }, name("left", "A"), name("right", "B")),
    revealed.check && h("p", { class: "quiet" }, t("arena.check")), next);
  work.replaceChild(panel, /** @type {Node} */ (work.lastChild));
  next.focus();
  const over = new AbortController();
  return new Promise((resolve) => {
    const go = () => { over.abort(); resolve(); };
    next.addEventListener("click", go);
    const gate = new Gate();
    gate.open(performance.now());
    onKeys({ "ArrowRight": go }, gate, over.signal);
  });
}

/** @param {HTMLElement} container @param {any} state @param {ArenaTools} tools */
async function ended(container, state, { t }) {
  show(container, h("main", { class: "page" },
    h("h1", {}, t("arena.capped.title")),
    h("p", { class: "lead" }, t("arena.capped", { cap: state.cap })),
    h("div", { class: "page__buttons" }, h("a", { class: "button button--primary", href: "/board" }, t("arena.board")))));
}

start();
