// Questions before something is done: what, why, and with what numbers.

import { h } from "/static/dom.js";
import { t } from "/static/researcher/language.js";

/**
 * Ask, and give back what was filled in; null where it was called off.
 * @param {{title: string, text?: string, fields?: any[], action: string, bad?: boolean}} ask
 * @returns {Promise<Record<string, string> | null>}
 */
export function ask({ title, text, fields = [], action, bad = false }) {
  const form = h("form", { method: "dialog" },
    h("h2", { id: "dialog-title" }, title),
    text && h("p", {}, text),
    fields,
    h("div", { class: "buttons" },
      h("button", { class: "button", type: "button", onclick: () => box.close("") }, t("cancel")),
      h("button", { class: `button ${bad ? "button--bad" : "button--primary"}`, type: "submit", value: "yes" }, action)));
  const box = h("dialog", { "aria-labelledby": "dialog-title" }, form);
  document.body.append(box);
  box.showModal();
  return new Promise((resolve) => {
    box.addEventListener("close", () => {
      resolve(box.returnValue === "yes" ? /** @type {Record<string, string>} */ (Object.fromEntries(new FormData(form))) : null);
      box.remove();
    });
  });
}

/** @param {boolean} needed */
export function reasonField(needed) {
  return h("div", { class: "field" },
    h("label", { for: "dialog-reason" }, t(needed ? "reason" : "reason.optional")),
    h("textarea", { id: "dialog-reason", name: "reason", rows: 2, required: needed, maxlength: 2000 }));
}

/** @param {string} name @param {string} label @param {Record<string, any>} attributes */
export function field(name, label, attributes) {
  return h("div", { class: "field" },
    h("label", { for: `dialog-${name}` }, label), h("input", { id: `dialog-${name}`, name, ...attributes }));
}

/** A short message at the edge. @param {string} text @param {"good" | "bad"} [mood] */
export function say(text, mood = "good") {
  const toast = h("div", { class: "toast", "data-mood": mood }, text);
  document.getElementById("toasts")?.append(toast);
  setTimeout(() => toast.remove(), mood === "bad" ? 15_000 : 5_000);
}
