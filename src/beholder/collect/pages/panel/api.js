// The interface of a rater's own page: every change carries the token that the page was given.

/** The server refused the request, or could not be reached. */
export class Failed extends Error {
  /** @param {number} status @param {string} code */
  constructor(status, code) {
    super(code);
    this.status = status;
    this.code = code;
  }
}

let csrf = "";

/** All that the page shows. @returns {Promise<any>} */
export async function me() {
  const page = await reach("/api/me", {});
  csrf = page.csrf;
  return page;
}

/** @param {string} path @returns {Promise<any>} */
export function get(path) {
  return reach(path, {});
}

/** @param {string} path @param {object} [body] @returns {Promise<any>} */
export function post(path, body = {}) {
  const headers = { "content-type": "application/json", "X-Beholder-CSRF": csrf };
  return reach(path, { method: "POST", headers, body: JSON.stringify(body) });
}

/** @param {string} path @param {RequestInit} options */
async function reach(path, options) {
  const response = await fetch(path, { credentials: "same-origin", ...options }).catch(() => null);
  if (!response) throw new Failed(0, "offline");
  const body = await response.json().catch(() => null);
  if (response.ok) return body;
  throw new Failed(response.status, body?.detail?.code ?? "refused");
}
