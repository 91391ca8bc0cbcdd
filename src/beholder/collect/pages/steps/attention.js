// An attention check in words: the server names the answer, the rater's language says it.

/**
 * @param {any} task
 * @param {import("../texts.js").Translate} t
 */
export function attentionText({ instruction, kind, options }, t) {
  if (options.includes(instruction)) return t("attention.choice", { choice: t(`choice.${instruction}`) });
  if (!/^[\d. ]+$/.test(instruction)) return instruction;
  if (kind === "ranking") return t("attention.ranking");
  return kind === "sweep" ? t("attention.presses", { count: instruction }) : t("attention.value", { value: instruction });
}
