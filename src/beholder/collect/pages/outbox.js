// Answers that the server has not acknowledged yet, kept over reloads and crashes.

import { linkMark } from "/static/link.js";

const STORAGE_KEY = "beholder.outbox";

/** @typedef {{link: string, answer: Record<string, any>}} PendingAnswer an answer with its key, and the link it was given under */

export const outbox = {
  /** @returns {PendingAnswer[]} in the order given */
  all() {
    return JSON.parse(localStorage.getItem(STORAGE_KEY) ?? "[]");
  },

  /** @param {Record<string, any>} answer with its idempotency key */
  keep(answer) {
    localStorage.setItem(STORAGE_KEY, JSON.stringify([...this.all(), { link: linkMark(), answer }]));
  },

  /** @param {string} key */
  forget(key) {
    const rest = this.all().filter(({ answer }) => answer.key !== key);
    if (rest.length) localStorage.setItem(STORAGE_KEY, JSON.stringify(rest));
    else localStorage.removeItem(STORAGE_KEY);
  },

  /** Whether a refusal is final: an answer of another link may still find its own session. @param {string} key */
  isOurs(key) {
    return this.all().some(({ link, answer }) => answer.key === key && link === linkMark());
  },
};

/** A fresh idempotency key: 128 random bits. `crypto.randomUUID` is missing on plain http. */
export function freshKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
