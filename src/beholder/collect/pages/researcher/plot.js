// Plot of ratings with confidence intervals.

import { svg } from "/static/dom.js";
import { t } from "/static/researcher/language.js";
import { decimal } from "/static/researcher/words.js";

const ROW = 30;
const FOOT = 26;
const EDGE = 10;

/**
 * One row per generator: a dot at the rating, a line over its confidence interval.
 * @param {{generator: string, rating: number, low: number | null, high: number | null}[]} rows
 * @param {number} width pixels available
 * @param {string} label
 */
export function intervalPlot(rows, width, label) {
  const names = Math.min(Math.max(...rows.map((row) => row.generator.length)) * 8 + 8, width * 0.35);
  const ends = rows.flatMap((row) => [row.low ?? row.rating, row.high ?? row.rating]);
  const ticks = niceTicks(Math.min(...ends), Math.max(...ends), width < 420 ? 4 : 6);
  const [low, high] = [ticks[0], ticks[ticks.length - 1]];
  const x = (/** @type {number} */ value) => names + EDGE + ((value - low) / (high - low || 1)) * (width - names - 2 * EDGE - 8);
  const bottom = rows.length * ROW;
  return svg("svg", { class: "plot", role: "img", "aria-label": label, viewBox: `0 0 ${width} ${bottom + FOOT}`, height: bottom + FOOT },
    ticks.map((tick) => [
      svg("line", { class: "plot__grid", x1: x(tick), x2: x(tick), y1: 0, y2: bottom }),
      svg("text", { class: "plot__tick", x: x(tick), y: bottom + 18, "text-anchor": "middle" }, tickLabel(tick, ticks)),
    ]),
    rows.map((row, position) => drawRow(row, position * ROW + ROW / 2, x)));
}

/** @param {any} row @param {number} y @param {(value: number) => number} x */
function drawRow(row, y, x) {
  const label = row.low === null ? decimal(row.rating, 3) : `${decimal(row.rating, 3)} (${t("range", { low: decimal(row.low, 3), high: decimal(row.high, 3) })})`;
  return svg("g", {},
    svg("title", {}, `${row.generator}: ${label}`),
    svg("text", { x: 0, y: y + 4 }, row.generator),
    row.low !== null && svg("line", { class: "plot__reach", x1: x(row.low), x2: x(row.high), y1: y, y2: y }),
    svg("circle", { class: "plot__dot", cx: x(row.rating), cy: y, r: 6 }));
}

/** Round numbers that reach from below the least to above the greatest. @param {number} low @param {number} high @param {number} count */
export function niceTicks(low, high, count) {
  const raw = (high - low || Math.abs(high) || 1) / count;
  const size = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * size).find((candidate) => candidate >= raw) ?? raw;
  const first = Math.floor(low / step);
  const last = Math.max(Math.ceil(high / step), first + 1);
  return Array.from({ length: last - first + 1 }, (_, position) => (first + position) * step);
}

/** @param {number} tick @param {number[]} ticks */
function tickLabel(tick, ticks) {
  const digits = Math.max(0, -Math.floor(Math.log10(ticks[1] - ticks[0]) + 1e-9));
  return decimal(tick, digits);
}
