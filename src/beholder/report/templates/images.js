// Single images: filters, a grid of those that match, and all that is known of one.
const content = JSON.parse(document.getElementById("content").textContent);
const STEP = 60; // images put on the page at a time; the browser loads their files as they come into view
const TINTS = { implausibility: "#f4801f", misalignment: "#3ea6e0" };

const images = content.images.map(
  ([id, file, generator, real, prompt, style, labels, votes, marks, skips, scores, disagreement], place) => ({
    id, file, generator, real, style, labels, votes, marks, skips, scores, disagreement, place,
    prompt: prompt === null ? "" : content.prompts[prompt],
  }),
);
const byId = new Map(images.map((image) => [image.id, image]));
const element = (id) => document.getElementById(id);

function make(name, properties = {}, ...children) {
  const node = Object.assign(document.createElement(name), properties);
  node.append(...children);
  return node;
}

function makeSvg(name, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

const percent = (value) => `${Math.round(100 * value)} %`;
const number = (value) => Number(value.toPrecision(4)).toString().replace("-", "−");

function who(generator) {
  const [path, colour] = content.marks[generator];
  const chip = makeSvg("svg", { class: "chip", viewBox: "0 0 12 12", "aria-hidden": "true" }, makeSvg("path", { d: path }));
  chip.firstChild.style.fill = colour;
  return make("span", { className: "who" }, chip, make("span", { className: "name" }, content.generators[generator]));
}

/** The file of an image; words in its place where there is none, or where it cannot be shown. */
function picture(image, alt, more = {}) {
  const missing = () => make("span", {}, "the image file is not available");
  if (image.file === null) return missing();
  const img = make("img", { src: image.file, alt, loading: "lazy", decoding: "async", ...more });
  img.addEventListener("error", () => img.replaceWith(missing()));
  return img;
}

const describe = (image) => `${content.generators[image.generator]}${image.prompt ? `: ${image.prompt}` : ""}`;

// What raters said of an image by one aspect, in words.

const DEGREES = { 2: "much better", 1: "better", 0: "about the same", [-1]: "worse", [-2]: "much worse" };

function answerWords(kind, value, names) {
  if (kind === "category") return names[value] ?? number(value);
  if (kind === "detection") return value ? "generated" : "real";
  if (kind === "vote") return value > 0 ? "preferred" : value < 0 ? "not preferred" : "a tie";
  if (kind === "graded-vote") return DEGREES[value] ?? number(value);
  if (kind === "rank") return `rank ${value}`;
  if (kind === "credit") return `credit ${number(value)}`;
  return number(value);
}

/** By aspect: how good raters find the image, higher being better, and the words for it. */
function rating(image) {
  for (const [aspect, what, value] of image.labels) {
    const [question, name, kind] = content.aspects[aspect];
    if (what === "called generated") return { good: 1 - value, words: `${percent(value)} called it generated` };
    return { good: kind === "credit" ? -value : value, words: `${name === question ? name : `${question}: ${name}`} ${number(value)}` };
  }
  const used = image.votes.filter(([, , , rival, counts]) => rival !== null && counts);
  if (used.length === 0) return { good: null, words: "" };
  const won = used.reduce((sum, [, , value]) => sum + (value > 0 ? 1 : value < 0 ? 0 : 0.5), 0) / used.length;
  return { good: won, words: `${percent(won)} of ${used.length} votes won` };
}
for (const image of images) image.rating = rating(image);

// The grid

let matching = [];
let placed = 0;

function matches(image, words, generator, least) {
  if (generator !== "" && image.generator !== Number(generator)) return false;
  if (least > 0 && !(image.disagreement >= least)) return false;
  const text = `${image.prompt} ${image.id}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

const ORDERS = {
  table: (a, b) => a.place - b.place,
  divided: (a, b) => (b.disagreement ?? -1) - (a.disagreement ?? -1) || a.place - b.place,
  best: (a, b) => (b.rating.good ?? -Infinity) - (a.rating.good ?? -Infinity) || a.place - b.place,
  worst: (a, b) => (a.rating.good ?? Infinity) - (b.rating.good ?? Infinity) || a.place - b.place,
};

function filter() {
  const words = element("prompt").value.toLowerCase().split(/\s+/).filter(Boolean);
  const least = Number(element("disagreement").value) / 100;
  element("least").textContent = percent(least);
  const generator = element("generator").value;
  matching = images.filter((image) => matches(image, words, generator, least)).sort(ORDERS[element("order").value]);
  element("count").textContent = `${matching.length.toLocaleString("en")} of ${images.length.toLocaleString("en")} images`;
  element("grid").replaceChildren();
  placed = 0;
  more();
}

function more() {
  const next = matching.slice(placed, placed + STEP);
  element("grid").append(...next.map(tile));
  placed += next.length;
  element("more").hidden = placed >= matching.length;
}

function tile(image) {
  const divided = image.disagreement === null ? "" : `disagreement ${percent(image.disagreement)}`;
  const control = make(
    "button",
    { type: "button", className: "tile" },
    make("span", { className: "frame" }, picture(image, describe(image))),
    who(image.generator),
    make("span", { className: "says" }, [image.rating.words, divided].filter(Boolean).join("; ")),
    make("span", { className: "prompt" }, image.prompt),
  );
  control.addEventListener("click", () => open(image));
  return make("li", {}, control);
}

// One image

let current = null;

function open(image) {
  current = image;
  element("detail-body").replaceChildren(detail(image));
  if (!element("detail").open) element("detail").showModal();
  element("detail").scrollTop = 0;
  history.replaceState(null, "", `#${encodeURIComponent(image.id)}`);
  const place = matching.indexOf(image);
  element("before").disabled = place <= 0;
  element("after").disabled = place < 0 || place >= matching.length - 1;
}

function step(by) {
  const next = matching[matching.indexOf(current) + by];
  if (next && matching.includes(current)) open(next);
}

function detail(image) {
  const points = image.marks.filter((mark) => mark.length === 4);
  const left = make("div", {}, canvas(image, points), ...key(points), promptOf(image));
  const right = make("div", {}, make("h2", { id: "detail-head" }, image.id), who(image.generator));
  const about = [image.real ? "real" : "generated", image.style].filter(Boolean).join(", ");
  right.append(make("p", { className: "source" }, about), labelsOf(image), ...votesOf(image), scoresOf(image), skipsOf(image));
  return make("div", { className: "detail" }, left, right);
}

function canvas(image, points) {
  const frame = make("div", { className: "canvas" }, picture(image, describe(image), { loading: "eager" }));
  const overlay = makeSvg("svg", { viewBox: "0 0 1 1", preserveAspectRatio: "none", "aria-label": `${points.length} points marked` });
  for (const [aspect, rater, x, y] of points) {
    const tint = TINTS[content.aspects[aspect][1]] ?? TINTS.implausibility;
    const label = makeSvg("title", {}, `${content.aspects[aspect][1]}, ${content.raters[rater]}`);
    overlay.append(makeSvg("circle", { cx: x, cy: y, r: 0.025, fill: tint }, label));
  }
  if (points.length) frame.append(overlay);
  return frame;
}

function key(points) {
  const counts = new Map();
  for (const [aspect] of points) counts.set(content.aspects[aspect][1], (counts.get(content.aspects[aspect][1]) ?? 0) + 1);
  return [...counts].map(([aspect, count]) => {
    const swatch = make("i", { className: "swatch" });
    swatch.style.background = TINTS[aspect] ?? TINTS.implausibility;
    return make("p", { className: "small" }, swatch, `${aspect}: ${count} ${count === 1 ? "point" : "points"}`);
  });
}

function promptOf(image) {
  const marked = new Map();
  for (const mark of image.marks) if (mark.length === 3) marked.set(mark[2], (marked.get(mark[2]) ?? 0) + 1);
  const line = make("p", { className: "prompt" });
  let word = -1;
  for (const part of image.prompt.split(/(\s+)/)) {
    if (part.trim()) word += 1;
    const times = part.trim() ? marked.get(word) : undefined;
    line.append(times ? make("mark", { title: `misaligned according to ${times}` }, part) : part);
  }
  return line;
}

function table(heads, rows) {
  const head = make("thead", {}, make("tr", {}, ...heads.map((text) => make("th", { scope: "col" }, text))));
  const body = make("tbody", {}, ...rows.map((row) => make("tr", { className: row.className ?? "" }, ...row.map((cell) => make("td", {}, cell)))));
  return make("table", {}, head, body);
}

function nameOf(aspect) {
  const [question, name] = content.aspects[aspect];
  return question === name ? name : `${question}: ${name}`;
}

function labelsOf(image) {
  if (image.labels.length === 0) return "";
  const rows = image.labels.map(([aspect, what, value, low, high, answers]) => {
    const show = what === "called generated" ? percent : number;
    // where all raters said the same, a t interval has no width: that is no certainty
    const interval = low === null ? "–" : low === high ? "all answers alike" : `${show(low)} to ${show(high)}`;
    return [nameOf(aspect), `${show(value)} ${what}`, interval, String(answers)];
  });
  return make("div", {}, make("h3", {}, "Labels"), table(["judged", "label", "confidence interval", "answers"], rows));
}

function votesOf(image) {
  const byAspect = Map.groupBy ? Map.groupBy(image.votes, ([aspect]) => aspect) : grouped(image.votes);
  return [...byAspect].map(([aspect, votes]) => {
    const [, , kind, , , names] = content.aspects[aspect];
    const paired = votes.some(([, , , rival]) => rival !== null);
    const rows = votes.map(([, rater, value, rival, used]) => {
      const row = [content.raters[rater], answerWords(kind, value, names)];
      if (paired) row.push(rival === null ? "–" : rivalOf(images[rival]));
      row.push(used ? "" : "excluded");
      if (!used) row.className = "excluded";
      return row;
    });
    const heads = ["rater", "answer", ...(paired ? ["against"] : []), ""];
    return make("div", {}, make("h3", {}, `${nameOf(aspect)}: ${votes.length} ${votes.length === 1 ? "vote" : "votes"}`), table(heads, rows));
  });
}

function grouped(votes) {
  const groups = new Map();
  for (const vote of votes) groups.set(vote[0], [...(groups.get(vote[0]) ?? []), vote]);
  return groups;
}

function rivalOf(image) {
  const control = make("button", { type: "button", className: "link" });
  if (image.file !== null) control.append(picture(image, "", { className: "rival" }));
  control.append(content.generators[image.generator]);
  control.addEventListener("click", () => open(image));
  return control;
}

function scoresOf(image) {
  if (image.scores.length === 0) return "";
  const rows = image.scores.map(([scorer, score]) => [content.scorers[scorer], number(score)]);
  return make("div", {}, make("h3", {}, "Scores"), table(["scorer", "score"], rows));
}

function skipsOf(image) {
  if (image.skips.length === 0) return "";
  const commented = image.skips.some((skip) => skip.length > 2);
  const rows = image.skips.map(([rater, reason, ...comment]) => [content.raters[rater], reason, ...comment]);
  return make("div", {}, make("h3", {}, "Skipped"), table(["rater", "reason", ...(commented ? ["comment"] : [])], rows));
}

for (const id of ["prompt", "generator", "disagreement", "order"]) element(id).addEventListener("input", filter);
document.querySelector(".filters").addEventListener("submit", (event) => event.preventDefault());
element("more").addEventListener("click", more);
element("before").addEventListener("click", () => step(-1));
element("after").addEventListener("click", () => step(1));
element("close").addEventListener("click", () => element("detail").close());
element("detail").addEventListener("close", () => history.replaceState(null, "", location.pathname));
addEventListener("keydown", (event) => {
  if (!element("detail").open) return;
  if (event.key === "ArrowLeft") step(-1);
  if (event.key === "ArrowRight") step(1);
});

function follow() {
  const image = byId.get(decodeURIComponent(location.hash.slice(1)));
  if (image) open(image);
}
addEventListener("hashchange", follow);
filter();
follow();
document.documentElement.dataset.ready = "yes";
