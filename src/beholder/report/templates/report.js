// Draws each chart over its still drawing once it is in view of the reader: those in folded parts when they are
// unfolded. Where a chart cannot be drawn, the still drawing stays.
const options = {
  mode: "vega-lite",
  renderer: "svg",
  actions: false,
  defaultStyle: false,
  tooltip: { disableDefaultStyle: true },
};
const folds = [...document.querySelectorAll("details")];

/** Whether a folded part hides the element. */
const isFolded = (element) => element.parentElement.closest("details:not([open])") !== null;

async function draw(plot) {
  if (plot.dataset.drawn || isFolded(plot)) return;
  plot.dataset.drawn = "begun";
  const spec = JSON.parse(document.getElementById(`spec-${plot.dataset.chart}`).textContent);
  const still = plot.querySelector(".still");
  const live = document.createElement("div");
  live.className = "live";
  plot.append(live);
  still.hidden = true;
  try {
    await window.vegaEmbed(live, spec, options);
    plot.dataset.drawn = "yes";
  } catch (error) {
    live.remove();
    still.hidden = false;
    console.error(`chart ${plot.dataset.chart}:`, error);
  }
}

async function drawAll(within) {
  for (const plot of within.querySelectorAll("[data-chart]")) await draw(plot);
}

for (const fold of folds) fold.addEventListener("toggle", () => fold.open && drawAll(fold));

// A link into a folded part unfolds it.
function reveal() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let fold = target?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  target?.scrollIntoView();
}
addEventListener("hashchange", reveal);

const unfold = document.querySelector(".unfold");
const parts = folds.filter((fold) => fold.classList.contains("fold"));
unfold.hidden = parts.length === 0;
unfold.addEventListener("click", () => {
  const open = parts.some((fold) => !fold.open);
  for (const fold of parts) fold.open = open;
  unfold.textContent = open ? "Fold all" : "Unfold all";
});

// On paper nothing is folded.
let opened = [];
addEventListener("beforeprint", () => {
  opened = parts.filter((fold) => !fold.open);
  for (const fold of opened) fold.open = true;
});
addEventListener("afterprint", () => {
  for (const fold of opened) fold.open = false;
});

// The contents name the part in view.
const links = new Map(
  [...document.querySelectorAll(".contents a[href^='#']")].map((link) => [link.hash.slice(1), link]),
);
const sections = [...links.keys()].map((id) => document.getElementById(id));
function follow() {
  const passed = sections.filter((section) => section.getBoundingClientRect().top < 0.4 * innerHeight);
  const atEnd = scrollY + innerHeight >= document.documentElement.scrollHeight - 2 && scrollY > 0;
  const current = atEnd ? sections.at(-1) : passed.at(-1);
  for (const [id, link] of links) {
    if (id === current?.id) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}
addEventListener("scroll", follow, { passive: true });
follow();

await drawAll(document);
if (location.hash) reveal();
document.documentElement.dataset.ready = "yes";
