// The unobtrusive line at the edge of the page: saving, offline, kept.

/** How long a request may take before anything is said about it. */
const PATIENCE_MS = 500;
const LONG_PATIENCE_MS = 2500;

export class Notice {
  /** @param {HTMLElement} element */
  constructor(element) {
    this.element = element;
    /** @type {(key: string) => string} */
    this.t = (key) => key;
    this.timer = 0;
    this.patience = 0;
  }

  /** A request is under way. */
  busy() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.say("notice.saving", "busy"), PATIENCE_MS);
  }

  /** The server cannot be reached. @param {boolean} keeping an answer is being kept */
  offline(keeping) {
    clearTimeout(this.timer);
    this.say(keeping ? "notice.kept" : "notice.offline", "offline");
  }

  /** Images are not ready yet; said only after a while. @param {boolean} waiting */
  preparing(waiting) {
    if (!waiting) {
      clearTimeout(this.patience);
      this.patience = 0;
      if (this.element.dataset.mood === "preparing") this.element.hidden = true;
    } else if (!this.patience) {
      this.patience = setTimeout(() => this.say("notice.preparing", "preparing"), LONG_PATIENCE_MS);
    }
  }

  /** All is well. */
  clear() {
    clearTimeout(this.timer);
    this.element.hidden = true;
  }

  /**
   * @param {string} key of the texts
   * @param {string} mood
   */
  say(key, mood) {
    this.element.textContent = this.t(key);
    this.element.dataset.mood = mood;
    this.element.hidden = false;
  }
}
