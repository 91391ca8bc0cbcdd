// The rater's page as a preview: it uses a temporary database, keeps nothing in the browser, and says so.

(() => {
  const send = window.fetch.bind(window);
  const base = location.pathname.split("/researcher")[0];
  const stored = localStorage.getItem("beholder.language");
  const language = (stored ?? navigator.language).startsWith("de") ? "de" : "en";
  window.fetch = (target, options) => {
    const path = typeof target === "string" && target.startsWith(base) ? target.slice(base.length) : "";
    const inside = path.startsWith("/api/") && !path.startsWith("/api/texts/");
    return send(inside ? `${base}/researcher/preview${path}` : target, options);
  };

  /** Storage that is gone with the page, so that a preview never meets an answer of a real session. */
  class Passing {
    #held = new Map();
    get length() { return this.#held.size; }
    /** @param {number} index */
    key(index) { return [...this.#held.keys()][index] ?? null; }
    /** @param {string} name */
    getItem(name) { return this.#held.get(name) ?? null; }
    /** @param {string} name @param {unknown} value */
    setItem(name, value) { this.#held.set(name, String(value)); }
    /** @param {string} name */
    removeItem(name) { this.#held.delete(name); }
    clear() { this.#held.clear(); }
  }
  for (const name of ["localStorage", "sessionStorage"]) {
    Object.defineProperty(window, name, { value: new Passing(), configurable: true });
  }

  /** Tabs of a preview do not call each other, nor those of a real session. */
  window.BroadcastChannel = class extends EventTarget {
    name = "";
    onmessage = null;
    onmessageerror = null;
    postMessage() {}
    close() {}
  };

  /** Say so when the study file has changed since this preview was opened. @param {HTMLElement} words @param {Record<string, string>} texts */
  async function watch(words, texts) {
    const version = async () => (await (await send(`${base}/researcher/preview-version`)).json()).version;
    const opened = await version();
    const timer = setInterval(async () => {
      if (document.hidden || (await version().catch(() => opened)) === opened) return;
      clearInterval(timer);
      const again = document.createElement("a");
      again.href = location.href;
      again.textContent = texts["preview.again"];
      words.replaceChildren(`${texts["preview.changed"]} `, again);
    }, 2000);
  }

  document.addEventListener("DOMContentLoaded", async () => {
    const texts = await (await send(`${base}/researcher/texts/${language}`)).json();
    const banner = document.createElement("aside");
    banner.className = "preview-banner";
    banner.setAttribute("aria-label", texts.preview);
    banner.lang = language;
    const words = document.createElement("span");
    words.textContent = texts["preview.about"];
    const back = document.createElement("a");
    back.href = `${base}/researcher`;
    back.textContent = texts["preview.back"];
    banner.append(words, back);
    document.body.prepend(banner);
    watch(words, texts);
  });
})();
