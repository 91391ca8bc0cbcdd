// Search in all prompts: their texts are read in parts, when the field is first used.
"use strict";
{
  const MOST = 100;
  const form = /** @type {HTMLFormElement} */ (document.getElementById("search"));
  const field = /** @type {HTMLInputElement} */ (form.querySelector("input"));
  const status = /** @type {HTMLOutputElement} */ (form.querySelector("output"));
  const matches = /** @type {HTMLUListElement} */ (document.getElementById("found"));
  const listed = /** @type {HTMLUListElement} */ (document.getElementById("listed"));
  const parts = Number(form.dataset.shards);

  /** @type {[string, string][]} page and text of each prompt */
  const prompts = [];
  let loaded = 0;

  const search = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    matches.hidden = words.length === 0;
    listed.hidden = !matches.hidden;
    const hits = words.length ? prompts.filter(([, text]) => words.every((word) => text.toLowerCase().includes(word))) : [];
    matches.replaceChildren(...hits.slice(0, MOST).map(([page, text]) => {
      const entry = document.createElement("li");
      const link = document.createElement("a");
      link.href = `${page}.html`;
      link.textContent = text;
      entry.append(link);
      return entry;
    }));
    const many = hits.length > MOST ? `, the first ${MOST} are listed` : "";
    status.textContent = words.length ? (loaded < parts ? "reading …" : `${hits.length} found${many}`) : "";
  };

  const load = () => {
    for (let part = 0; part < parts; part += 1) {
      const script = document.createElement("script");
      script.src = `search-${part}.js`;
      document.head.append(script);
    }
  };

  // Called by each part.
  Object.assign(window, {
    /** @param {[string, string][]} rows */
    addPrompts: (rows) => {
      prompts.push(...rows);
      loaded += 1;
      search();
    },
  });
  field.addEventListener("focus", load, { once: true });
  field.addEventListener("input", search);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
}
