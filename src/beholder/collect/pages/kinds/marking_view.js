// The image that is marked: zoom, the disks of its points, and a crosshair for the keyboard.

import { h, svg } from "/static/dom.js";

/** Units of the drawing: the image is so many high. */
const HIGH = 1000;
const ZOOMS = [1, 1.5, 2, 3, 4];
const CLICK_PX = 6;

export class MarkingView {
  /**
   * @param {import("./pictures.js").Box} box
   * @param {import("./marks.js").Marks} marks
   * @param {(x: number, y: number, event: Event) => void} onPick
   */
  constructor(box, marks, onPick) {
    this.box = box;
    this.marks = marks;
    this.onPick = onPick;
    this.zoom = 0;
    this.focus = { x: 0.5, y: 0.5 };
    this.cross = { x: 0.5, y: 0.5, seen: false };
    this.layer = svg("svg", {
      class: "marks", viewBox: `0 0 ${HIGH * marks.ratio} ${HIGH}`, "aria-hidden": "true", preserveAspectRatio: "none",
    });
    this.sheet = h("div", { class: "sheet" }, this.layer);
  }

  /** Lay the marks over the image that has arrived. */
  mount() {
    this.sheet.prepend(...this.box.frame.childNodes);
    this.box.frame.append(this.sheet);
    this.box.frame.classList.add("picture__face--marked");
    this.box.frame.addEventListener("pointerdown", (event) => this.#follow(event));
    this.draw();
  }

  /** @param {number} by steps of zoom */
  changeZoom(by) {
    this.zoom = Math.min(Math.max(this.zoom + by, 0), ZOOMS.length - 1);
    if (this.cross.seen) this.focus = { ...this.cross };
    this.draw();
  }

  /** @param {number} dx @param {number} dy both in steps @param {boolean} far */
  moveCross(dx, dy, far) {
    const step = (far ? 0.1 : 0.02) / ZOOMS[this.zoom];
    this.cross.x = inside(this.cross.x + (dx * step) / this.marks.ratio);
    this.cross.y = inside(this.cross.y + dy * step);
    this.cross.seen = true;
    this.focus = { ...this.cross };
    this.draw();
  }

  draw() {
    const zoom = ZOOMS[this.zoom];
    const shift = (/** @type {number} */ at) => `${100 * Math.min(0, Math.max(1 - zoom, 0.5 - at * zoom))}%`;
    this.sheet.style.setProperty("--zoom", String(zoom));
    this.sheet.style.setProperty("--px", shift(this.focus.x));
    this.sheet.style.setProperty("--py", shift(this.focus.y));
    this.layer.replaceChildren(...this.marks.points.map((point) => this.#disk(point)), ...(this.cross.seen ? this.#crosshair() : []));
  }

  /** A click picks a place; a drag moves the enlarged image. @param {PointerEvent} start */
  #follow(start) {
    if (start.button !== 0) return;
    const over = new AbortController();
    const from = { ...this.focus };
    const area = this.sheet.getBoundingClientRect();
    let moved = false;
    document.addEventListener("pointermove", (event) => {
      const [dx, dy] = [event.clientX - start.clientX, event.clientY - start.clientY];
      moved ||= Math.hypot(dx, dy) > CLICK_PX;
      if (!moved || this.zoom === 0) return;
      this.focus = { x: this.#held(from.x - dx / area.width), y: this.#held(from.y - dy / area.height) };
      this.draw();
    }, { signal: over.signal });
    const end = (/** @type {PointerEvent} */ event) => {
      over.abort();
      if (moved || event.type === "pointercancel") return;
      this.cross.seen = false;
      this.onPick(inside((event.clientX - area.left) / area.width), inside((event.clientY - area.top) / area.height), event);
    };
    document.addEventListener("pointerup", end, { signal: over.signal });
    document.addEventListener("pointercancel", end, { signal: over.signal });
  }

  /** Where the middle of the view can be without showing what is outside of the image. @param {number} at */
  #held(at) {
    const half = 0.5 / ZOOMS[this.zoom];
    return Math.min(1 - half, Math.max(half, at));
  }

  /** @param {import("./marks.js").Point} point */
  #disk({ aspect, x, y }) {
    const [cx, cy, r] = [x * HIGH * this.marks.ratio, y * HIGH, this.marks.radius * HIGH];
    const arm = r * 0.32;
    const sign = aspect === "implausibility"
      ? `M${cx - arm} ${cy - arm}L${cx + arm} ${cy + arm}M${cx + arm} ${cy - arm}L${cx - arm} ${cy + arm}`
      : `M${cx - arm} ${cy - arm * 0.5}h${2 * arm}M${cx - arm} ${cy + arm * 0.5}h${2 * arm}`;
    return svg("g", { class: `disk disk--${aspect}` },
      svg("circle", { class: "disk__halo", cx, cy, r }), svg("circle", { class: "disk__ring", cx, cy, r }),
      svg("path", { class: "disk__halo", d: sign }), svg("path", { class: "disk__sign", d: sign }));
  }

  #crosshair() {
    const [cx, cy, r] = [this.cross.x * HIGH * this.marks.ratio, this.cross.y * HIGH, this.marks.radius * HIGH];
    const lines = `M${cx - 2 * r} ${cy}h${4 * r}M${cx} ${cy - 2 * r}v${4 * r}`;
    const ring = { cx, cy, r };
    return [
      svg("path", { class: "crosshair crosshair--halo", d: lines }), svg("path", { class: "crosshair", d: lines }),
      svg("circle", { class: "crosshair crosshair--halo", ...ring }), svg("circle", { class: "crosshair", ...ring }),
    ];
  }
}

/** @param {number} fraction */
function inside(fraction) {
  return Math.min(Math.max(fraction, 0), 1);
}
