// What to do, with a drawing and the keys.

import { h, paragraphs } from "/static/dom.js";
import { KINDS } from "/static/kinds/catalogue.js";
import { keyCap } from "/static/kinds/choice_keys.js";
import { sketch } from "/static/kinds/sketch.js";
import { base } from "/static/link.js";
import { withLabels } from "/static/own_words.js";
import { clicked, primaryButton, showPage } from "/static/steps/page.js";

/**
 * @param {HTMLElement} container
 * @param {any} state
 * @param {import("../app.js").Tools} tools
 */
export function instructions(container, state, tools) {
  const { t, texts } = tools;
  const task = state.instructions;
  const go = primaryButton(t("instructions.go"), () => {});
  showPage(
    container, state, tools,
    { title: t("instructions.title"), lead: task.text },
    [
      h("div", { class: "card howto" },
        sketch(KINDS[task.kind].sketch()),
        task.own
          ? h("div", { class: "prose" }, paragraphs(task.own))
          : h("ol", { class: "howto__steps" }, lines(task, texts).map((line) => h("li", {}, line)))),
      task.examples?.length > 0 && exampleCard(task.examples, tools),
      keyTable(task, withLabels(t, task.settings.labels)),
      h("p", { class: "note" }, t("instructions.note", { trials: task.trials }),
        task.has_checks && ` ${t("instructions.attention")}`),
    ],
    [go],
  );
  return clicked(go, () => tools.api.post("/api/begin"));
}

/** What to know, line by line. @param {any} task @param {import("../texts.js").Texts} texts */
function lines(task, texts) {
  const { settings } = task;
  const ratio = task.disclosed_ratio;
  const kind = settings.viewing_ms ? `${task.kind}.hidden` : task.kind;
  const numbered = [1, 2, 3, 4].map((number) => `instructions.${kind}.${number}`).filter((key) => texts.has(key));
  return [
    ...numbered.map((key) => texts.t(key, settings)),
    task.options?.includes("tie") && texts.t("instructions.tie"),
    typeof ratio === "number" && texts.t("instructions.ratio", { percent: Math.round(100 * ratio) }),
  ].filter(Boolean);
}

/**
 * The study's own examples, good and bad ones marked by a sign and in words.
 * @param {{verdict: string, caption: string}[]} examples
 * @param {import("../app.js").Tools} tools
 */
function exampleCard(examples, tools) {
  const { t } = tools;
  return h("section", { class: "card", "aria-label": t("instructions.examples") },
    h("h2", {}, t("instructions.examples")),
    h("div", { class: "examples" }, examples.map((example, number) => exampleFigure(example, number, tools))));
}

/** @param {{verdict: string, caption: string}} example @param {number} number @param {import("../app.js").Tools} tools */
function exampleFigure({ verdict, caption }, number, { t, signal }) {
  const marked = verdict !== "neither";
  const title = marked ? t(`instructions.example.${verdict}`) : t("instructions.example", { number: number + 1 });
  const image = h("img", { class: "example__image", alt: caption || title });
  loadExample(image, number, signal);
  return h("figure", { class: "example", "data-verdict": verdict }, image,
    h("figcaption", {},
      h("strong", { class: "example__verdict" },
        marked && h("span", { "aria-hidden": "true" }, verdict === "good" ? "✓ " : "✗ "), title),
      caption && h("span", {}, caption)));
}

/** @param {HTMLImageElement} image @param {number} number @param {AbortSignal} signal */
async function loadExample(image, number, signal) {
  const reply = await fetch(`${base}/api/example/${number}`).catch(() => null);
  if (!reply?.ok) {
    image.remove(); // its caption still tells what it was to show
    return;
  }
  const address = URL.createObjectURL(await reply.blob());
  signal.addEventListener("abort", () => URL.revokeObjectURL(address), { once: true });
  image.src = address;
}

/** @param {any} task @param {import("../texts.js").Translate} t */
function keyTable(task, t) {
  const rows = KINDS[task.kind].keys(task).map(([keys, does]) => h("div", { class: "keys__row" },
    h("dt", {}, keys.map((key) => (key === "…" ? "…" : h("kbd", {}, keyCap(key, t))))), h("dd", {}, t(does))));
  return h("section", { class: "card keys" }, h("h2", {}, t("instructions.keys")), h("dl", {}, rows));
}
