// A small drawing of each kind of trial. Decoration: the words beside it say the same.

import { svg } from "/static/dom.js";

/** @type {Record<string, () => SVGElement[]>} */
const SKETCHES = {
  "realism": () => [scene(90, 8, 140, 100), ...buttons(2)],
  "timed-realism": () => [
    label(38, 62, "3·2·1"), arrow(68, 58), scene(88, 20, 76, 76), arrow(172, 58), noise(192, 20, 36), arrow(236, 58),
    label(275, 66, "?", "sketch__large"), ...buttons(2),
  ],
  "pair": () => [scene(24, 8, 132, 100), scene(164, 8, 132, 100, true), letter(24, 8, "A"), letter(164, 8, "B"), ...buttons(3)],
  "side-by-side-5": () => [
    scene(24, 8, 132, 100), scene(164, 8, 132, 100, true), letter(24, 8, "A"), letter(164, 8, "B"), ...buttons(5),
  ],
  "ranking": () => [
    ...[0, 1, 2, 3].flatMap((place) => [scene(12 + 76 * place, 26, 68, 60, place % 2 === 1),
      badge(20 + 76 * place, 24, ["3", "1", "4", "2"][place])]), ...buttons(4),
  ],
  "rating": () => [scene(16, 8, 160, 136), ...[0, 1, 2].flatMap((row) => dots(200, 34 + 42 * row, 1 + ((row * 2 + 2) % 5)))],
  "rich-feedback": () => [
    scene(16, 8, 160, 136), disk(66, 96, "sketch__bad"), disk(130, 40, "sketch__off"),
    ...dots(200, 40, 3), ...dots(200, 76, 4), ...dots(200, 112, 2),
  ],
  "sweep": () => [4, 3, 2, 1, 0].map((place) => scene(66 + 24 * place, 6 + 5 * (4 - place), 92, 80, place % 2 === 1)).concat(buttons(1)),
};

/** @param {string} kind */
export function sketch(kind) {
  return svg("svg", { class: "sketch", viewBox: "0 0 320 152", "aria-hidden": "true" }, SKETCHES[kind]());
}

/** A framed landscape: hills and a sun. */
function scene(/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ w, /** @type {number} */ h, mirrored = false) {
  const [low, high] = [y + h, y + h * 0.45];
  const flip = (/** @type {number} */ share) => x + w * (mirrored ? 1 - share : share);
  return svg("g", {},
    svg("rect", { class: "sketch__frame", x, y, width: w, height: h, rx: 6 }),
    svg("circle", { class: "sketch__sun", cx: flip(0.74), cy: y + h * 0.28, r: h * 0.11 }),
    svg("path", { class: "sketch__hill", d: `M${flip(0.04)} ${low - 4}L${flip(0.36)} ${high}L${flip(0.68)} ${low - 4}Z` }),
    svg("path", { class: "sketch__hill sketch__hill--near", d: `M${flip(0.44)} ${low - 4}L${flip(0.7)} ${high + h * 0.16}L${flip(0.96)} ${low - 4}Z` }));
}

/** A row of answer buttons at the bottom, the first one pressed. @param {number} count */
function buttons(count) {
  const width = Math.min(64, (296 - 8 * (count - 1)) / count);
  const start = 160 - (count * width + 8 * (count - 1)) / 2;
  return Array.from({ length: count }, (_, place) => svg("rect", {
    class: place === 0 ? "sketch__button sketch__button--on" : "sketch__button",
    x: start + place * (width + 8), y: 120, width, height: 22, rx: 6,
  }));
}

/** Five points of which one is chosen. @param {number} x @param {number} y @param {number} chosen */
function dots(x, y, chosen) {
  return [1, 2, 3, 4, 5].map((point) => svg("circle", {
    class: point === chosen ? "sketch__button sketch__button--on" : "sketch__button", cx: x + 22 * (point - 1) + 8, cy: y, r: 8,
  }));
}

/** @param {number} x @param {number} y @param {string} kind */
function disk(x, y, kind) {
  return svg("circle", { class: kind, cx: x, cy: y, r: 13 });
}

/** @param {number} x @param {number} y @param {string} text */
function letter(x, y, text) {
  return label(x + 14, y + 20, text, "sketch__letter");
}

/** @param {number} x @param {number} y @param {string} text */
function badge(x, y, text) {
  return svg("g", {}, svg("circle", { class: "sketch__badge", cx: x, cy: y, r: 12 }), label(x, y + 5, text, "sketch__letter sketch__letter--on"));
}

/** @param {number} x @param {number} y @param {string} text @param {string} [kind] */
function label(x, y, text, kind = "sketch__label") {
  return svg("text", { class: kind, x, y, "text-anchor": "middle" }, text);
}

/** @param {number} x @param {number} y */
function arrow(x, y) {
  return svg("path", { class: "sketch__arrow", d: `M${x} ${y}h12m-5 -5l5 5l-5 5` });
}

/** A patch of squares, for a mask. @param {number} x @param {number} y @param {number} size */
function noise(x, y, size) {
  const cell = size / 6;
  const cells = Array.from({ length: 6 * 12 }, (_, place) => svg("rect", {
    class: `sketch__grain sketch__grain--${(place * 7 + (place % 5) * 3) % 4}`,
    x: x + (place % 6) * cell, y: y + Math.floor(place / 6) * cell, width: cell, height: cell,
  }));
  return svg("g", {}, cells);
}
