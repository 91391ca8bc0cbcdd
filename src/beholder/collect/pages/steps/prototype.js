// The end of a prototype: what was unclear, how long it took, whether the pay is fair, and a vote.

import { h } from "/static/dom.js";
import { base } from "/static/link.js";
import { showPage } from "/static/steps/page.js";
import { choiceField, minutesField, numberIn, pointScale } from "/static/steps/points.js";

/**
 * @param {HTMLElement} container
 * @param {any} state
 * @param {import("../app.js").Tools} tools
 */
export async function prototype(container, state, tools) {
  const { t } = tools;
  const seconds = await tools.api.activeSeconds();
  const send = h("button", { type: "submit", form: "prototype", class: "button button--primary" }, t("prototype.send"));
  const text = h("textarea", { id: "change", name: "text", rows: 4, maxlength: 5000 });
  const missing = h("p", { class: "form__missing", role: "alert" });
  const form = h("form", { id: "prototype", class: "card form", novalidate: true },
    pointScale({ name: "clear", question: t("prototype.clear"), low: t("debrief.clear.low"), high: t("debrief.clear.high") }),
    trials(state.prototype.trials, t),
    choiceField("examples", t("prototype.examples"), [["yes", t("prototype.yes")], ["no", t("prototype.no")]]),
    minutesField(t("prototype.minutes"), seconds, ""),
    pointScale({ name: "pay", question: t("prototype.pay"), low: t("debrief.fair.low"), high: t("debrief.fair.high") }),
    choiceField("vote", t("prototype.vote"), [["publish", t("prototype.vote.publish")], ["revise", t("prototype.vote.revise")]]),
    h("div", { class: "form__field" }, h("label", { for: "change", class: "form__label" }, t("prototype.text")), text),
    missing);
  showPage(container, state, tools, { title: t("prototype.title"), lead: t("prototype.lead") }, [form], [send]);
  return new Promise((resolve, reject) => {
    form.addEventListener("submit", (/** @type {Event} */ event) => {
      event.preventDefault();
      const open = unanswered(form, t);
      missing.textContent = open.length ? t("prototype.missing", { questions: open.join(" · ") }) : "";
      if (open.length) return;
      send.disabled = true;
      tools.api.post("/api/prototype", body(form)).then(resolve, reject);
    });
  });
}

/** Every trial as small pictures, to be ticked. @param {any[]} list @param {import("../texts.js").Translate} t */
function trials(list, t) {
  return h("fieldset", { class: "choices" }, h("legend", {}, t("prototype.trials")),
    h("div", { class: "thumbs" }, list.map((trial, index) => h("label", { class: "thumb" },
      h("input", { type: "checkbox", name: "trials", value: trial.trial }),
      h("span", { class: "thumb__images" }, trial.images.map((/** @type {any} */ image) =>
        h("img", { src: `${base}/api/image/${encodeURIComponent(image.token)}`, alt: "", loading: "lazy" }))),
      h("span", {}, t("prototype.trial", { number: index + 1 }))))));
}

/** What has no answer yet, in words. @param {HTMLFormElement} form @param {import("../texts.js").Translate} t */
function unanswered(form, t) {
  const data = new FormData(form);
  const minutes = numberIn(form, "minutes");
  const open = ["clear", "examples", "pay", "vote"].filter((name) => data.get(name) === null).map((name) => t(`prototype.${name}`));
  if (minutes === null || !(minutes > 0 && minutes <= 600)) open.push(t("prototype.minutes"));
  if (data.get("vote") === "revise" && !String(data.get("text")).trim()) open.push(t("prototype.text"));
  return open;
}

/** @param {HTMLFormElement} form */
function body(form) {
  const data = new FormData(form);
  return {
    vote: data.get("vote"), clear: numberIn(form, "clear"), pay: numberIn(form, "pay"), minutes: numberIn(form, "minutes"),
    examples: data.get("examples") === "yes", text: String(data.get("text")).trim(), trials: data.getAll("trials"),
  };
}
