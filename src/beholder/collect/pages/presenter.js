// Shows phases (countdown, image, masks, blank) on a canvas for whole frames, and knows what was really shown.
//
// A phase is drawn inside an animation frame and replaced in the frame that is nearest to its end by the frame time
// stamps. The picture on the screen changes one vertical blank later, alike at onset and offset, so the difference of
// the two time stamps is the exposure. A gap between frames of more than 1.5 periods is a dropped frame.

import { toFrames } from "/static/frames.js";

const GAP = 1.5;

/**
 * @typedef {object} Phase
 * @property {string} name
 * @property {number} frames
 * @property {(context: CanvasRenderingContext2D) => void} draw
 * @property {boolean} [catchUp] keep to the schedule of the phase before, shorter if that was late
 */

/** @typedef {{from: number, to: number, frames: number}} Drop frames lost between two times */

/**
 * @typedef {object} Shown what happened
 * @property {number[]} starts frame time of each phase, NaN if never drawn
 * @property {Drop[]} drops
 * @property {"" | "blurred" | "hidden"} stopped why it was broken off
 * @property {number} ended
 */

/**
 * @typedef {object} Exposure as the server stores it
 * @property {number} intended_ms
 * @property {number} intended_frames
 * @property {number} shown_ms
 * @property {number} shown_frames
 * @property {number} dropped_frames
 * @property {number} frame_ms
 * @property {number} onset_ms
 * @property {number} offset_ms
 * @property {boolean} blurred
 * @property {number} pixel_ratio
 * @property {[number, number]} viewport
 */

export class Presenter {
  /**
   * @param {CanvasRenderingContext2D} context of an opaque canvas whose size stays
   * @param {import("./frames.js").FrameClock} clock
   */
  constructor(context, clock) {
    this.context = context;
    this.clock = clock;
  }

  /**
   * Whole frames for a time.
   * @param {number} ms
   */
  frames(ms) {
    return toFrames(ms, this.clock.period);
  }

  /**
   * Show the phases one after the other; ends early if the page loses the focus or is hidden.
   * @param {Phase[]} phases
   * @param {AbortSignal} signal
   * @returns {Promise<Shown>}
   */
  run(phases, signal) {
    return new Promise((resolve) => {
      const run = new Run(phases, this.context, this.clock);
      const over = new AbortController();
      const watch = { signal: over.signal };
      const finish = () => {
        over.abort();
        run.ended = performance.now();
        resolve(run);
      };
      const stop = (/** @type {"blurred" | "hidden"} */ why) => {
        run.stopped = why;
        finish();
      };
      window.addEventListener("blur", () => stop("blurred"), watch);
      document.addEventListener("visibilitychange", () => stop("hidden"), watch);
      signal.addEventListener("abort", () => over.abort(), watch);
      this.clock.rest();
      const frame = (/** @type {number} */ at) => {
        if (over.signal.aborted) return;
        if (run.step(at)) finish();
        else requestAnimationFrame(frame);
      };
      requestAnimationFrame(frame);
    });
  }

  /**
   * The record of what was shown from one phase up to another.
   * @param {Shown} shown
   * @param {number} first phase that is the exposure
   * @param {number} next phase that ends it
   * @param {number} intendedMs
   * @param {number} intendedFrames
   * @returns {Exposure}
   */
  exposure(shown, first, next, intendedMs, intendedFrames) {
    const period = this.clock.period;
    const onset = shown.starts[first];
    const offset = Number.isNaN(shown.starts[next]) ? shown.ended : shown.starts[next];
    return {
      intended_ms: intendedMs,
      intended_frames: intendedFrames,
      shown_ms: tenth(offset - onset),
      shown_frames: Math.round((offset - onset) / period),
      dropped_frames: dropsDuring(shown, onset, offset),
      frame_ms: Math.round(period * 1000) / 1000,
      onset_ms: tenth(onset),
      offset_ms: tenth(offset),
      blurred: shown.stopped !== "",
      pixel_ratio: window.devicePixelRatio,
      viewport: [window.innerWidth, window.innerHeight],
    };
  }
}

/** The state of one run. @implements {Shown} */
class Run {
  /** @type {"" | "blurred" | "hidden"} */
  stopped = "";
  ended = NaN;
  /** @type {Drop[]} */
  drops = [];

  /**
   * @param {Phase[]} phases
   * @param {CanvasRenderingContext2D} context
   * @param {import("./frames.js").FrameClock} clock
   */
  constructor(phases, context, clock) {
    this.phases = phases;
    this.context = context;
    this.clock = clock;
    this.starts = phases.map(() => NaN);
    this.current = -1;
    this.base = NaN;
    this.due = 0;
  }

  /** Draw what is due at this frame; whether the last phase is over. @param {number} at */
  step(at) {
    this.notice(at);
    if (this.current >= 0 && this.elapsed(at) < this.due) return false;
    if (this.current + 1 === this.phases.length) return true;
    this.advance(at);
    this.starts[this.current] = at;
    this.phases[this.current].draw(this.context);
    return false;
  }

  /** Go to the next phase; of phases that keep a common schedule, to the one that is due now. @param {number} at */
  advance(at) {
    this.current += 1;
    if (!this.phases[this.current].catchUp) {
      this.base = at;
      this.due = 0;
    }
    this.due += this.phases[this.current].frames;
    const following = this.phases[this.current + 1];
    if (following?.catchUp && this.elapsed(at) >= this.due) this.advance(at);
  }

  /** Frames since the schedule began. @param {number} at */
  elapsed(at) {
    return Math.round((at - this.base) / this.clock.period);
  }

  /** A frame that came late, or whose turn to draw comes late, is a drop. @param {number} at */
  notice(at) {
    const long = GAP * this.clock.period;
    const before = this.clock.last;
    const now = performance.now();
    if (this.clock.tick(at) > long) this.drops.push(this.drop(before, at));
    if (now - at > long) this.drops.push(this.drop(at, now));
  }

  /** @param {number} from @param {number} to @returns {Drop} */
  drop(from, to) {
    return { from, to, frames: Math.max(1, Math.round((to - from) / this.clock.period) - 1) };
  }
}

/**
 * Frames dropped between onset and offset, and right after the offset: a late frame there means that the image may
 * have stayed longer than its time stamps say.
 * @param {Shown} shown
 * @param {number} onset
 * @param {number} offset
 */
function dropsDuring(shown, onset, offset) {
  return shown.drops
    .filter(({ from, to }) => to > onset && from <= offset)
    .reduce((sum, { frames }) => sum + frames, 0);
}

/** @param {number} ms */
function tenth(ms) {
  return Math.round(ms * 10) / 10;
}
