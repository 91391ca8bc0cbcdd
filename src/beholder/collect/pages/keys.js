// Keys and clicks that count: none before the images are shown, none held down, none meant for something else.

/** Earliest response after an image appears that counts. */
export const SOONEST_MS = 100;

/** Opens when there is something to answer. */
export class Gate {
  openedAt = Infinity;

  /** @param {number} at time stamp of the frame that shows what is asked about */
  open(at) {
    this.openedAt = at;
  }

  close() {
    this.openedAt = Infinity;
  }

  /** Whether an event may count as an answer. @param {Event} event */
  lets(event) {
    return event.timeStamp >= this.openedAt + SOONEST_MS;
  }
}

/**
 * Listen for plain key presses. The handler of a key returns false where it had no use for it.
 * @param {Record<string, (event: KeyboardEvent) => void | boolean>} bindings by `event.key`, letters in lower case
 * @param {Gate} gate
 * @param {AbortSignal} signal
 */
export function onKeys(bindings, gate, signal) {
  document.addEventListener("keydown", (event) => {
    const handler = bindings[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!handler || !isPlain(event) || isTaken(event)) return;
    if (event.repeat || !gate.lets(event)) return event.preventDefault();
    if (handler(event) !== false) event.preventDefault();
  }, { signal });
}

/** No modifier that makes it a command of the browser. @param {KeyboardEvent} event */
function isPlain(event) {
  return !event.ctrlKey && !event.metaKey && !event.altKey;
}

/** Whether the key belongs to a dialog, a field or a control. @param {KeyboardEvent} event */
function isTaken(event) {
  if (document.querySelector("dialog[open]")) return true;
  const { target } = event;
  if (!(target instanceof Element)) return false;
  if (target.matches("textarea, select, input[type=text]")) return true;
  if (event.key.startsWith("Arrow")) return target.matches("input");
  if (event.key === " ") return target.closest("button, a, input") !== null;
  return event.key === "Enter" && target.closest("button, a") !== null;
}
