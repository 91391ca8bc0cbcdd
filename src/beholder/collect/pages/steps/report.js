// Something is wrong with this trial: skip it, without loss of pay.

import { h } from "/static/dom.js";
import { openDialog } from "/static/steps/dialog.js";

const REASONS = ["disturbing", "broken", "other"];

/**
 * @param {any} trial
 * @param {import("../app.js").Tools} tools
 */
export function reportDialog(trial, tools) {
  const { t } = tools;
  const comment = h("textarea", { id: "report-comment", rows: 3, maxlength: 1000 });
  const reasons = REASONS.map((reason, place) => h("label", { class: "choice" },
    h("input", { type: "radio", name: "reason", value: reason, checked: place === 0 }),
    h("span", {}, t(`report.${reason}`))));
  const fieldset = h("fieldset", { class: "choices" }, h("legend", {}, t("report.why")), reasons);
  openDialog(tools, {
    title: t("report.title"),
    content: [h("p", {}, t("report.text")), fieldset,
      h("label", { class: "form__label", for: "report-comment" }, t("report.comment")), comment],
    confirm: t("report.confirm"),
    act: () => skip(trial, tools, fieldset.querySelector("input:checked").value, comment.value.trim()),
  });
}

/**
 * @param {any} trial
 * @param {import("../app.js").Tools} tools
 * @param {string} reason
 * @param {string} comment
 */
export async function skip(trial, tools, reason, comment) {
  const body = { trial: trial.trial, attempt: trial.attempt, reason, comment };
  tools.go(await tools.api.post("/api/skip", body));
}
