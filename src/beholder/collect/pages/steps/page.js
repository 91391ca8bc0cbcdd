// The frame of a page that is read: a heading, text, and the buttons at its end.

import { h, show } from "/static/dom.js";
import { withdrawDialog } from "/static/steps/withdraw.js";

/**
 * @param {HTMLElement} container
 * @param {any} state
 * @param {import("../app.js").Tools} tools
 * @param {{title: string, lead?: any, aside?: any}} head
 * @param {any[]} content
 * @param {any[]} buttons
 */
export function showPage(container, state, tools, head, content, buttons) {
  const mayLeave = ["check", "instructions", "break", "debrief", "prototype", "paused"].includes(state.step);
  show(
    container,
    h("main", { class: `page page--${state.step}` },
      h("div", { class: "page__top" },
        h("p", { class: "page__study" }, state.study?.title ?? ""),
        head.aside ?? (mayLeave && withdrawButton(tools))),
      h("h1", {}, head.title),
      head.lead && h("p", { class: "lead" }, head.lead),
      ...content,
      buttons.length > 0 && h("div", { class: "page__buttons" }, buttons)),
  );
}

/**
 * A button that leads on: posts once, and resolves with what the server says.
 * @param {string} label
 * @param {() => void} act
 */
export function primaryButton(label, act) {
  return h("button", { type: "button", class: "button button--primary", onclick: act }, label);
}

/**
 * @param {import("../app.js").Tools} tools
 */
export function withdrawButton(tools) {
  const open = () => withdrawDialog(tools);
  return h("button", { type: "button", class: "button button--quiet", onclick: open }, tools.t("withdraw.open"));
}

/**
 * Wait for a click on a button, then post; the button rests meanwhile.
 * @param {HTMLButtonElement} button
 * @param {() => Promise<any>} post
 * @returns {Promise<any>}
 */
export function clicked(button, post) {
  return new Promise((resolve, reject) => {
    button.addEventListener("click", () => {
      button.disabled = true;
      post().then(resolve, reject);
    });
  });
}
