// The server's interface: every request is repeated until it is answered; an answer is never lost.

import { ActiveTime } from "/static/active.js";
import { base } from "/static/link.js";
import { freshKey, outbox } from "/static/outbox.js";
import { pause } from "/static/waiting.js";

const TIMEOUT_MS = 20_000;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
const HEARTBEAT_MS = 30_000;

/** The server refused the request. */
export class Refused extends Error {
  /**
   * @param {number} status
   * @param {string} code
   * @param {string} message
   */
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export class Api {
  /** @param {import("./notice.js").Notice} notice */
  constructor(notice) {
    this.notice = notice;
    this.active = new ActiveTime();
  }

  /** @param {string} path @returns {Promise<any>} */
  get(path) {
    return this.#insist("GET", path);
  }

  /** @param {string} path @param {object} [body] @returns {Promise<any>} */
  post(path, body = {}) {
    return this.#insist("POST", path, body);
  }

  /**
   * Keep the answer, send it until it is acknowledged, and only then forget it.
   * @param {object} body all but its key
   * @returns {Promise<{state: any, feedback: {right: boolean, expected: string} | null, spoiled: boolean}>}
   */
  answer(body) {
    const answer = { ...body, key: freshKey() };
    outbox.keep(answer);
    return this.#deliver(answer);
  }

  /** Send what an earlier life of this page could not; what is refused by now is dropped. */
  async settle() {
    for (const { answer } of outbox.all()) {
      await this.#deliver(answer).catch((error) => {
        if (!(error instanceof Refused)) throw error;
      });
    }
  }

  /** Tell the server from time to time that someone is here. */
  keepAlive() {
    setInterval(() => {
      if (!document.hidden) this.#beat();
    }, HEARTBEAT_MS);
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.#beat({ keepalive: true });
    });
  }

  /** Active time of the session so far, as the server has it. @returns {Promise<number>} */
  async activeSeconds() {
    return (await this.post("/api/time", { active: this.active.take() })).active_seconds;
  }

  /** @param {RequestInit} [more] */
  #beat(more = {}) {
    const active = this.active.take();
    fetch(`${base}/api/heartbeat`, { ...options("POST", { active }), ...more }).catch(() => this.active.giveBack(active));
  }

  /** @param {Record<string, any>} answer */
  async #deliver(answer) {
    try {
      const reply = await this.#insist("POST", "/api/answer", answer, true);
      outbox.forget(answer.key);
      return reply;
    } catch (error) {
      if (error instanceof Refused && error.status !== 401 && outbox.isOurs(answer.key)) outbox.forget(answer.key);
      throw error;
    }
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {object} [body]
   * @param {boolean} [keeping]
   */
  async #insist(method, path, body, keeping = false) {
    this.notice.busy();
    for (let wait = FIRST_WAIT_MS; ; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
      const response = await fetch(base + path, options(method, body)).catch(() => null);
      if (response && response.status < 500 && response.status !== 429) {
        this.notice.clear();
        return unpack(response);
      }
      this.notice.offline(keeping);
      await Promise.race([pause(wait), backOnline()]);
    }
  }
}

/** @param {string} method @param {object} [body] @returns {RequestInit} */
function options(method, body) {
  return {
    method,
    headers: body ? { "content-type": "application/json" } : {},
    body: body && JSON.stringify(body),
    credentials: "same-origin",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  };
}

/** @param {Response} response */
async function unpack(response) {
  const body = response.status === 204 ? null : await response.json().catch(() => null);
  if (response.ok) return body;
  const detail = body?.detail ?? {};
  throw new Refused(response.status, detail.code ?? "refused", detail.message ?? response.statusText);
}

/** @returns {Promise<void>} */
function backOnline() {
  return new Promise((resolve) => {
    if (!navigator.onLine) window.addEventListener("online", () => resolve(), { once: true });
  });
}
