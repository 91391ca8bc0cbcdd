// The studies that are open to this rater, in the rater's own order.

import { h } from "/static/dom.js";
import { money } from "/static/panel/money.js";

const ENTERED = "beholder.entered";

/** @param {any} page @param {import("./app.js").Tools} tools */
export function offers(page, tools) {
  const { t } = tools;
  const none = t(page.opted_out ? "panel.open.opted-out" : "panel.open.none");
  return h("section", { class: "part", "aria-labelledby": "open-title" },
    h("h2", { id: "open-title" }, t("panel.open.title")),
    page.offers.length ? h("p", { class: "note" }, t("panel.open.order")) : h("p", {}, none),
    page.offers.map((/** @type {any} */ offer) => card(offer, tools)));
}

/** @param {any} offer @param {import("./app.js").Tools} tools */
function card(offer, tools) {
  const { t, texts } = tools;
  const amount = (/** @type {number} */ value) => money(100 * value, offer.currency, texts.language);
  const heading = `offer-${offer.study}`;
  const later = offer.opens_in > 0 && !offer.running;
  return h("article", { class: "card offer", "aria-labelledby": heading },
    h("div", { class: "offer__head" }, h("h3", { id: heading }, offer.title), h("p", { class: "note" }, t("panel.open.by", { researcher: offer.researcher }))),
    offer.purpose && h("p", {}, h("strong", {}, `${t("panel.open.purpose")}: `), offer.purpose),
    h("ul", { class: "tags" }, offer.kinds.map((/** @type {string} */ kind) => h("li", {}, t(`panel.kind.${kind}`)))),
    h("p", {}, t("panel.open.pay", { amount: amount(offer.pay), minutes: Math.ceil(offer.minutes), hourly: amount(offer.hourly) })),
    offer.mean_rating !== null && h("p", { class: "note" }, t("panel.open.rated", { count: offer.ratings, mean: offer.mean_rating.toFixed(1) })),
    later
      ? h("div", {}, h("p", {}, h("strong", {}, t("panel.open.later", { minutes: Math.ceil(offer.opens_in / 60) }))), h("p", { class: "note" }, t("panel.open.why")))
      : h("div", {}, h("button", { type: "button", class: "button button--primary", id: `take-${offer.study}`, onclick: () => take(offer.study, tools) },
        t(offer.running ? "panel.open.continue" : "panel.open.take"))));
}

/** @param {string} study @param {import("./app.js").Tools} tools */
async function take(study, tools) {
  const reply = await tools.send("/api/take", { study });
  if (!reply) return;
  localStorage.removeItem(ENTERED);
  location.assign(reply.address);
}
