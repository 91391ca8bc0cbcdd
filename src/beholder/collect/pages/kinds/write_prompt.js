// Write a text for which a generator fails, or pick an image that fools a scorer: a result is made while one waits.

import { h, paragraphs } from "/static/dom.js";
import { AnswerBar, secondsBetween } from "/static/kinds/answer_bar.js";
import { choiceKeys } from "/static/kinds/choice_keys.js";
import { boxFor, reveal } from "/static/kinds/pictures.js";
import { buttons, scene } from "/static/kinds/sketch.js";
import { Gate, onKeys } from "/static/keys.js";
import { base } from "/static/link.js";
import { pause } from "/static/waiting.js";

const POLL_MS = 400;
const SHORTEST = 3;
const MISSING = "missing-object";

/** @typedef {{attempt: string, status: string, note: string, text: string, words: string[], scores: number[] | null, width: number | null, height: number | null}} Result */

export const writePrompt = {
  /** @type {import("./catalogue.js").Kind["render"]} */
  async render(container, trial, tools) {
    let standing = await tools.api.get("/api/live");
    if (!standing.agreed) {
      await warn(container, tools);
      standing = await tools.api.get("/api/live");
    }
    const desk = new Desk(trial, standing, tools);
    container.replaceChildren(desk.left, desk.right);
    await reveal([desk.example], tools);
    const onset = performance.now();
    desk.start();
    const { choice, at } = await desk.judged();
    return { said: [{ aspect: "claim", choice }], marks: desk.marks(choice), seconds: secondsBetween(onset, at), spoiled: false };
  },

  /** @returns {[string[], string][]} */
  keys(/** @type {any} */ question) {
    return [[["w"], "keys.live.write"], [["Enter"], "keys.live.make"], ...choiceKeys(question)];
  },

  sketch: () => [scene(16, 8, 150, 100), ...buttons(2)],
};

/** The warning before the first result; only who goes on gets one. @param {HTMLElement} container @param {import("../steps/trial.js").TrialTools} tools */
function warn(container, { api, t }) {
  const go = h("button", { type: "button", class: "button button--primary" }, t("live.agree"));
  container.replaceChildren(h("section", { class: "card live__warning", "aria-labelledby": "live-warning" },
    h("h2", { id: "live-warning" }, t("live.warning.title")), paragraphs(t("live.warning")),
    h("div", { class: "page__buttons" }, go)));
  go.focus();
  return new Promise((resolve, reject) => {
    go.addEventListener("click", () => {
      go.disabled = true;
      api.post("/api/live/agree").then(resolve, reject);
    });
  });
}

/** All controls of one trial. */
class Desk {
  /** @param {any} trial @param {any} standing @param {import("../steps/trial.js").TrialTools} tools */
  constructor(trial, standing, tools) {
    const { t } = tools;
    this.trial = trial;
    this.tools = tools;
    this.scored = trial.settings.fools === "scorer";
    this.tries = standing.left;
    /** @type {Result | null} */
    this.result = null;
    /** @type {Set<string>} */
    this.tags = new Set();
    /** @type {Set<number>} */
    this.missing = new Set();
    this.example = boxFor(trial.images[0], "", t);
    this.caption = h("p", { class: "live__caption" }, t("live.example"));
    this.stage = h("div", { class: "stage" }, this.example.cell);
    this.left = h("div", { class: "live" }, this.caption, this.stage);
    this.said = h("p", { class: "live__said", role: "status" });
    this.count = h("span", { class: "quiet" }, t("live.left", { left: this.tries }));
    this.judging = h("div", { class: "live__judging", hidden: true });
    this.bar = new AnswerBar(trial.options, tools);
    const asking = this.scored ? this.#gallery(standing.others) : this.#form();
    this.right = h("div", { class: "panel" },
      h("div", { class: "panel__scroll live__panel" }, asking, this.said, this.judging), this.bar.element);
    if (standing.last?.status === "made") this.#show(standing.last);
  }

  start() {
    const gate = new Gate();
    gate.open(0);
    onKeys({ w: () => this.field?.focus() }, gate, this.tools.signal);
    if (!this.result) this.field?.focus();
  }

  /** The answer, once there is a result that it can be about. @returns {Promise<{choice: string, at: number}>} */
  judged() {
    return new Promise((resolve) => {
      this.resolve = resolve;
      if (this.result) this.#open();
    });
  }

  /** @param {string} choice */
  marks(choice) {
    if (choice !== "fails") return [];
    const tags = [...this.tags].map((aspect) => ({ aspect, kind: "tag" }));
    const words = this.tags.has(MISSING) ? [...this.missing].sort((a, b) => a - b) : [];
    return [...tags, ...words.map((word) => ({ aspect: MISSING, kind: "word", word }))];
  }

  #form() {
    const { t } = this.tools;
    this.field = h("textarea", { id: "live-text", rows: 3, maxlength: this.trial.settings.longest });
    this.make = h("button", { type: "button", class: "button button--primary", onclick: () => this.#ask({ text: this.field?.value }) }, t("live.make"));
    this.field.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Enter" || event.shiftKey) return;
      event.preventDefault();
      this.#ask({ text: this.field?.value });
    });
    return h("div", { class: "live__form" },
      h("label", { for: "live-text" }, t("live.text")), this.field,
      h("div", { class: "live__send" }, this.make, this.count));
  }

  /** Other images of the prompt. @param {{token: string}[]} others */
  #gallery(others) {
    const { t, signal } = this.tools;
    const pictures = others.map(({ token }, place) => {
      const image = h("img", { alt: t("image.lettered", { letter: String(place + 1) }), src: `${base}/api/live/image/other/${token}` });
      return h("button", { type: "button", class: "live__other", "aria-pressed": "false", onclick: () => {
        for (const other of pictures) other.setAttribute("aria-pressed", String(other === pictures[place]));
        this.#ask({ picked: token });
      } }, image);
    });
    signal.addEventListener("abort", () => pictures.forEach((each) => each.remove()));
    return h("div", { class: "live__form" }, h("h2", {}, t("live.pick")), h("div", { class: "live__others" }, pictures), this.count);
  }

  /** Ask for a result and wait for it. @param {{text?: string, picked?: string}} wish */
  async #ask(wish) {
    const { api, t, signal } = this.tools;
    const longest = this.trial.settings.longest;
    if (this.asking) return;
    if (!this.scored && (wish.text ?? "").trim().length < SHORTEST) return this.#say(t("live.length", { shortest: SHORTEST, longest }));
    this.asking = true;
    this.make?.setAttribute("disabled", "");
    this.#say(t(this.scored ? "live.scoring" : "live.waiting"));
    this.left.dataset.waiting = "true";
    try {
      const { attempts: [attempt], refused } = await api.post("/api/live", { trial: this.trial.trial, ...wish });
      if (refused) return this.#say(t(`live.${refused}`, { shortest: SHORTEST, longest }));
      let result = await api.get(`/api/live/result/${attempt}`);
      while (result.status === "waiting" && !signal.aborted) {
        await pause(POLL_MS);
        result = await api.get(`/api/live/result/${attempt}`);
      }
      return this.#arrived(result);
    } finally {
      this.asking = false;
      this.make?.removeAttribute("disabled");
      delete this.left.dataset.waiting;
    }
  }

  /** @param {Result} result */
  #arrived(result) {
    const { t } = this.tools;
    if (result.status === "failed") return this.#say(t("live.failed"));
    this.tries -= 1;
    this.count.textContent = t("live.left", { left: this.tries });
    if (result.status === "refused") return this.#say(t("live.refused", { note: result.note }));
    this.#show(result);
    return this.#open();
  }

  /** @param {Result} result */
  #show(result) {
    const { t } = this.tools;
    this.result = result;
    this.tags.clear();
    this.missing.clear();
    this.#say("");
    if (result.scores) {
      const [shown, picked] = result.scores.map((score) => score.toPrecision(3));
      this.#say(`${t("live.scores", { shown, picked })} ${t(result.scores[1] > result.scores[0] ? "live.higher" : "live.lower")}`);
    } else {
      this.caption.replaceChildren(`${t("live.yours")}: `, h("q", {}, result.text));
      document.querySelector(".ask__prompt")?.toggleAttribute("hidden", true); // the prompt of the example
      const frame = h("div", { class: "picture__face" }, h("img", { src: `${base}/api/live/image/${result.attempt}`, alt: t("live.yours") }));
      const ratio = (result.width ?? 1) / (result.height ?? 1);
      this.stage.replaceChildren(h("div", { class: "cell" }, h("div", { class: "picture", vars: { "--ratio": ratio } }, frame)));
    }
    this.judging.replaceChildren(this.#tagField(), this.#wordField(result.words));
    this.judging.hidden = false;
  }

  #tagField() {
    const { t } = this.tools;
    const toggles = this.trial.settings.tags.map((/** @type {string} */ tag) => h("button", {
      type: "button", class: "word word--tag", "aria-pressed": "false", onclick: (/** @type {Event} */ event) => {
        this.#toggle(this.tags, tag, event);
        this.wordField?.toggleAttribute("hidden", !this.tags.has(MISSING));
      },
    }, t(`tag.${tag}`)));
    return h("section", { class: "words" }, h("h2", {}, t("live.tags")),
      h("div", { class: "words__list", role: "group", "aria-label": t("live.tags") }, toggles));
  }

  /** @param {string[]} words */
  #wordField(words) {
    const { t } = this.tools;
    this.wordField = h("section", { class: "words", hidden: true }, h("h2", {}, t("live.words")),
      h("div", { class: "words__list", role: "group", "aria-label": t("live.words") }, words.map((word, place) =>
        h("button", { type: "button", class: "word", "aria-pressed": "false",
          onclick: (/** @type {Event} */ event) => this.#toggle(this.missing, place, event) }, word))));
    return this.wordField;
  }

  /** @template T @param {Set<T>} chosen @param {T} which @param {Event} event */
  #toggle(chosen, which, event) {
    if (!chosen.delete(which)) chosen.add(which);
    /** @type {HTMLElement} */ (event.currentTarget).setAttribute("aria-pressed", String(chosen.has(which)));
  }

  /** Take an answer; a claim needs a tag. @returns {Promise<void>} */
  async #open() {
    if (!this.resolve || this.opened) return;
    this.opened = true;
    const given = await this.bar.open(performance.now());
    this.opened = false;
    if (given.choice === "fails" && this.tags.size === 0) {
      this.#say(this.tools.t("live.tag-needed"));
      const bar = new AnswerBar(this.trial.options, this.tools);
      this.bar.element.replaceWith(bar.element);
      this.bar = bar;
      return this.#open();
    }
    this.resolve(given);
  }

  /** @param {string} words */
  #say(words) {
    this.said.textContent = words;
  }
}
