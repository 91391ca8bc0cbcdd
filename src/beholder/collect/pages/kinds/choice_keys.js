// The keys of every choice, alike in all kinds: the left hand for the left, the right hand for the right. Options that
// a study names itself have digits, then letters, in their order.

/** @type {Record<string, string[]>} */
const KEYS = {
  "real": ["f", "ArrowLeft"],
  "generated": ["j", "ArrowRight"],
  "left-much": ["d", "1"],
  "left": ["f", "ArrowLeft"],
  "tie": ["t", "ArrowDown"],
  "same": ["t", "ArrowDown"],
  "both-bad": ["b", "ArrowUp"],
  "right": ["j", "ArrowRight"],
  "right-much": ["k", "5"],
  "several": ["s"],
  "cannot-tell": ["c"],
};

const IN_ORDER = "1234567890qwertyuiop";

const DIGITS_OF_FIVE = { "left": "2", "same": "3", "right": "4" };

/**
 * @param {string} choice
 * @param {string[]} options all choices of the question
 */
export function keysOf(choice, options) {
  const named = options.filter((option) => option !== "several" && option !== "cannot-tell");
  const own = named.every((option) => KEYS[option]) && new Set(named.map((option) => KEYS[option][0])).size === named.length;
  if (!own && named.includes(choice)) return [IN_ORDER[named.indexOf(choice)]];
  const digit = options.length === 5 && DIGITS_OF_FIVE[/** @type {keyof typeof DIGITS_OF_FIVE} */ (choice)];
  return digit ? [...KEYS[choice], digit] : KEYS[choice];
}

/** What to print on a key cap. @param {string} key @param {import("../texts.js").Translate} t */
export function keyCap(key, t) {
  const names = {
    "ArrowLeft": "←", "ArrowRight": "→", "ArrowUp": "↑", "ArrowDown": "↓", "Enter": t("key.enter"), " ": t("key.space"),
    "Tab": t("key.tab"), "Shift": t("key.shift"), "Backspace": "⌫", "arrows": "← ↑ ↓ →", "digits": "1 – 9",
  };
  return names[/** @type {keyof typeof names} */ (key)] ?? key.toUpperCase();
}

/**
 * The lines of the instructions for the choices on offer.
 * @param {{options: string[]}} question
 * @returns {[string[], string][]}
 */
export function choiceKeys({ options }) {
  return options.map((choice) => [keysOf(choice, options), `choice.${choice}`]);
}
