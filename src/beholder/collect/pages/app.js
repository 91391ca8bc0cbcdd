// The loop of a rater's page: the server says which step to show; a step ends in the next state.

import { Api, Refused } from "/static/api.js";
import { currentState, enterOrResume } from "/static/entry.js";
import { FrameClock } from "/static/frames.js";
import { Images } from "/static/images.js";
import { Notice } from "/static/notice.js";
import { outbox } from "/static/outbox.js";
import { STEPS } from "/static/steps/catalogue.js";
import { elsewhere } from "/static/steps/elsewhere.js";
import { refused } from "/static/steps/refused.js";
import { joinTabs } from "/static/tabs.js";
import { Texts, loadTexts, preferredLanguage } from "/static/texts.js";
import { deferred } from "/static/waiting.js";

/** Languages that texts exist for before the server has told the study's own. */
const LANGUAGES = ["en", "de"];

/**
 * What a step may use.
 * @typedef {object} Tools
 * @property {Api} api
 * @property {import("./texts.js").Texts} texts
 * @property {import("./texts.js").Translate} t
 * @property {Images} images
 * @property {FrameClock} clock
 * @property {AbortSignal} signal the step is over
 * @property {(state: any) => void} go leave the step for another state
 * @property {() => Promise<any>} refresh ask the server where we stand
 * @property {(error: any) => void} explain say why the server refused, if there are words for it
 * @property {{rolling: boolean, rested: string}} flow whether timed trials follow each other without a stop, and before which trial a break was offered
 */

class App {
  /** @param {HTMLElement} container */
  constructor(container) {
    this.container = container;
    this.notice = new Notice(/** @type {HTMLElement} */ (document.getElementById("notice")));
    this.api = new Api(this.notice);
    this.images = new Images((waiting) => this.notice.preparing(waiting));
    this.clock = new FrameClock();
    this.texts = new Texts("", {});
    this.flow = { rolling: false, rested: "" };
    this.jump = deferred();
  }

  /** Come in and show step after step. */
  async start() {
    await this.speak(preferredLanguage(LANGUAGES));
    this.tabs = joinTabs(() => this.jump.resolve({ step: "elsewhere" }));
    this.tabs.claim();
    this.api.keepAlive();
    await enterOrResume(this.api, this.texts.language);
    let state = await this.refresh();
    for (;;) state = await this.perform(state);
  }

  /** One step, until it ends, is left, or is refused. @param {any} state */
  async perform(state) {
    const over = new AbortController();
    this.jump = deferred();
    try {
      await this.prepare(state);
      const step = state.step === "elsewhere" ? this.pausedHere : STEPS[state.step];
      return await Promise.race([this.jump.promise, step(this.container, state, this.tools(over.signal))]);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const now = await this.refresh();
      this.explain(error);
      return now;
    } finally {
      over.abort();
    }
  }

  /** @param {any} error */
  explain(error) {
    const key = `refused.${error?.code}`;
    if (this.texts.has(key)) this.notice.say(key, "offline");
  }

  /** @param {any} state */
  async prepare(state) {
    if (!state.study) return;
    document.title = state.study.title;
    if (state.study.language !== this.texts.language) await this.speak(state.study.language);
  }

  /** Send what is still kept, and ask where we stand. */
  async refresh() {
    const state = await currentState(this.api, this.texts.language);
    if (!outbox.all().length) return state;
    await this.api.settle();
    return currentState(this.api, this.texts.language);
  }

  /** Another tab goes on; wait to be called back. */
  pausedHere = async (/** @type {HTMLElement} */ container, /** @type {any} */ _state, /** @type {Tools} */ tools) => {
    await elsewhere(container, tools);
    this.tabs?.claim();
    return this.refresh();
  };

  /** @param {string} language */
  async speak(language) {
    this.texts = await loadTexts(this.api, language);
    this.notice.t = this.texts.t;
    document.documentElement.lang = language;
  }

  /** @param {AbortSignal} signal @returns {Tools} */
  tools(signal) {
    const { api, texts, images, clock, flow } = this;
    const jump = this.jump;
    return {
      api, texts, t: texts.t, images, clock, flow, signal,
      go: (state) => jump.resolve(state), refresh: () => this.refresh(),
      explain: (error) => this.explain(error),
    };
  }
}

const app = new App(/** @type {HTMLElement} */ (document.getElementById("app")));
app.start().catch((error) => {
  if (!(error instanceof Refused)) console.error(error);
  refused(app.container, app.texts, error);
});
