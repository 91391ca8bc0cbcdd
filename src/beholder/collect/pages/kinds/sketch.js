// What the small drawings of trials are made of. Decoration: the words beside them say the same.

import { svg } from "/static/dom.js";

/** The drawing of a kind, from its parts. @param {SVGElement[]} parts */
export function sketch(parts) {
  return svg("svg", { class: "sketch", viewBox: "0 0 320 152", "aria-hidden": "true" }, parts);
}

/** A framed landscape: hills and a sun. */
export function scene(/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ w, /** @type {number} */ h, mirrored = false) {
  const [low, high] = [y + h, y + h * 0.45];
  const flip = (/** @type {number} */ fraction) => x + w * (mirrored ? 1 - fraction : fraction);
  return svg("g", {},
    svg("rect", { class: "sketch__frame", x, y, width: w, height: h, rx: 6 }),
    svg("circle", { class: "sketch__sun", cx: flip(0.74), cy: y + h * 0.28, r: h * 0.11 }),
    svg("path", { class: "sketch__hill", d: `M${flip(0.04)} ${low - 4}L${flip(0.36)} ${high}L${flip(0.68)} ${low - 4}Z` }),
    svg("path", { class: "sketch__hill sketch__hill--near", d: `M${flip(0.44)} ${low - 4}L${flip(0.7)} ${high + h * 0.16}L${flip(0.96)} ${low - 4}Z` }));
}

/** A row of answer buttons at the bottom, the first one pressed. @param {number} count */
export function buttons(count) {
  const width = Math.min(64, (296 - 8 * (count - 1)) / count);
  const start = 160 - (count * width + 8 * (count - 1)) / 2;
  return Array.from({ length: count }, (_, position) => svg("rect", {
    class: position === 0 ? "sketch__button sketch__button--on" : "sketch__button",
    x: start + position * (width + 8), y: 120, width, height: 22, rx: 6,
  }));
}

/** Five points of which one is chosen. @param {number} x @param {number} y @param {number} chosen */
export function dots(x, y, chosen) {
  return [1, 2, 3, 4, 5].map((point) => svg("circle", {
    class: point === chosen ? "sketch__button sketch__button--on" : "sketch__button", cx: x + 22 * (point - 1) + 8, cy: y, r: 8,
  }));
}

/** @param {number} x @param {number} y @param {string} kind */
export function disk(x, y, kind) {
  return svg("circle", { class: kind, cx: x, cy: y, r: 13 });
}

/** @param {number} x @param {number} y @param {string} text */
export function letter(x, y, text) {
  return label(x + 14, y + 20, text, "sketch__letter");
}

/** @param {number} x @param {number} y @param {string} text */
export function badge(x, y, text) {
  return svg("g", {}, svg("circle", { class: "sketch__badge", cx: x, cy: y, r: 12 }), label(x, y + 5, text, "sketch__letter sketch__letter--on"));
}

/** @param {number} x @param {number} y @param {string} text @param {string} [kind] */
export function label(x, y, text, kind = "sketch__label") {
  return svg("text", { class: kind, x, y, "text-anchor": "middle" }, text);
}

/** @param {number} x @param {number} y */
export function arrow(x, y) {
  return svg("path", { class: "sketch__arrow", d: `M${x} ${y}h12m-5 -5l5 5l-5 5` });
}

/** A patch of squares, for a mask. @param {number} x @param {number} y @param {number} size */
export function noise(x, y, size) {
  const cell = size / 6;
  const cells = Array.from({ length: 6 * 12 }, (_, position) => svg("rect", {
    class: `sketch__grain sketch__grain--${(position * 7 + (position % 5) * 3) % 4}`,
    x: x + (position % 6) * cell, y: y + Math.floor(position / 6) * cell, width: cell, height: cell,
  }));
  return svg("g", {}, cells);
}
