// The number of columns at which the images of a stage are largest, all of them in view.

const CAPTION_PX = 32;
const GAP_PX = 12;
/** Images side by side compare better: more rows must make them larger by this factor. */
const WORTH = 1.2;

/**
 * @param {HTMLElement} stage
 * @param {{width: number, height: number}[]} images
 * @param {AbortSignal} signal
 */
export function fitColumns(stage, images, signal) {
  const ratio = images.reduce((sum, image) => sum + image.width / image.height, 0) / images.length;
  const update = () => {
    const columns = bestColumns(images.length, stage.clientWidth, stage.clientHeight, ratio);
    stage.style.setProperty("--columns", String(columns));
    stage.dataset.columns = String(columns);
    stage.style.setProperty("--rows", String(Math.ceil(images.length / columns)));
  };
  const observer = new ResizeObserver(update);
  observer.observe(stage);
  signal.addEventListener("abort", () => observer.disconnect(), { once: true });
  update();
}

/**
 * @param {number} count
 * @param {number} width
 * @param {number} height
 * @param {number} ratio width / height of an image
 */
export function bestColumns(count, width, height, ratio) {
  let best = { columns: 1, size: 0 };
  for (let columns = count; columns >= 1; columns -= 1) {
    const rows = Math.ceil(count / columns);
    const across = (width - GAP_PX * (columns + 1)) / columns;
    const down = (height - GAP_PX * (rows + 1)) / rows - CAPTION_PX;
    const size = Math.min(across, down * ratio);
    if (size > best.size * (columns === 1 ? WORTH : 1)) best = { columns, size };
  }
  return best.columns;
}
