// Leave the study, with or without one's answers.

import { h } from "/static/dom.js";
import { openDialog } from "/static/steps/dialog.js";

/**
 * @param {import("../app.js").Tools} tools
 */
export function withdrawDialog(tools) {
  const { t } = tools;
  const remove = h("input", { type: "checkbox" });
  openDialog(tools, {
    title: t("withdraw.title"),
    content: [
      h("p", {}, t("withdraw.text")),
      h("p", { class: "note" }, t("withdraw.later")),
      h("label", { class: "choice" }, remove, h("span", {}, t("withdraw.delete"))),
    ],
    confirm: t("withdraw.confirm"),
    serious: true,
    act: async () => tools.go(await tools.api.post("/api/withdraw", { delete: remove.checked })),
  });
}
