// Entry by the link that was followed, once per link.

import { Refused } from "/static/api.js";
import { base, linkMark } from "/static/link.js";

const STORAGE_KEY = "beholder.entered";
const RESUME = "beholder.resume";

/**
 * The state of the session of this link: the running one after a reload, or else a new entry.
 * @param {import("./api.js").Api} api
 * @param {string} language
 */
export async function enterOrResume(api, language) {
  if (localStorage.getItem(STORAGE_KEY) !== linkMark()) return enter(api, language);
  return currentState(api, language);
}

/**
 * The state by the cookie; where the server does not know it, by the link.
 * @param {import("./api.js").Api} api
 * @param {string} language
 */
export async function currentState(api, language) {
  try {
    return await api.get("/api/state");
  } catch (error) {
    if (error instanceof Refused && error.status === 401) return enter(api, language);
    throw error;
  }
}

/**
 * @param {import("./api.js").Api} api
 * @param {string} language
 */
export async function enter(api, language) {
  const parameters = Object.fromEntries(new URLSearchParams(location.search));
  const state = await api.post("/api/enter", { parameters, path: location.pathname.slice(base.length) || "/", language });
  localStorage.setItem(STORAGE_KEY, linkMark());
  if (state.resume) localStorage.setItem(RESUME, state.resume);
  else localStorage.removeItem(RESUME);
  return state;
}

/** The link by which the session goes on on another device; told at entry, and kept for a reload. */
export function resumeLink() {
  const told = localStorage.getItem(RESUME);
  return told && new URL(base + (told.startsWith("/") ? told : `/r/${told}`), location.origin).href;
}
