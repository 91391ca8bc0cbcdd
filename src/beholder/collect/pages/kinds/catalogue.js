// How each kind of question is shown and answered. A new kind is a file beside this, and a line below.

import { choice } from "/static/kinds/choice.js";
import { pair } from "/static/kinds/pair.js";
import { ranking } from "/static/kinds/ranking.js";
import { rating } from "/static/kinds/rating.js";
import { realism } from "/static/kinds/realism.js";
import { richFeedback } from "/static/kinds/rich_feedback.js";
import { sideBySide } from "/static/kinds/side_by_side.js";
import { sweep } from "/static/kinds/sweep.js";
import { timedRealism } from "/static/kinds/timed_realism.js";
import { writePrompt } from "/static/kinds/write_prompt.js";

/**
 * @typedef {object} Kind
 * @property {(container: HTMLElement, trial: any, tools: import("../steps/trial.js").TrialTools)
 *   => Promise<import("../steps/trial.js").Answer>} render
 * @property {(question: any) => [string[], string][]} keys what each key does: key names and a key of the texts
 * @property {() => SVGElement[]} sketch the parts of its drawing in the instructions
 * @property {string} [attention] key of the text of an attention check whose answer is no choice; it has `value`
 * @property {boolean} [hurried] whether training has no time to look at the image again
 */

/** @type {Record<string, Kind>} */
export const KINDS = {
  "realism": realism,
  "timed-realism": timedRealism,
  "pair": pair,
  "ranking": ranking,
  "side-by-side-5": sideBySide,
  "rating": rating,
  "rich-feedback": richFeedback,
  "sweep": sweep,
  "choice": choice,
  "write-prompt": writePrompt,
};
