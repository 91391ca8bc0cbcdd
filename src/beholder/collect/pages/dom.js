// Elements made without strings of HTML, so that nothing that a study holds can become markup.

const SVG = "http://www.w3.org/2000/svg";

/**
 * An HTML element. `on…` adds a listener, `vars` sets custom properties; null, undefined and false are left out.
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...any} children
 * @returns {any}
 */
export function h(tag, attributes = {}, ...children) {
  return furnish(document.createElement(tag), attributes, children);
}

/**
 * An SVG element.
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...any} children
 * @returns {any}
 */
export function svg(tag, attributes = {}, ...children) {
  return furnish(document.createElementNS(SVG, tag), attributes, children);
}

/**
 * Replace the content of a container, and move the focus to its heading so that it is read out.
 * @param {HTMLElement} container
 * @param {...any} children
 */
export function show(container, ...children) {
  container.replaceChildren(...children);
  window.scrollTo(0, 0);
  const heading = container.querySelector("h1");
  if (!heading) return;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

/**
 * Plain text as paragraphs, lists (`- `) and headings (`# `).
 * @param {string} text
 * @returns {HTMLElement[]}
 */
export function paragraphs(text) {
  return text.trim().split(/\n\s*\n/).map((block) => {
    const lines = block.split("\n").map((line) => line.trim());
    if (lines.every((line) => line.startsWith("- "))) {
      return h("ul", {}, lines.map((line) => h("li", {}, line.slice(2))));
    }
    if (lines[0].startsWith("# ")) return h("h2", {}, lines.join(" ").slice(2));
    return h("p", {}, lines.join(" "));
  });
}

/**
 * A button that copies a text and says so.
 * @param {string} text
 * @param {string} label
 * @param {string} copied
 */
export function copyButton(text, label, copied) {
  const button = h("button", { type: "button", class: "button" }, label);
  button.addEventListener("click", async () => {
    await copy(text);
    button.textContent = copied;
  });
  return button;
}

/** @param {string} text */
async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text).catch(() => copyBySelection(text));
  return copyBySelection(text);
}

/** @param {string} text */
function copyBySelection(text) {
  const field = h("textarea", { class: "unseen", readonly: true }, text);
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}

/**
 * @param {Element} element
 * @param {Record<string, any>} attributes
 * @param {any[]} children
 */
function furnish(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "vars") setVariables(/** @type {HTMLElement} */ (element), value);
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/**
 * @param {HTMLElement} element
 * @param {Record<string, string | number>} variables
 */
function setVariables(element, variables) {
  for (const [name, value] of Object.entries(variables)) element.style.setProperty(name, String(value));
}
