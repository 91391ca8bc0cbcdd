// An image shown for a counted number of frames, then hidden, then judged. Shared by both kinds of realism.

import { h } from "/static/dom.js";
import { fit } from "/static/images.js";
import { AnswerBar, chosenAnswer } from "/static/kinds/answer_bar.js";
import { blank, cross, digit, picture } from "/static/kinds/drawing.js";
import { startGate } from "/static/kinds/start_gate.js";
import { drawMasks } from "/static/masks.js";
import { Presenter } from "/static/presenter.js";
import { nextFrame } from "/static/waiting.js";

/** A screen of two device pixels a point is sharp enough; more only costs time. */
const MOST_PIXELS = 2;
/** Tolerance of a long exposure, in which a dropped frame does no harm, as a fraction of its length. */
const TOLERANCE = 0.05;

/**
 * @typedef {object} Plan
 * @property {number} ms how long the image is shown
 * @property {number} [countdownMs] each digit of 3-2-1; without one a cross is shown
 * @property {number} [fixationMs] the cross
 * @property {number} [masks]
 * @property {number} [maskMs]
 * @property {boolean} strict any dropped frame spoils the trial; or else only a wrong length
 */

/**
 * @param {HTMLElement} container
 * @param {any} trial
 * @param {import("../steps/trial.js").TrialTools} tools
 * @param {Plan} plan
 * @returns {Promise<import("../steps/trial.js").Answer>}
 */
export async function glimpse(container, trial, tools, plan) {
  const bar = new AnswerBar(trial.options, tools);
  const canvas = h("canvas", { class: "screen", role: "img", "aria-label": tools.t("image.single") });
  const stage = h("div", { class: "stage stage--screen" }, canvas);
  container.replaceChildren(stage, bar.element);
  const material = await prepare(canvas, trial, tools, plan);
  for (;;) {
    const measured = tools.clock.known || tools.clock.measure(60, tools.signal);
    if (!tools.flow.rolling) await startGate(stage, tools);
    await measured;
    const screen = schedule(material, plan);
    const shown = await screen.presenter.run(screen.phases, tools.signal);
    tools.flow.rolling = shown.stopped === "";
    if (Number.isNaN(shown.starts[screen.first])) continue; // left before the image came: nothing was seen
    const exposure = screen.presenter.exposure(shown, screen.first, screen.first + 1, plan.ms, screen.frames);
    const reason = spoiledBy(shown, exposure, plan);
    if (reason) return wipe(material.context, { said: [], marks: [], seconds: 0, exposure, spoiled: true, spoiled_reason: reason });
    const opened = bar.open(shown.ended);
    decodeAhead(canvas, trial, tools);
    return { ...chosenAnswer("realism", await opened, exposure.offset_ms), exposure };
  }
}

/**
 * Everything that can be done before the clock starts.
 * @param {HTMLCanvasElement} canvas
 * @param {any} trial
 * @param {import("../steps/trial.js").TrialTools} tools
 * @param {Plan} plan
 */
async function prepare(canvas, trial, tools, plan) {
  const scale = Math.min(window.devicePixelRatio, MOST_PIXELS);
  canvas.width = Math.round(canvas.clientWidth * scale);
  canvas.height = Math.round(canvas.clientHeight * scale);
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { alpha: false }));
  blank(context);
  const image = await tools.images.bitmap(trial.images[0].token, canvas.width, canvas.height);
  const size = fit(trial.images[0], canvas.width, canvas.height);
  const masks = await drawMasks(plan.masks ?? 0, size.width, size.height, seedOf(trial.trial));
  tools.signal.addEventListener("abort", () => masks.forEach((mask) => mask.close()), { once: true });
  return { context, image, masks, presenter: new Presenter(context, tools.clock) };
}

/**
 * The phases in frames of this screen.
 * @param {Awaited<ReturnType<typeof prepare>>} material
 * @param {Plan} plan
 */
function schedule({ image, masks, presenter }, plan) {
  const lead = leadIn(plan, presenter, image);
  const frames = presenter.frames(plan.ms);
  const maskFrames = presenter.frames(plan.maskMs ?? 1);
  const phases = [
    ...lead,
    { name: "image", frames, draw: picture(image) },
    ...masks.map((mask) => ({ name: "mask", frames: maskFrames, draw: picture(mask) })),
    { name: "blank", frames: 1, draw: blank },
  ];
  return { presenter, phases, frames, first: lead.length };
}

/**
 * Countdown or cross. The image is drawn once underneath, unseen, so that it lies ready in the graphics memory.
 * @param {Plan} plan
 * @param {Presenter} presenter
 * @param {ImageBitmap} image
 */
function leadIn(plan, presenter, image) {
  const warm = (/** @type {(context: CanvasRenderingContext2D) => void} */ draw) =>
    (/** @type {CanvasRenderingContext2D} */ context) => {
      picture(image)(context);
      draw(context);
    };
  if (!plan.countdownMs) return [{ name: "cross", frames: presenter.frames(plan.fixationMs ?? 500), draw: warm(cross) }];
  const frames = presenter.frames(plan.countdownMs);
  return ["3", "2", "1"].map((number) => ({ name: number, frames, draw: warm(digit(number)) }));
}

/**
 * @param {import("../presenter.js").Shown} shown
 * @param {import("../presenter.js").Exposure} exposure
 * @param {Plan} plan
 * @returns {string} why the trial cannot count, or ""
 */
function spoiledBy(shown, exposure, plan) {
  if (shown.stopped) return shown.stopped;
  const off = Math.abs(exposure.shown_frames - exposure.intended_frames);
  const allowed = plan.strict ? 0 : Math.max(1, TOLERANCE * exposure.intended_frames);
  return off > allowed || (plan.strict && exposure.dropped_frames > 0) ? "dropped-frames" : "";
}

/** Leave nothing of a spoiled image on the screen. @template T @param {CanvasRenderingContext2D} context @param {T} answer */
async function wipe(context, answer) {
  if (!document.hidden) await nextFrame();
  blank(context);
  return answer;
}

/** While the rater decides, decode the images that come next. @param {HTMLCanvasElement} canvas @param {any} trial @param {import("../steps/trial.js").TrialTools} tools */
function decodeAhead(canvas, trial, tools) {
  for (const token of trial.prefetch) tools.images.bitmap(token, canvas.width, canvas.height).catch(() => {});
}

/** The same trial has the same masks. @param {string} name */
function seedOf(name) {
  let seed = 0;
  for (const letter of name) seed = (Math.imul(seed, 31) + letter.charCodeAt(0)) >>> 0;
  return seed;
}
