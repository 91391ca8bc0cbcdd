// What the rater decides about the panel: interests, contact, leaving.

import { h } from "/static/dom.js";

/** @param {any} page @param {import("./app.js").Tools} tools */
export function interests(page, tools) {
  const { t } = tools;
  if (page.kinds.length < 2) return null;
  const form = h("form", { class: "card form" }, h("p", { class: "note" }, t("panel.interests.text")),
    h("fieldset", { class: "choices" }, h("legend", { class: "unseen" }, t("panel.interests.title")),
      page.kinds.map((/** @type {string} */ kind) => h("label", { class: "choice" },
        h("input", { type: "checkbox", name: "kind", value: kind, checked: page.interests.includes(kind) }), h("span", {}, t(`panel.kind.${kind}`))))),
    h("div", {}, h("button", { type: "submit", class: "button", id: "save-interests" }, t("panel.interests.save"))));
  form.addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    tools.act("/api/interests", { kinds: new FormData(form).getAll("kind") });
  });
  return h("section", { class: "part", "aria-labelledby": "interests-title" }, h("h2", { id: "interests-title" }, t("panel.interests.title")), form);
}

/** @param {any} page @param {import("./app.js").Tools} tools */
export function contact(page, tools) {
  const { t, texts } = tools;
  const stop = h("button", { type: "button", class: "button", id: "opt-out", onclick: () => tools.act("/api/opt-out") }, t("panel.contact.stop"));
  const again = h("button", { type: "button", class: "button", id: "opt-in", onclick: () => tools.act("/api/opt-in") }, t("panel.contact.again"));
  const since = page.contact && new Date(1000 * page.contact).toLocaleDateString(texts.language);
  return h("section", { class: "part", "aria-labelledby": "contact-title" },
    h("h2", { id: "contact-title" }, t("panel.contact.title")),
    h("div", { class: "card" },
      page.contact ? h("p", {}, t("panel.contact.kept", { date: since })) : contactForm(tools),
      h("div", {}, page.opted_out ? again : stop)));
}

/** @param {import("./app.js").Tools} tools */
function contactForm(tools) {
  const { t, texts } = tools;
  const address = h("input", { id: "address", type: "email", maxlength: 320, autocomplete: "email" });
  const agree = h("input", { id: "agree", type: "checkbox" });
  const missing = h("p", { class: "form__missing", role: "alert" });
  const form = h("form", { class: "form", novalidate: true },
    h("div", { class: "form__field" }, h("label", { for: "address", class: "form__label" }, t("panel.contact.address")), address),
    h("label", { class: "choice" }, agree, h("span", {}, t("panel.contact.consent"))), missing,
    h("div", {}, h("button", { type: "submit", class: "button", id: "save-contact" }, t("panel.contact.save"))));
  form.addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    const ready = agree.checked && address.value.trim() && address.checkValidity();
    missing.textContent = ready ? "" : t("panel.contact.missing");
    if (ready) tools.act("/api/contact", { address: address.value.trim(), language: texts.language });
  });
  return form;
}

/** @param {any} page @param {import("./app.js").Tools} tools */
export function leaving(page, tools) {
  const { t } = tools;
  return h("section", { class: "part", "aria-labelledby": "leave-title" },
    h("h2", { id: "leave-title" }, t("panel.leave.title")),
    h("p", {}, t("panel.leave.text")),
    h("div", {}, h("button", { type: "button", class: "button", id: "leave", onclick: () => leaveDialog(tools) }, t("panel.leave.open"))));
}

/** @param {import("./app.js").Tools} tools */
function leaveDialog(tools) {
  const { t } = tools;
  const answers = h("input", { type: "checkbox" });
  const yes = h("button", { type: "button", class: "button button--serious" }, t("panel.leave.confirm"));
  const no = h("button", { type: "button", class: "button" }, t("cancel"));
  const box = h("dialog", { class: "dialog", "aria-labelledby": "dialog-title" },
    h("h2", { id: "dialog-title" }, t("panel.leave.question")), h("p", {}, t("panel.leave.warning")),
    h("label", { class: "choice" }, answers, h("span", {}, t("panel.leave.answers"))),
    h("div", { class: "dialog__buttons" }, no, yes));
  box.addEventListener("close", () => box.remove());
  no.addEventListener("click", () => box.close());
  yes.addEventListener("click", async () => {
    yes.disabled = true;
    const reply = await tools.send("/api/delete", { answers: answers.checked });
    box.close();
    if (reply) tools.end("panel.gone.title", "panel.gone.text");
  });
  document.body.append(box);
  box.showModal();
}
