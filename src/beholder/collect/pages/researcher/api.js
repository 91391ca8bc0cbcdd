// The researcher's HTTP interface: every change carries the CSRF token of the overview.

import { sentence, t } from "/static/researcher/language.js";

/** The server refused the request, or could not be reached. */
export class Failed extends Error {
  /** @param {number} status @param {string} message */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** What stands before all paths of this study: empty, or `/s/NAME` on the server of a panel. */
export const base = location.pathname.split("/researcher")[0];

const BASE = `${base}/researcher/api`;
let csrf = "";

/** @param {string} path @returns {Promise<any>} */
export async function get(path) {
  const body = await unpack(await reach(`${BASE}${path}`, {}));
  if (body.csrf) csrf = body.csrf;
  return body;
}

/** @param {string} path @param {object} body @returns {Promise<any>} */
export async function post(path, body) {
  const headers = { "content-type": "application/json", "X-Beholder-CSRF": csrf };
  return unpack(await reach(`${BASE}${path}`, { method: "POST", headers, body: JSON.stringify(body) }));
}

/** End the cookie, and go to the page that asks who it is. */
export async function signOut() {
  await post("/sign-out", {});
  location.replace(`${base}/researcher`);
}

/** Fetch a file and hand it to the browser as a download. @param {string} path @param {string} name */
export async function download(path, name) {
  const response = await reach(`${BASE}${path}`, {});
  if (!response.ok) await unpack(response);
  const address = URL.createObjectURL(await response.blob());
  const link = Object.assign(document.createElement("a"), { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** @param {string} path @param {RequestInit} options */
async function reach(path, options) {
  const response = await fetch(path, { credentials: "same-origin", ...options }).catch(() => null);
  if (!response) throw new Failed(0, t("failed.unreachable"));
  if (response.status === 401) location.replace(`${base}/researcher`);
  return response;
}

/** @param {Response} response */
async function unpack(response) {
  const body = await response.json().catch(() => null);
  if (response.ok) return body;
  const detail = body?.detail;
  const message = Array.isArray(detail) ? detail.map((part) => part.msg).join("; ") : detail?.message;
  throw new Failed(response.status, message ? sentence(message) : t("failed.status", { status: response.status }));
}
