// A study's own words for the choices, in place of ours, wherever a choice is named.

/**
 * @param {import("./texts.js").Translate} t
 * @param {Record<string, string>} [labels] choice -> the study's word for it
 * @returns {import("./texts.js").Translate}
 */
export function withLabels(t, labels = {}) {
  return (key, values) => {
    const choice = key.startsWith("choice.") ? key.slice("choice.".length) : "";
    return Object.hasOwn(labels, choice) ? labels[choice] : t(key, values);
  };
}
