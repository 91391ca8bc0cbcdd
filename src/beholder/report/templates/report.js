// Draws every chart over its still drawing; where a chart cannot be drawn, the still drawing stays.
const options = {
  mode: "vega-lite",
  renderer: "svg",
  actions: false,
  defaultStyle: false,
  tooltip: { disableDefaultStyle: true },
};

for (const plot of document.querySelectorAll("[data-chart]")) {
  const spec = JSON.parse(document.getElementById(`spec-${plot.dataset.chart}`).textContent);
  const still = plot.querySelector(".still");
  const live = document.createElement("div");
  live.className = "live";
  plot.append(live);
  still.hidden = true;
  try {
    await window.vegaEmbed(live, spec, options);
    still.remove();
    plot.dataset.drawn = "yes";
  } catch (error) {
    live.remove();
    still.hidden = false;
    console.error(`chart ${plot.dataset.chart}:`, error);
  }
}
document.documentElement.dataset.ready = "yes";
