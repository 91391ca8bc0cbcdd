// Answers that the server has not acknowledged yet, kept over reloads and crashes.

const PLACE = "beholder.outbox";

export const outbox = {
  /** @returns {Record<string, any>[]} in the order given */
  all() {
    return JSON.parse(localStorage.getItem(PLACE) ?? "[]");
  },

  /** @param {Record<string, any>} answer with its idempotency key */
  keep(answer) {
    localStorage.setItem(PLACE, JSON.stringify([...this.all(), answer]));
  },

  /** @param {string} key */
  forget(key) {
    const rest = this.all().filter((answer) => answer.key !== key);
    if (rest.length) localStorage.setItem(PLACE, JSON.stringify(rest));
    else localStorage.removeItem(PLACE);
  },
};

/** A fresh idempotency key: 128 random bits. `crypto.randomUUID` is missing on plain http. */
export function freshKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
