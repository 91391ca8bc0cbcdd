// The front page: choice of the slice, filters, weights, and the chart of two measures.
// All numbers are in the page; nothing is fetched.
"use strict";
{
  /**
   * Value, ends of its interval, best and worst rank, chance to be best, whether it is stated by others; 0 where there
   * are no numbers.
   * @typedef {[number, number | null, number | null, number | null, number | null, number | null, 0 | 1] | 0} Cell
   * @typedef {{ name: string, colour: string, path: string, page: string, front: boolean }} Entry
   * @typedef {{ name: string, better: "higher" | "lower" | null, decimals: number, cost: boolean }} Measure
   * @typedef {{ label: string, cells: Cell[][], notes: (string | null)[] }} Slice cells[measure][entry]
   * @typedef {{ entries: Entry[], measures: Measure[], slices: Slice[] }} Board
   */

  /**
   * @template {Element} T
   * @param {string} id
   * @param {new () => T} kind
   * @returns {T}
   */
  const byId = (id, kind) => {
    const element = document.getElementById(id);
    if (!(element instanceof kind)) throw new Error(`no ${id}`);
    return element;
  };

  /** @type {Board} */
  const board = JSON.parse(byId("board-data", HTMLScriptElement).textContent ?? "");
  const { entries, measures } = board;
  const CELL_WIDTH = 128;
  const MARGIN = 5;
  let slice = board.slices[0];

  /** @param {number | null} number @param {number} decimals */
  const figure = (number, decimals) => {
    if (number === null) return "–";
    const text = Math.abs(number).toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
    return number < 0 && /[1-9]/.test(text) ? `−${text}` : text;
  };

  /** @param {string} tag @param {Record<string, string | number>} attributes @param {...(Node | string)} inside */
  const svg = (tag, attributes, ...inside) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, text] of Object.entries(attributes)) element.setAttribute(name, String(text));
    element.append(...inside);
    return element;
  };

  /** @param {string} tag @param {string} text */
  const html = (tag, text) => {
    const element = document.createElement(tag);
    element.textContent = text;
    return element;
  };

  /** The range of all numbers of a measure in the slice. @param {Cell[]} cells @returns {[number, number]} */
  const ends = (cells) => {
    const numbers = cells.flatMap((cell) => (cell ? [cell[0], cell[1] ?? cell[0], cell[2] ?? cell[0]] : []));
    return numbers.length ? [Math.min(...numbers), Math.max(...numbers)] : [0, 1];
  };

  // The board ---------------------------------------------------------------------------------------------------

  const table = /** @type {HTMLTableElement} */ (document.querySelector("#board table"));
  const rows = new Map(
    [...table.tBodies[0].rows].map((row) => [/** @type {HTMLElement} */ (row.cells[0]).dataset.v ?? "", row]),
  );

  /** @param {HTMLTableCellElement} place @param {Cell} cell @param {Measure} measure @param {[number, number]} range @param {string | null} note */
  const fill = (place, cell, measure, range, note) => {
    place.replaceChildren();
    place.removeAttribute("title");
    place.classList.toggle("top", cell !== 0 && cell[3] === 1);
    if (cell === 0) {
      delete place.dataset.v;
      if (note) place.append(html("small", note));
      return;
    }
    const [value, low, high, best, worst, chance, stated] = cell;
    place.dataset.v = String(value);
    if (chance !== null) place.title = `chance to be best: ${Math.round(100 * chance)} %`;
    const line = html("span", "");
    line.className = "fig";
    line.append(html("b", figure(value, measure.decimals)));
    if (best !== null) line.append(html("i", best === worst ? `${best}` : `${best}–${worst}`));
    /** @param {number} number */
    const at = (number) => (MARGIN + ((CELL_WIDTH - 2 * MARGIN) * (number - range[0])) / (range[1] - range[0] || 1)).toFixed(1);
    const drawing = svg(
      "svg",
      { class: "ci", width: CELL_WIDTH, height: 14, "aria-hidden": "true" },
      svg("path", { d: `M${at(low ?? value)} 7H${at(high ?? value)}` }),
      svg("circle", { cx: at(value), cy: 7, r: 3.5 }),
    );
    const interval = low === null || high === null ? "" : `${figure(low, measure.decimals)} to ${figure(high, measure.decimals)}`;
    place.append(line, drawing, html("small", stated ? "stated by others" : interval));
  };

  const showSlice = () => {
    for (const [k, measure] of measures.entries()) {
      const range = ends(slice.cells[k]);
      for (const [e, entry] of entries.entries()) {
        const cell = rows.get(entry.name)?.cells[k + 1];
        if (cell) fill(cell, slice.cells[k][e], measure, range, slice.notes[k]);
      }
    }
    table.dispatchEvent(new Event("numbers-changed"));
  };

  const sliceChoice = byId("slice", HTMLSelectElement);
  const measureChoice = byId("measure", HTMLSelectElement);
  const filter = byId("filter", HTMLInputElement);
  const frontOnly = /** @type {HTMLInputElement | null} */ (document.getElementById("front-only"));

  const applyFilter = () => {
    const words = filter.value.trim().toLowerCase();
    let visible = 0;
    for (const entry of entries) {
      const row = rows.get(entry.name);
      if (!row) continue;
      row.hidden = !entry.name.toLowerCase().includes(words) || (frontOnly?.checked === true && !entry.front);
      visible += Number(!row.hidden);
    }
    byId("status", HTMLOutputElement).textContent = visible < entries.length ? `${visible} of ${entries.length} entries` : "";
  };

  const applyMeasure = () => {
    for (const cell of /** @type {NodeListOf<HTMLElement>} */ (table.querySelectorAll("[data-k]"))) {
      cell.hidden = measureChoice.value !== "" && cell.dataset.k !== measureChoice.value;
    }
  };

  // Utilities ---------------------------------------------------------------------------------------------------

  /**
   * Measures with a direction and values in this slice, and entries that have all of them, standardised. Costs count
   * only where all these entries have them.
   * @returns {{ own: number[], complete: number[], scores: number[][] }} scores[place in complete][place in own]
   */
  const standardised = () => {
    const directed = [...measures.keys()].filter((k) => measures[k].better && slice.cells[k].some((cell) => cell !== 0));
    const measured = directed.filter((k) => !measures[k].cost);
    const complete = [...entries.keys()].filter((e) => measured.every((k) => slice.cells[k][e] !== 0));
    const own = directed.filter((k) => complete.every((e) => slice.cells[k][e] !== 0));
    const columns = own.map((k) => {
      const sign = measures[k].better === "lower" ? -1 : 1;
      const numbers = complete.map((e) => sign * /** @type {number[]} */ (slice.cells[k][e])[0]);
      const mean = numbers.reduce((sum, number) => sum + number, 0) / (numbers.length || 1);
      const spread = Math.sqrt(numbers.reduce((sum, number) => sum + (number - mean) ** 2, 0) / (numbers.length || 1));
      return numbers.map((number) => (number - mean) / (spread || 1));
    });
    return { own, complete, scores: complete.map((_, place) => columns.map((column) => column[place])) };
  };

  /** @param {number[][]} scores @param {number[]} weights @returns {number[] | null} */
  const utilitiesOf = (scores, weights) => {
    const sum = weights.reduce((total, weight) => total + weight, 0);
    return sum > 0 ? scores.map((row) => row.reduce((total, score, k) => total + (score * weights[k]) / sum, 0)) : null;
  };

  const sliders = /** @type {HTMLInputElement[]} */ ([...document.querySelectorAll(".slider input")]);
  const defaults = sliders.map((slider) => slider.value);

  const showUtilities = () => {
    if (!sliders.length) return;
    const { own, complete, scores } = standardised();
    const sliderOf = new Map(sliders.map((slider) => [slider.dataset.measure, slider]));
    const weights = own.map((k) => Number(sliderOf.get(measures[k].name)?.value ?? 0));
    const sum = weights.reduce((total, weight) => total + weight, 0);
    for (const slider of sliders) {
      const k = own.findIndex((measure) => measures[measure].name === slider.dataset.measure);
      const output = slider.parentElement?.querySelector("output");
      if (output) output.textContent = k < 0 ? "not for all entries" : sum > 0 ? `${Math.round((100 * weights[k]) / sum)} %` : "0 %";
      slider.disabled = k < 0;
      drawStrip(slider, k, weights, complete, scores);
    }
    const utilities = utilitiesOf(scores, weights);
    const body = document.querySelector(".utilities tbody");
    const winner = byId("winner", HTMLParagraphElement);
    if (!utilities || !body) {
      winner.textContent = "All weights are 0: nothing to choose by.";
      return;
    }
    const byName = new Map(complete.map((e, place) => [entries[e].name, utilities[place]]));
    const largest = Math.max(...utilities.map(Math.abs), 1e-9);
    const lines = /** @type {HTMLTableRowElement[]} */ ([...body.children]);
    for (const line of lines) {
      const utility = byName.get(line.dataset.entry ?? "");
      const bar = line.querySelector("rect");
      const width = utility === undefined ? 0 : (50 * Math.abs(utility)) / largest;
      bar?.setAttribute("x", String(utility !== undefined && utility < 0 ? 50 - width : 50));
      bar?.setAttribute("width", String(width));
      const cell = line.querySelector(".utility");
      if (cell) cell.textContent = utility === undefined ? "–" : `${utility >= 0 ? "+" : ""}${figure(utility, 2)}`;
    }
    lines.sort((a, b) => (byName.get(b.dataset.entry ?? "") ?? -Infinity) - (byName.get(a.dataset.entry ?? "") ?? -Infinity));
    body.append(...lines);
    const top = Math.max(...utilities);
    const names = complete.filter((_, place) => utilities[place] > top - 1e-9).map((e) => entries[e].name);
    winner.textContent = `With these weights: ${names.join(" and ")}.`;
  };

  /**
   * Who wins as the weight of one measure goes from nothing to everything, the others keeping their proportions.
   * @param {HTMLInputElement} slider @param {number} k @param {number[]} weights @param {number[]} complete @param {number[][]} scores
   */
  const drawStrip = (slider, k, weights, complete, scores) => {
    const strip = slider.parentElement?.querySelector(".strip");
    if (!strip) return;
    strip.replaceChildren();
    if (k < 0) return;
    /** @type {[number, number][]} first step and winner of each run of steps */
    const runs = [];
    for (let step = 0; step <= 100; step += 1) {
      const utilities = utilitiesOf(scores, weights.map((weight, own) => (own === k ? step : weight)));
      if (!utilities) continue;
      const best = complete[utilities.indexOf(Math.max(...utilities))];
      if (!runs.length || runs[runs.length - 1][1] !== best) runs.push([step, best]);
    }
    const names = runs.map(([step, e], place) => `${entries[e].name} from ${step}${place + 1 < runs.length ? ` to ${runs[place + 1][0] - 1}` : " to 100"}`);
    strip.setAttribute("aria-label", `which entry wins at which weight: ${names.join(", ")}`);
    for (const [place, [step, e]] of runs.entries()) {
      const end = place + 1 < runs.length ? runs[place + 1][0] : 101;
      strip.append(svg("rect", { x: step, y: 0, width: end - step, height: 6, style: `fill: ${entries[e].colour}` }, svg("title", {}, names[place])));
    }
  };

  // Two measures against each other -----------------------------------------------------------------------------

  const FRAME = { left: 64, right: 616, top: 16, bottom: 368 };
  /** Of more entries, only those on the front are labelled. */
  const MOST_LABELS = 12;
  const REVERSED = " (lower is better: axis reversed)";

  /** @param {Measure} measure @param {Cell[]} cells @param {number} start @param {number} end */
  const axis = (measure, cells, start, end) => {
    const [least, most] = ends(cells);
    const room = 0.06 * (most - least || 1);
    const [low, high] = [least - room, most + room];
    const [from, to] = measure.better === "lower" ? [end, start] : [start, end];
    /** @param {number} number */
    const at = (number) => Math.round(10 * (from + ((to - from) * (number - low)) / (high - low))) / 10;
    const size = 10 ** Math.floor(Math.log10((high - low) / 6));
    const step = size * (/** @type {number} */ ([1, 2, 5, 10, 20].find((factor) => (high - low) / (size * factor) <= 6)));
    const ticks = [];
    for (let k = Math.ceil(low / step - 1e-9); k <= Math.floor(high / step + 1e-9); k += 1) ticks.push(k * step);
    return { at, ticks, decimals: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
  };

  const drawChart = () => {
    const chart = document.getElementById("chart");
    if (!chart) return;
    const [kx, ky] = ["x-measure", "y-measure"].map((id) => measures.findIndex((m) => m.name === byId(id, HTMLSelectElement).value));
    const [x, y] = [slice.cells[kx], slice.cells[ky]];
    const across = axis(measures[kx], x, FRAME.left, FRAME.right);
    const up = axis(measures[ky], y, FRAME.bottom, FRAME.top);
    const grid = svg("g", { class: "grid" });
    for (const tick of across.ticks) {
      grid.append(svg("path", { d: `M${across.at(tick)} ${FRAME.top}V${FRAME.bottom}` }));
      grid.append(svg("text", { x: across.at(tick), y: 386, "text-anchor": "middle" }, figure(tick, across.decimals)));
    }
    for (const tick of up.ticks) {
      grid.append(svg("path", { d: `M${FRAME.left} ${up.at(tick)}H${FRAME.right}` }));
      grid.append(svg("text", { x: 56, y: up.at(tick) + 4, "text-anchor": "end" }, figure(tick, up.decimals)));
    }
    const drawn = [...entries.keys()].filter((e) => x[e] !== 0 && y[e] !== 0).map((e) => {
      const [a, b] = [/** @type {number[]} */ (x[e]), /** @type {number[]} */ (y[e])];
      return { entry: entries[e], a, b, x: across.at(a[0]), y: up.at(b[0]), better: [a[0] * sign(kx), b[0] * sign(ky)] };
    });
    const isBeaten = (/** @type {number[]} */ own) =>
      drawn.some(({ better }) => better[0] >= own[0] && better[1] >= own[1] && (better[0] > own[0] || better[1] > own[1]));
    const front = drawn.filter((dot) => !isBeaten(dot.better)).sort((p, q) => p.x - q.x);
    const line = front.map((dot, k) => (k ? `V${dot.y}H${dot.x}` : `M${dot.x} ${dot.y}`)).join("");
    chart.replaceChildren(
      grid,
      svg("text", { class: "axis", x: 616, y: 410, "text-anchor": "end" }, `${measures[kx].name}${sign(kx) < 0 ? REVERSED : ""} →`),
      svg("text", { class: "axis", x: 64, y: 10 }, `↑ ${measures[ky].name}${sign(ky) < 0 ? REVERSED : ""}`),
      svg("path", { class: "front", d: line }),
      ...drawn.map(({ entry, a, b, ...dot }) => {
        const whisker = `M${across.at(a[1] ?? a[0])} ${dot.y}H${across.at(a[2] ?? a[0])}M${dot.x} ${up.at(b[1] ?? b[0])}V${up.at(b[2] ?? b[0])}`;
        const words = `${entry.name}: ${measures[kx].name} ${figure(a[0], measures[kx].decimals)}, ${measures[ky].name} ${figure(b[0], measures[ky].decimals)}`;
        return svg(
          "g",
          { class: isBeaten(dot.better) ? "dot off" : "dot", style: `color: ${entry.colour}` },
          svg("title", {}, words),
          svg("path", { class: "whisker", d: whisker }),
          svg("path", { class: "shape", d: entry.path, transform: `translate(${dot.x - 7} ${dot.y - 7}) scale(1.17)` }),
          ...(drawn.length > MOST_LABELS && isBeaten(dot.better) ? [] : [svg("text", dot.x > 430 ? { x: dot.x - 11, y: dot.y - 8, "text-anchor": "end" } : { x: dot.x + 11, y: dot.y - 8 }, entry.name)]),
        );
      }),
    );
    chart.setAttribute("aria-label", `Entries by ${measures[kx].name} and ${measures[ky].name}; the line joins ${front.map((dot) => dot.entry.name).join(", ")}`);
  };

  /** @param {number} k */
  const sign = (k) => (measures[k].better === "lower" ? -1 : 1);

  // What the reader chooses, also in the address, so that a link leads to the same view ----------------------------

  const remember = () => {
    const chosen = new URLSearchParams();
    if (sliceChoice.value !== "0") chosen.set("slice", slice.label);
    if (sliders.some((slider, k) => slider.value !== defaults[k])) chosen.set("weights", sliders.map((slider) => slider.value).join(","));
    const text = chosen.toString();
    history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
  };

  const recall = () => {
    const chosen = new URLSearchParams(location.hash.slice(1));
    const place = board.slices.findIndex((part) => part.label === chosen.get("slice"));
    if (place >= 0) sliceChoice.value = String(place);
    const weights = (chosen.get("weights") ?? "").split(",").map(Number);
    if (weights.length === sliders.length && weights.every((weight) => weight >= 0 && weight <= 100)) {
      for (const [k, slider] of sliders.entries()) slider.value = String(weights[k]);
    }
    slice = board.slices[Number(sliceChoice.value)];
  };

  const show = () => {
    slice = board.slices[Number(sliceChoice.value)];
    showSlice();
    showUtilities();
    drawChart();
  };

  for (const hidden of document.querySelectorAll(".controls, .sliders, .script-only")) /** @type {HTMLElement} */ (hidden).hidden = false;
  recall();
  if (window.matchMedia("(max-width: 620px)").matches) measureChoice.value = "0";
  applyMeasure();
  if (sliceChoice.value !== "0") showSlice();
  showUtilities();
  if (sliceChoice.value !== "0") drawChart();
  sliceChoice.addEventListener("change", () => { show(); remember(); });
  measureChoice.addEventListener("change", applyMeasure);
  filter.addEventListener("input", applyFilter);
  frontOnly?.addEventListener("change", applyFilter);
  for (const slider of sliders) slider.addEventListener("input", () => { showUtilities(); remember(); });
  document.getElementById("reset")?.addEventListener("click", () => {
    for (const [k, slider] of sliders.entries()) slider.value = defaults[k];
    showUtilities();
    remember();
  });
  for (const id of ["x-measure", "y-measure"]) document.getElementById(id)?.addEventListener("change", drawChart);
  for (const form of document.querySelectorAll("form")) form.addEventListener("submit", (event) => event.preventDefault());
  document.documentElement.dataset.ready = "yes";
}
