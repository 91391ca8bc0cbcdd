// Several images of one prompt, put in order: by tapping best to worst, by dragging onto ranks, or by keys.

import { h } from "/static/dom.js";
import { secondsBetween } from "/static/kinds/answer_bar.js";
import { watchDrags } from "/static/kinds/drag.js";
import { fitColumns } from "/static/kinds/grid.js";
import { emptyOrder, isComplete, placed, ranks, toggled } from "/static/kinds/order.js";
import { boxFor, letters, reveal } from "/static/kinds/pictures.js";
import { badge, buttons, scene } from "/static/kinds/sketch.js";
import { SubmitButton } from "/static/kinds/submit_button.js";
import { onKeys } from "/static/keys.js";

export const ranking = {
  /** @type {import("./catalogue.js").Kind["render"]} */
  async render(container, trial, tools) {
    const submit = new SubmitButton("Enter", tools);
    const board = new Board(trial, tools, (complete) => submit.allow(complete));
    container.replaceChildren(board.stage, h("div", { class: "panel panel--row" }, board.shelf, submit.element));
    fitColumns(board.stage, trial.images, tools.signal);
    const onset = await reveal(board.boxes, tools);
    board.open(submit.gate, tools.signal);
    const at = await submit.pressed(onset);
    const said = [{ aspect: "preference", ranking: ranks(board.order) }];
    return { said, marks: [], seconds: secondsBetween(onset, at), spoiled: false };
  },

  /** @returns {[string[], string][]} */
  keys() {
    return [
      [["arrows"], "keys.ranking.move"], [["digits"], "keys.ranking.place"], [[" "], "keys.ranking.next"],
      [["Backspace"], "keys.undo"], [["Enter"], "keys.submit"],
    ];
  },

  sketch: () => [
    ...[0, 1, 2, 3].flatMap((position) => [scene(12 + 76 * position, 26, 68, 60, position % 2 === 1),
      badge(20 + 76 * position, 24, ["3", "1", "4", "2"][position])]), ...buttons(4),
  ],

  attention: "attention.ranking",
};

/** The images and the ranks. */
class Board {
  /**
   * @param {any} trial
   * @param {import("../steps/trial.js").TrialTools} tools
   * @param {(complete: boolean) => void} onChange
   */
  constructor(trial, tools, onChange) {
    const { t } = tools;
    this.t = t;
    this.onChange = onChange;
    this.letters = letters(trial.images.length);
    this.boxes = this.letters.map((letter, position) => boxFor(trial.images[position], letter, t));
    this.order = emptyOrder(trial.images.length);
    /** @type {import("./order.js").Order[]} */
    this.history = [];
    this.badges = this.boxes.map(() => h("span", { class: "rankcard__rank", hidden: true }));
    this.cards = this.boxes.map((box, image) => {
      box.cell.firstElementChild?.append(this.badges[image]);
      return h("button", { type: "button", class: "rankcard", "data-image": image }, box.cell);
    });
    this.stage = h("div", { class: "stage stage--grid" }, this.cards);
    this.slots = this.order.map((_, rank) => h("button", { type: "button", class: "slot", "data-rank": rank }));
    this.shelf = h("div", { class: "shelf", role: "group", "aria-label": t("ranking.shelf"), "data-count": this.slots.length },
      h("span", { class: "shelf__end" }, t("ranking.best")), this.slots, h("span", { class: "shelf__end" }, t("ranking.worst")));
    this.#draw();
  }

  /** @param {import("../keys.js").Gate} gate @param {AbortSignal} signal */
  open(gate, signal) {
    const counts = (/** @type {Event} */ event) => gate.lets(event);
    this.cards.forEach((card, image) => card.addEventListener("click",
      (/** @type {Event} */ event) => counts(event) && this.#change(toggled(this.order, image))));
    this.slots.forEach((slot, rank) => slot.addEventListener("click", () => {
      const image = this.order[rank];
      if (image !== null) this.#change(toggled(this.order, image));
    }));
    watchDrags([...this.cards, ...this.slots], (from, to) => this.#drop(from, to), signal);
    this.#listen(gate, signal);
  }

  /** @param {import("../keys.js").Gate} gate @param {AbortSignal} signal */
  #listen(gate, signal) {
    const digits = this.order.map((_, rank) => [String((rank + 1) % 10), () => this.#rankFocused(rank)]);
    const move = (/** @type {number} */ by) => () => this.#moveFocus(by);
    const columns = () => Number(this.stage.style.getPropertyValue("--columns")) || 1;
    onKeys({
      ...Object.fromEntries(digits),
      ArrowLeft: move(-1), ArrowRight: move(1),
      ArrowUp: () => this.#moveFocus(-columns()), ArrowDown: () => this.#moveFocus(columns()),
      Backspace: () => this.#undo(),
    }, gate, signal);
  }

  /** @param {number} rank */
  #rankFocused(rank) {
    const image = this.cards.indexOf(document.activeElement);
    if (image >= 0) this.#change(placed(this.order, image, rank));
    return image >= 0;
  }

  /** @param {number} by */
  #moveFocus(by) {
    const now = this.cards.indexOf(document.activeElement);
    const next = now < 0 ? 0 : now + by;
    this.cards[next]?.focus();
  }

  /** @param {HTMLElement} from @param {HTMLElement | null} to */
  #drop(from, to) {
    const image = from.dataset.image === undefined ? this.order[Number(from.dataset.rank)] : Number(from.dataset.image);
    if (image === null || !to) return;
    const rank = to.dataset.rank === undefined ? this.order.indexOf(Number(to.dataset.image)) : Number(to.dataset.rank);
    if (rank >= 0) this.#change(placed(this.order, image, rank));
  }

  #undo() {
    const before = this.history.pop();
    if (!before) return;
    this.order = before;
    this.#draw();
  }

  /** @param {import("./order.js").Order} order */
  #change(order) {
    this.history.push(this.order);
    this.order = order;
    this.#draw();
  }

  #draw() {
    this.cards.forEach((card, image) => {
      const rank = this.order.indexOf(image) + 1;
      const badge = this.badges[image];
      badge.hidden = rank === 0;
      badge.textContent = String(rank);
      card.dataset.ranked = String(rank > 0);
      const letter = this.letters[image];
      card.setAttribute("aria-label", rank ? this.t("ranking.card", { letter, rank }) : this.t("image.lettered", { letter }));
    });
    this.slots.forEach((slot, rank) => this.#drawSlot(slot, rank, this.order[rank]));
    this.onChange(isComplete(this.order));
  }

  /** @param {HTMLElement} slot @param {number} rank @param {number | null} image */
  #drawSlot(slot, rank, image) {
    const letter = image === null ? "" : this.letters[image];
    const label = letter ? this.t("ranking.card", { letter, rank: rank + 1 }) : this.t("ranking.free", { rank: rank + 1 });
    slot.setAttribute("aria-label", label);
    slot.dataset.filled = String(letter !== "");
    slot.replaceChildren(h("span", { class: "slot__rank" }, rank + 1), h("span", { class: "slot__letter" }, letter));
  }
}
