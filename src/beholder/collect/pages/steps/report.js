// Something is wrong with this trial: skip it. Some skips are paid; after them a skip ends the session.

import { h } from "/static/dom.js";
import { openDialog } from "/static/steps/dialog.js";

const REASONS = ["disturbing", "broken", "other"];

/**
 * @param {any} trial
 * @param {import("../app.js").Tools} tools
 * @param {string} [likely] the reason that is chosen at first; by default none
 */
export function reportDialog(trial, tools, likely = "") {
  const { t } = tools;
  const end = trial.skips_left === 0;
  const comment = h("textarea", { id: "report-comment", rows: 2, maxlength: 1000 });
  const reasons = REASONS.map((reason) => h("label", { class: "choice" },
    h("input", { type: "radio", name: "reason", value: reason, checked: reason === likely }),
    h("span", {}, t(`report.${reason}`))));
  const fieldset = h("fieldset", { class: "choices" }, h("legend", {}, t("report.why")), reasons);
  openDialog(tools, {
    title: t(end ? "report.title.end" : "report.title"),
    content: [...consequences(trial, tools), fieldset,
      h("label", { class: "form__label", for: "report-comment" }, t("report.comment")), comment],
    confirm: t(end ? "report.confirm.end" : "report.confirm"),
    serious: end,
    act: async () => {
      const reason = fieldset.querySelector("input:checked")?.value ?? "other";
      const body = { trial: trial.trial, attempt: trial.attempt, reason, comment: comment.value.trim(), end };
      tools.go(await tools.api.post("/api/skip", body));
    },
  });
}

/** What skipping comes to, before anyone decides. @param {any} trial @param {import("../app.js").Tools} tools */
function consequences(trial, { t }) {
  const left = trial.skips_left;
  const check = trial.phase === "qualification" ? t("report.qualification") : trial.instruction && t("report.attention");
  if (left === 0) return [h("p", {}, t("report.end")), h("p", { class: "note" }, t("report.end.otherwise"))];
  return [
    h("p", {}, t("report.text")),
    h("p", {}, t(left === 1 ? "report.left.one" : "report.left", { left })),
    check && h("p", { class: "note" }, check),
  ];
}
