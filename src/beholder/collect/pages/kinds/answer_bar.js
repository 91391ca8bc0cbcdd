// A row of answers, each a button and some keys; it rests until the images have been shown.

import { h } from "/static/dom.js";
import { keyCap, keysOf } from "/static/kinds/choice_keys.js";
import { Gate, onKeys } from "/static/keys.js";

export class AnswerBar {
  /**
   * @param {string[]} options the choices, exactly as the server names them, from left to right
   * @param {import("../steps/trial.js").TrialTools} tools
   * @param {Record<string, string | Element>} [symbols] a sign for a choice
   */
  constructor(options, tools, symbols = {}) {
    this.options = options;
    this.tools = tools;
    this.gate = new Gate();
    this.buttons = options.map((choice) => this.#button(choice, symbols[choice]));
    this.element = h("div", {
      class: "answers", role: "group", "aria-label": tools.t("trial.answers"), "data-count": options.length,
    }, this.buttons);
  }

  /**
   * Take an answer from now on.
   * @param {number} at time stamp of the frame since when one can answer
   * @returns {Promise<{choice: string, at: number}>}
   */
  open(at) {
    this.gate.open(at);
    for (const button of this.buttons) button.disabled = false;
    return new Promise((resolve) => {
      const choose = (/** @type {string} */ choice) => (/** @type {Event} */ event) => {
        if (!this.gate.lets(event)) return;
        this.#settle(choice);
        resolve({ choice, at: event.timeStamp });
      };
      this.options.forEach((choice, position) => this.buttons[position].addEventListener("click", choose(choice)));
      onKeys(this.#bindings(choose), this.gate, this.tools.signal);
    });
  }

  /** @param {(choice: string) => (event: Event) => void} choose */
  #bindings(choose) {
    return Object.fromEntries(
      this.options.flatMap((choice) => keysOf(choice, this.options).map((key) => [key, choose(choice)])),
    );
  }

  /** One answer is enough. @param {string} chosen */
  #settle(chosen) {
    this.gate.close();
    this.options.forEach((choice, position) => {
      this.buttons[position].disabled = true;
      this.buttons[position].setAttribute("aria-pressed", String(choice === chosen));
    });
  }

  /** @param {string} choice @param {string | Element} [symbol] */
  #button(choice, symbol) {
    const { t } = this.tools;
    const keys = keysOf(choice, this.options);
    return h("button", { type: "button", class: "answer", disabled: true, "data-choice": choice },
      symbol && h("span", { class: "answer__symbol", "aria-hidden": "true" }, symbol),
      h("span", { class: "answer__text" }, t(`choice.${choice}`)),
      h("span", { class: "answer__keys", "aria-hidden": "true" }, keys.map((key) => h("kbd", {}, keyCap(key, t)))));
  }
}

/**
 * The answer that consists of one choice.
 * @param {string} aspect
 * @param {{choice: string, at: number}} chosen
 * @param {number} since
 * @returns {import("../steps/trial.js").Answer}
 */
export function chosenAnswer(aspect, { choice, at }, since) {
  return { said: [{ aspect, choice }], marks: [], seconds: secondsBetween(since, at), spoiled: false };
}

/** @param {number} since @param {number} until both in milliseconds */
export function secondsBetween(since, until) {
  return Math.max(0, Math.round(until - since)) / 1000;
}
