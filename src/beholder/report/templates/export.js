// Every chart and every table can be copied as CSV, LaTeX or Markdown; a chart can be downloaded as SVG or PNG.
const daylight = JSON.parse(document.getElementById("daylight").textContent);
const NUMBER = /^[+−-]?[\d,]*\.?\d+$/;

/** Text as CSV has it: plain minus signs, no thousands separators, and nothing that a spreadsheet would run. */
function csvCell(text) {
  if (NUMBER.test(text)) return text.replace("−", "-").replaceAll(",", "");
  const safe = /^[=@+\-−\t]/.test(text) ? `'${text}` : text;
  return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const LATEX = {
  "\\": "\\textbackslash{}", "{": "\\{", "}": "\\}", "%": "\\%", "&": "\\&", "#": "\\#", _: "\\_", $: "\\$",
  "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "−": "$-$", "±": "$\\pm$", "×": "$\\times$", "–": "--",
  "≫": "$\\gg$", "≪": "$\\ll$", "≈": "$\\approx$", ">": "$>$", "<": "$<$", "α": "$\\alpha$", "ρ": "$\\rho$",
  "′": "$'$", "’": "'", "“": "``", "”": "''", "√": "$\\surd$", "∞": "$\\infty$", "²": "$^2$", "κ": "$\\kappa$",
};

const latexCell = (text) => [...text].map((letter) => LATEX[letter] ?? letter).join("");
const markdownCell = (text) => text.replace(/[\\|`*_<>]/g, "\\$&");

const WRITERS = {
  CSV: (rows) => rows.map((row) => row.map(csvCell).join(",")).join("\n") + "\n",
  LaTeX: ([head, ...body]) => {
    const line = (row) => `  ${row.map(latexCell).join(" & ")} \\\\`;
    const numeric = head.map((_, place) => body.every((row) => !row[place] || /^[+−-]?[\d.,]|^–$|^</.test(row[place])));
    const lines = ["\\begin{tabular}{" + numeric.map((right) => (right ? "r" : "l")).join("") + "}", "  \\toprule"];
    return [...lines, line(head), "  \\midrule", ...body.map(line), "  \\bottomrule", "\\end{tabular}", ""].join("\n");
  },
  Markdown: ([head, ...body]) => {
    const line = (row) => `| ${row.map(markdownCell).join(" | ")} |`;
    return [line(head), `|${head.map(() => "---").join("|")}|`, ...body.map(line), ""].join("\n");
  },
};

const plainText = (element) => element.textContent.replace(/\s+/g, " ").trim();

/** The cells of a table as texts; a cell that spans columns is followed by empty ones. */
function rowsOfTable(table) {
  return [...table.rows].map((row) =>
    [...row.cells].flatMap((cell) => [plainText(cell), ...Array(cell.colSpan - 1).fill("")]),
  );
}

/** The data of a chart, with the heads that it declares. */
function rowsOfChart(name) {
  const spec = JSON.parse(document.getElementById(`spec-${name}`).textContent);
  const columns = spec.usermeta.columns;
  const text = (value) => (value === null || value === undefined ? "" : [value].flat().join(" "));
  return [columns.map(([, head]) => head), ...spec.data.values.map((row) => columns.map(([field]) => text(row[field])))];
}

/** The still drawing in the colours of the light page. */
function drawing(plot) {
  const svg = plot.querySelector(".still svg").cloneNode(true);
  svg.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return new XMLSerializer()
    .serializeToString(svg)
    .replace(/var\(--([a-z0-9]+)\)/g, (_, name) => daylight[name] ?? "currentColor");
}

function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

async function png(plot) {
  const scale = 3;
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(drawing(plot))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = scale * image.naturalWidth;
  canvas.height = scale * image.naturalHeight;
  const context = canvas.getContext("2d");
  context.fillStyle = daylight.paper;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

/** To the clipboard; by way of a text field where the browser has no clipboard for files. */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
}

function button(label, title, act) {
  const control = document.createElement("button");
  control.type = "button";
  control.textContent = label;
  control.title = title;
  control.addEventListener("click", async () => {
    await act();
    control.textContent = "done";
    setTimeout(() => (control.textContent = label), 1500);
  });
  return control;
}

function group(title, controls) {
  const line = document.createElement("p");
  line.append(`${title} `, ...controls);
  return line;
}

function menu(about, lines) {
  const details = document.createElement("details");
  details.className = "export";
  const summary = document.createElement("summary");
  summary.textContent = "Export";
  summary.setAttribute("aria-label", `Export ${about}`);
  const box = document.createElement("div");
  box.append(...lines);
  details.append(summary, box);
  return details;
}

const copying = (rows) =>
  Object.entries(WRITERS).map(([name, write]) => button(name, `Copy as ${name}`, () => copy(write(rows()))));

for (const plot of document.querySelectorAll("[data-chart]")) {
  const name = plot.dataset.chart;
  const saving = [
    button("SVG", "Download as SVG", () => download(new Blob([drawing(plot)], { type: "image/svg+xml" }), `${name}.svg`)),
    button("PNG", "Download as PNG", async () => download(await png(plot), `${name}.png`)),
  ];
  const made = menu(`the chart ${name}`, [group("Copy data", copying(() => rowsOfChart(name))), group("Download", saving)]);
  const head = plot.parentElement.querySelector(":scope > figcaption, :scope > .sub");
  if (head && !head.querySelector(".export")) head.append(made);
  else plot.before(made);
}
for (const table of document.querySelectorAll("main table")) {
  const scroll = table.closest(".scroll");
  const block = scroll?.querySelectorAll("table").length === 1 ? scroll : table;
  const about = block.getAttribute("aria-label") ?? "the table";
  const made = menu(about, [group("Copy table", copying(() => rowsOfTable(table)))]);
  made.classList.add("below");
  block.after(made);
}
addEventListener("click", (event) => {
  for (const open of document.querySelectorAll(".export[open]")) if (!open.contains(event.target)) open.open = false;
});
document.documentElement.dataset.exports = "yes";
