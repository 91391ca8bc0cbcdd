// What to do, with a drawing and the keys.

import { h } from "/static/dom.js";
import { KINDS } from "/static/kinds/catalogue.js";
import { keyCap } from "/static/kinds/choice_keys.js";
import { sketch } from "/static/kinds/sketch.js";
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
        h("ol", { class: "howto__steps" }, lines(task, texts).map((line) => h("li", {}, line)))),
      keyTable(task, t),
      h("p", { class: "note" }, t("instructions.note", { trials: task.trials })),
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

/** @param {any} task @param {import("../texts.js").Translate} t */
function keyTable(task, t) {
  const rows = KINDS[task.kind].keys(task).map(([keys, does]) => h("div", { class: "keys__row" },
    h("dt", {}, keys.map((key) => (key === "…" ? "…" : h("kbd", {}, keyCap(key, t))))), h("dd", {}, t(does))));
  return h("section", { class: "card keys" }, h("h2", {}, t("instructions.keys")), h("dl", {}, rows));
}
