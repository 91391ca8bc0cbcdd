// The screen's frame period, estimated from the time stamps of animation frames.

import { nextFrame } from "/static/waiting.js";

/** How many of the latest deltas count. */
const KEPT = 120;
/** Taken until something was measured: 60 Hz. */
const USUAL_MS = 1000 / 60;

export class FrameClock {
  constructor() {
    /** @type {number[]} */
    this.deltas = [];
    this.last = NaN;
  }

  /** Milliseconds per frame. */
  get period() {
    return this.known ? typical(this.deltas) : USUAL_MS;
  }

  /** Whether enough frames were seen. */
  get known() {
    return this.deltas.length >= KEPT / 4;
  }

  /** Note a frame of a running series; returns the time since the frame before (NaN for the first). @param {number} at */
  tick(at) {
    const delta = at - this.last;
    this.last = at;
    if (delta > 0) {
      this.deltas.push(delta);
      if (this.deltas.length > KEPT) this.deltas.shift();
    }
    return delta;
  }

  /** A new series begins: the time up to its first frame tells nothing. */
  rest() {
    this.last = NaN;
  }

  /**
   * Measure for so many frames.
   * @param {number} frames
   * @param {AbortSignal} signal
   * @param {(progress: number, period: number) => void} [onProgress]
   */
  async measure(frames, signal, onProgress) {
    this.rest();
    this.deltas = [];
    for (let frame = 0; frame <= frames && !signal.aborted; frame += 1) {
      this.tick(await nextFrame());
      if (onProgress && this.deltas.length > 8) onProgress(frame / frames, typical(this.deltas));
    }
    return this.period;
  }
}

/**
 * The median, sharpened: the mean of the deltas within a quarter of it. Browsers that round time stamps to whole
 * milliseconds give 17, 16, 17 …, whose median alone would be a frame short in a second.
 * @param {number[]} deltas
 */
export function typical(deltas) {
  const sorted = [...deltas].sort((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)];
  const near = sorted.filter((delta) => Math.abs(delta - median) <= median / 4);
  return near.reduce((sum, delta) => sum + delta, 0) / near.length;
}

/** Whole frames nearest to a time, at least one. @param {number} ms @param {number} period */
export function toFrames(ms, period) {
  return Math.max(1, Math.round(ms / period));
}
