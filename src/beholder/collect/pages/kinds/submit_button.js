// The button that ends an answer of several parts; it rests until all parts are there.

import { h } from "/static/dom.js";
import { keyCap } from "/static/kinds/choice_keys.js";
import { Gate, onKeys } from "/static/keys.js";

export class SubmitButton {
  /**
   * @param {string} key that does the same
   * @param {import("../steps/trial.js").TrialTools} tools
   */
  constructor(key, tools) {
    this.key = key;
    this.tools = tools;
    this.gate = new Gate();
    this.element = h("button", { type: "button", class: "button button--primary submit", disabled: true },
      tools.t("trial.submit"), h("kbd", { "aria-hidden": "true" }, keyCap(key, tools.t)));
  }

  /** @param {boolean} ready */
  allow(ready) {
    this.element.disabled = !ready;
  }

  /** @param {number} at since when one can answer @returns {Promise<number>} when it was pressed */
  pressed(at) {
    this.gate.open(at);
    return new Promise((resolve) => {
      const press = (/** @type {Event} */ event) => {
        if (this.element.disabled || !this.gate.lets(event)) return;
        this.element.disabled = true;
        this.gate.close();
        resolve(event.timeStamp);
      };
      this.element.addEventListener("click", press);
      onKeys({ [this.key]: press }, this.gate, this.tools.signal);
    });
  }
}
