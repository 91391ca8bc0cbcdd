// Promises for time, frames and outside decisions.

/**
 * @param {number} ms
 * @param {AbortSignal} [signal] ends the wait early
 * @returns {Promise<void>}
 */
export function pause(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => { clearTimeout(timer); resolve(); }, { once: true });
  });
}

/** The time stamp of the next frame. @returns {Promise<number>} */
export function nextFrame() {
  return new Promise((resolve) => requestAnimationFrame(resolve));
}

/**
 * A promise with its two ends.
 * @template T
 * @returns {{promise: Promise<T>, resolve: (value: T) => void, reject: (reason: any) => void}}
 */
export function deferred() {
  /** @type {any} */
  const ends = {};
  ends.promise = new Promise((resolve, reject) => Object.assign(ends, { resolve, reject }));
  return ends;
}
