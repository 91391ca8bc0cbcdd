// A question in front of the page. While it is open the images are veiled and no key answers the trial.

import { h } from "/static/dom.js";

/**
 * @param {import("../app.js").Tools} tools
 * @param {{title: string, content: any[], confirm: string, serious?: boolean, act: () => Promise<void>}} dialog
 */
export function openDialog(tools, { title, content, confirm, serious, act }) {
  const yes = h("button", { type: "button", class: serious ? "button button--serious" : "button button--primary" }, confirm);
  const no = h("button", { type: "button", class: "button" }, tools.t("cancel"));
  const box = h("dialog", { class: "dialog", "aria-labelledby": "dialog-title" },
    h("h2", { id: "dialog-title" }, title), content, h("div", { class: "dialog__buttons" }, no, yes));
  const close = () => box.remove();
  box.addEventListener("close", close);
  tools.signal.addEventListener("abort", close, { once: true });
  no.addEventListener("click", () => box.close());
  yes.addEventListener("click", async () => {
    yes.disabled = true;
    await act().catch(async (error) => {
      tools.go(await tools.refresh());
      tools.explain(error);
    });
    close();
  });
  document.body.append(box);
  box.showModal();
}
