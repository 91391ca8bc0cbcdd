// An attention check in words: the server names the answer, the rater's language says it.

import { KINDS } from "/static/kinds/catalogue.js";

/**
 * @param {any} task
 * @param {import("../texts.js").Translate} t
 */
export function attentionText({ instruction, kind, options }, t) {
  if (options.includes(instruction)) return t("attention.choice", { choice: t(`choice.${instruction}`) });
  const { attention } = KINDS[kind];
  return attention && /^[\d. ]+$/.test(instruction) ? t(attention, { value: instruction }) : instruction;
}
