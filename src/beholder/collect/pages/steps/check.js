// Does this screen serve? Size, zoom and frame rate, measured while the participant watches.

import { h } from "/static/dom.js";
import { clicked, showPage } from "/static/steps/page.js";

const FRAMES_TIMED = 120;
const FRAMES_UNTIMED = 60;

/**
 * @param {HTMLElement} container
 * @param {any} state
 * @param {import("../app.js").Tools} tools
 */
export async function check(container, state, tools) {
  const { t } = tools;
  const go = h("button", { type: "button", class: "button button--primary", disabled: true }, t("check.go"));
  const again = h("button", { type: "button", class: "button" }, t("check.again"));
  const rate = row(t("check.rate"), t("check.measuring"));
  const meter = h("progress", { class: "meter", max: 1, value: 0, "aria-label": t("check.measuring") });
  const list = h("div", { class: "card" }, h("ul", { class: "checks" }, screenRow(t), zoomRow(t), rate), meter);
  showPage(container, state, tools, { title: t("check.title"), lead: t("check.lead") }, [list, advice(t)], [go, again]);

  const measure = async () => {
    go.disabled = again.disabled = true;
    await measureRate(state.check, tools, rate, meter);
    go.disabled = again.disabled = false;
  };
  again.addEventListener("click", measure);
  measure();
  return clicked(go, () => tools.api.post("/api/check", findings(tools.clock.period)));
}

/**
 * @param {{needs_timing: boolean, min_hz: number}} needs
 * @param {import("../app.js").Tools} tools
 * @param {HTMLElement} line
 * @param {HTMLProgressElement} meter
 */
async function measureRate(needs, { clock, signal, t }, line, meter) {
  const frames = needs.needs_timing ? FRAMES_TIMED : FRAMES_UNTIMED;
  const period = await clock.measure(frames, signal, (progress, now) => {
    meter.value = progress;
    tell(line, "", t("check.hertz", { hertz: Math.round(1000 / now) }));
  });
  meter.value = 1;
  const slow = needs.needs_timing && 1000 / period < needs.min_hz;
  const hertz = t("check.hertz", { hertz: Math.round(1000 / period) });
  tell(line, slow ? "bad" : "good", slow ? t("check.slow", { hertz, min: needs.min_hz }) : hertz);
}

/** What the server is told. @param {number} period */
function findings(period) {
  return {
    screen_width: screen.width,
    screen_height: screen.height,
    viewport_width: window.innerWidth,
    viewport_height: window.innerHeight,
    pixel_ratio: window.devicePixelRatio,
    zoom: zoom(),
    frame_ms: Math.round(period * 1000) / 1000,
    touch: matchMedia("(pointer: coarse)").matches,
    user_agent: navigator.userAgent,
  };
}

/** Page zoom, as far as a page can know it: window against page width on a desktop, pinch on a phone. */
function zoom() {
  const pinch = window.visualViewport?.scale ?? 1;
  const ratio = window.outerWidth > 0 && !matchMedia("(pointer: coarse)").matches ? window.outerWidth / window.innerWidth : 1;
  return Math.round(ratio * pinch * 100) / 100;
}

/** @param {import("../texts.js").Translate} t */
function screenRow(t) {
  const size = `${window.innerWidth} × ${window.innerHeight}`;
  const small = Math.min(window.innerWidth, window.innerHeight) < 320;
  return tell(row(t("check.screen"), ""), small ? "bad" : "good", small ? t("check.small", { size }) : size);
}

/** @param {import("../texts.js").Translate} t */
function zoomRow(t) {
  const percent = `${Math.round(zoom() * 100)} %`;
  const off = Math.abs(zoom() - 1) > 0.08;
  return tell(row(t("check.zoom"), ""), off ? "bad" : "good", off ? t("check.zoomed", { percent }) : percent);
}

/** @param {import("../texts.js").Translate} t */
function advice(t) {
  return h("p", { class: "note" }, t("check.advice"));
}

/** @param {string} name @param {string} value */
function row(name, value) {
  return h("li", { class: "checks__row" },
    h("span", { class: "checks__mark", "aria-hidden": "true" }), h("span", { class: "checks__name" }, name),
    h("span", { class: "checks__value", "aria-live": "off" }, value));
}

/** @param {HTMLElement} line @param {"" | "good" | "bad"} mood @param {string} value */
function tell(line, mood, value) {
  line.dataset.mood = mood;
  line.children[0].textContent = { "": "", good: "✓", bad: "!" }[mood];
  line.children[2].textContent = value;
  return line;
}
