// Dragging by pointer events, alike for mouse, pen and finger. A short move is still a click.

const LEAST_PX = 8;

/**
 * @param {HTMLElement[]} items both what can be dragged and where it can be dropped
 * @param {(from: HTMLElement, to: HTMLElement | null) => void} onDrop
 * @param {AbortSignal} signal
 */
export function watchDrags(items, onDrop, signal) {
  for (const item of items) {
    item.addEventListener("pointerdown", (event) => {
      if (event.button === 0) follow(item, event, items, onDrop);
    }, { signal });
  }
}

/**
 * @param {HTMLElement} item
 * @param {PointerEvent} start
 * @param {HTMLElement[]} items
 * @param {(from: HTMLElement, to: HTMLElement | null) => void} onDrop
 */
function follow(item, start, items, onDrop) {
  const over = new AbortController();
  let dragging = false;
  let target = /** @type {HTMLElement | null} */ (null);
  const move = (/** @type {PointerEvent} */ event) => {
    const [dx, dy] = [event.clientX - start.clientX, event.clientY - start.clientY];
    if (!dragging && Math.hypot(dx, dy) < LEAST_PX) return;
    dragging = true;
    lift(item, dx, dy);
    target = aim(items, item, event, target);
  };
  const end = (/** @type {PointerEvent} */ event) => {
    over.abort();
    settle(item, target);
    if (!dragging || event.type === "pointercancel") return;
    item.addEventListener("click", (click) => click.stopImmediatePropagation(), { capture: true, once: true });
    setTimeout(() => onDrop(item, target), 0);
  };
  document.addEventListener("pointermove", move, { signal: over.signal });
  document.addEventListener("pointerup", end, { signal: over.signal });
  document.addEventListener("pointercancel", end, { signal: over.signal });
}

/** @param {HTMLElement} item @param {number} dx @param {number} dy */
function lift(item, dx, dy) {
  item.classList.add("dragged");
  item.style.setProperty("--dx", `${dx}px`);
  item.style.setProperty("--dy", `${dy}px`);
}

/** Mark what is under the pointer. @param {HTMLElement[]} items @param {HTMLElement} item @param {PointerEvent} event @param {HTMLElement | null} before */
function aim(items, item, event, before) {
  const under = document.elementsFromPoint(event.clientX, event.clientY);
  const target = items.find((other) => other !== item && under.includes(other)) ?? null;
  if (before !== target) before?.classList.remove("aimed");
  target?.classList.add("aimed");
  return target;
}

/** @param {HTMLElement} item @param {HTMLElement | null} target */
function settle(item, target) {
  item.classList.remove("dragged");
  target?.classList.remove("aimed");
}
