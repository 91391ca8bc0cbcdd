// Images at rest: boxes that have their final size before the images arrive, and images that appear all at once.

import { h } from "/static/dom.js";
import { nextFrame } from "/static/waiting.js";

/**
 * @typedef {object} Box
 * @property {HTMLElement} cell takes part in the layout
 * @property {HTMLElement} frame is as large as the image will be
 * @property {string} token
 * @property {string} alt
 */

/**
 * @param {{token: string, width: number, height: number}} image
 * @param {string} letter "" if there is only one image
 * @param {import("../texts.js").Translate} t
 * @returns {Box}
 */
export function boxFor(image, letter, t) {
  const alt = letter ? t("image.lettered", { letter }) : t("image.single");
  const frame = h("div", { class: "picture__face" });
  const cell = h("div", { class: letter ? "cell cell--lettered" : "cell" },
    h("div", { class: "picture", vars: { "--ratio": image.width / image.height } },
      letter && h("span", { class: "picture__letter", "aria-hidden": "true" }, letter), frame));
  return { cell, frame, token: image.token, alt };
}

/** Letters for so many images. @param {number} count */
export function letters(count) {
  return Array.from({ length: count }, (_, position) => String.fromCharCode(65 + position));
}

/**
 * Load all images, then show all of them in the same frame.
 * @param {Box[]} boxes
 * @param {import("../steps/trial.js").TrialTools} tools
 * @returns {Promise<number>} time stamp of that frame
 */
export async function reveal(boxes, tools) {
  const images = await Promise.all(boxes.map(({ token, alt }) => tools.images.element(token, alt, tools.signal)));
  const onset = await nextFrame();
  boxes.forEach(({ frame }, position) => frame.replaceChildren(images[position]));
  tools.ahead();
  return onset;
}
