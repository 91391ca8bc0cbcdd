// One image for a glance after a countdown, then masks: real or generated?

import { choiceKeys } from "/static/kinds/choice_keys.js";
import { glimpse } from "/static/kinds/glimpse.js";
import { arrow, buttons, label, noise, scene } from "/static/kinds/sketch.js";

export const timedRealism = {
  /** @type {import("./catalogue.js").Kind["render"]} */
  render(container, trial, tools) {
    const { countdown_ms: countdownMs, masks, mask_ms: maskMs } = trial.settings;
    return glimpse(container, trial, tools, { ms: trial.exposure_ms, countdownMs, masks, maskMs, strict: true });
  },

  /** @returns {[string[], string][]} */
  keys(/** @type {any} */ question) {
    return [[[" "], "keys.start"], ...choiceKeys(question)];
  },

  sketch: () => [
    label(38, 62, "3·2·1"), arrow(68, 58), scene(88, 20, 76, 76), arrow(172, 58), noise(192, 20, 36), arrow(236, 58),
    label(275, 66, "?", "sketch__large"), ...buttons(2),
  ],

  hurried: true,
};
