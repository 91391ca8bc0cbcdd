// Active time: how long the rater did something on this page; a pause counts for at most 30 seconds.

const IDLE_MS = 30_000;
const SIGNS = ["pointerdown", "pointermove", "keydown", "wheel", "scroll", "touchstart"];

export class ActiveTime {
  constructor() {
    this.counted = 0;
    this.last = performance.now();
    for (const sign of SIGNS) window.addEventListener(sign, () => this.count(), { passive: true, capture: true });
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.count();
      this.last = performance.now();
    });
  }

  /** Count the time since the last sign of life, up to the limit. */
  count() {
    const now = performance.now();
    if (!document.hidden) this.counted += Math.min(now - this.last, IDLE_MS);
    this.last = now;
  }

  /** Seconds since they were last taken. */
  take() {
    if (!document.hidden && performance.now() - this.last < IDLE_MS) this.count();
    const seconds = this.counted / 1000;
    this.counted = 0;
    return seconds;
  }

  /** Give back what could not be sent. @param {number} seconds */
  giveBack(seconds) {
    this.counted += 1000 * seconds;
  }
}
