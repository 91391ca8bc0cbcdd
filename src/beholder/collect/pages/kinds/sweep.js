// Many images in rapid succession: press at each that is generated.

import { h } from "/static/dom.js";
import { secondsBetween } from "/static/kinds/answer_bar.js";
import { blank, cross, picture } from "/static/kinds/drawing.js";
import { buttons, scene } from "/static/kinds/sketch.js";
import { startGate } from "/static/kinds/start_gate.js";
import { toFrames } from "/static/frames.js";
import { Presenter } from "/static/presenter.js";

/** Images are loaded so many at a time. */
const AT_ONCE = 6;
const FIXATION_MS = 800;
/** A press for the last images comes after they are gone. */
const AFTER_MS = 1000;

export const sweep = {
  /** @type {import("./catalogue.js").Kind["render"]} */
  async render(container, trial, tools) {
    const { t } = tools;
    const canvas = h("canvas", { class: "screen", role: "img", "aria-label": t("sweep.screen") });
    const stage = h("div", { class: "stage stage--screen" }, canvas);
    const press = h("button", { type: "button", class: "answer answer--press", disabled: true },
      h("span", { class: "answer__text" }, t("sweep.press")), h("span", { class: "answer__keys" }, h("kbd", {}, t("key.space"))));
    container.replaceChildren(stage, h("div", { class: "answers", "data-count": 1 }, press));
    const bitmaps = await load(canvas, trial, tools, stage);
    const presenter = new Presenter(contextOf(canvas), tools.clock);
    for (;;) {
      const measured = tools.clock.known || tools.clock.measure(60, tools.signal);
      await startGate(stage, tools);
      await measured;
      const answer = await present(presenter, bitmaps, trial, press, tools);
      if (answer) return answer;
    }
  },

  /** @returns {[string[], string][]} */
  keys() {
    return [[[" "], "keys.sweep"]];
  },

  sketch: () => [
    ...[4, 3, 2, 1, 0].map((position) => scene(66 + 24 * position, 6 + 5 * (4 - position), 92, 80, position % 2 === 1)), ...buttons(1),
  ],

  attention: "attention.presses",
};

/**
 * One run; null if it was left before the first image.
 * @param {Presenter} presenter
 * @param {ImageBitmap[]} bitmaps
 * @param {any} trial
 * @param {HTMLButtonElement} press
 * @param {import("../steps/trial.js").TrialTools} tools
 * @returns {Promise<import("../steps/trial.js").Answer | null>}
 */
async function present(presenter, bitmaps, trial, press, tools) {
  const phases = schedule(presenter, bitmaps, trial.settings.each_ms);
  const presses = recordPresses(press, tools.signal);
  const shown = await presenter.run(phases, tools.signal);
  const times = presses.stop();
  const [first, after] = [1, phases.length - 1];
  const onset = shown.starts[first];
  if (Number.isNaN(onset)) return null;
  const whole = bitmaps.length * trial.settings.each_ms;
  const frames = phases.slice(first, after).reduce((sum, phase) => sum + phase.frames, 0);
  const exposure = presenter.exposure(shown, first, after, whole, frames);
  const missed = shown.starts.slice(first, after).some(Number.isNaN);
  const reason = shown.stopped || (missed ? "dropped-frames" : "");
  if (reason) return { said: [], marks: [], seconds: 0, exposure, spoiled: true, spoiled_reason: reason };
  tools.ahead();
  return { ...answerOf(times, onset), seconds: secondsBetween(onset, exposure.offset_ms), exposure, spoiled: false };
}

/** @param {number[]} times @param {number} onset */
function answerOf(times, onset) {
  const after = times.filter((at) => at >= onset).map((at) => Math.round((at - onset) * 10) / 10);
  return {
    said: [{ aspect: "realism", value: after.length }],
    marks: after.map((at) => ({ aspect: "hit", kind: "press", at_ms: at })),
  };
}

/**
 * A cross, then the images. Each begins at the frame nearest to its time in the series, so that odd frame rates and
 * dropped frames never add up to a drift.
 * @param {Presenter} presenter
 * @param {ImageBitmap[]} bitmaps
 * @param {number} eachMs
 */
function schedule(presenter, bitmaps, eachMs) {
  const starts = Array.from({ length: bitmaps.length + 1 }, (_, position) =>
    position === 0 ? 0 : toFrames(position * eachMs, presenter.clock.period));
  return [
    { name: "cross", frames: presenter.frames(FIXATION_MS), draw: cross },
    ...bitmaps.map((bitmap, position) => ({
      name: "image", frames: starts[position + 1] - starts[position], draw: picture(bitmap), catchUp: position > 0,
    })),
    { name: "blank", frames: presenter.frames(AFTER_MS), draw: blank, catchUp: true },
  ];
}

/** Note every press of the space bar or the button. @param {HTMLButtonElement} press @param {AbortSignal} signal */
function recordPresses(press, signal) {
  const over = new AbortController();
  signal.addEventListener("abort", () => over.abort(), { once: true });
  /** @type {number[]} */
  const times = [];
  const note = (/** @type {Event} */ event) => {
    times.push(event.timeStamp);
    press.classList.remove("pressed");
    requestAnimationFrame(() => press.classList.add("pressed"));
  };
  press.disabled = false;
  press.addEventListener("pointerdown", note, { signal: over.signal });
  document.addEventListener("keydown", (event) => {
    if (event.key !== " ") return;
    event.preventDefault();
    if (!event.repeat) note(event);
  }, { signal: over.signal });
  const stop = () => {
    over.abort();
    press.disabled = true;
    return times;
  };
  return { stop };
}

/**
 * All images, decoded to the size of the canvas, with a bar that shows how far it is.
 * @param {HTMLCanvasElement} canvas
 * @param {any} trial
 * @param {import("../steps/trial.js").TrialTools} tools
 * @param {HTMLElement} stage
 */
async function load(canvas, trial, tools, stage) {
  [canvas.width, canvas.height] = [canvas.clientWidth, canvas.clientHeight];
  blank(contextOf(canvas));
  const meter = h("progress", { class: "meter", max: trial.images.length, value: 0, "aria-label": tools.t("sweep.loading") });
  const note = h("div", { class: "start" }, h("p", {}, tools.t("sweep.loading")), meter);
  stage.append(note);
  /** @type {ImageBitmap[]} */
  const bitmaps = [];
  const waiting = trial.images.map((/** @type {{token: string}} */ image, /** @type {number} */ position) => [image.token, position]);
  const worker = async () => {
    for (let next = waiting.shift(); next && !tools.signal.aborted; next = waiting.shift()) {
      bitmaps[next[1]] = await tools.images.bitmap(next[0], canvas.width, canvas.height);
      meter.value += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  note.remove();
  return bitmaps;
}

/** @param {HTMLCanvasElement} canvas */
function contextOf(canvas) {
  return /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { alpha: false }));
}
