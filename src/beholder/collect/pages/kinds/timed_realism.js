// One image for a glance after a countdown, then masks: real or generated?

import { choiceKeys } from "/static/kinds/choice_keys.js";
import { glimpse } from "/static/kinds/glimpse.js";

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
};
