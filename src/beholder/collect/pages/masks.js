// Textured random patterns that wipe out the after-image. They are drawn from a seed alone, never from the images.

/** Cells across, and how much of each layer shows: coarse shapes first, fine grain last. */
const LAYERS = [[6, 1], [14, 0.6], [34, 0.45], [90, 0.3]];

/**
 * @param {number} count
 * @param {number} width
 * @param {number} height
 * @param {number} seed
 * @returns {Promise<ImageBitmap[]>}
 */
export function drawMasks(count, width, height, seed) {
  const random = mulberry32(seed);
  return Promise.all(Array.from({ length: count }, () => createImageBitmap(drawMask(width, height, random))));
}

/**
 * Coloured noise of several grains laid over each other.
 * @param {number} width
 * @param {number} height
 * @param {() => number} random
 */
function drawMask(width, height, random) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height];
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { alpha: false }));
  LAYERS.forEach(([cells, opacity], layer) => {
    context.globalAlpha = opacity;
    context.imageSmoothingEnabled = layer === 1;
    const across = Math.max(2, Math.round((cells * width) / Math.max(width, height)));
    const down = Math.max(2, Math.round((cells * height) / Math.max(width, height)));
    context.drawImage(noise(across, down, random), 0, 0, width, height);
  });
  return canvas;
}

/**
 * @param {number} width
 * @param {number} height
 * @param {() => number} random
 */
function noise(width, height, random) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height];
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const pixels = context.createImageData(width, height);
  for (let offset = 0; offset < pixels.data.length; offset += 4) {
    const light = 255 * random();
    for (let channel = 0; channel < 3; channel += 1) {
      pixels.data[offset + channel] = 0.6 * light + 0.4 * 255 * random();
    }
    pixels.data[offset + 3] = 255;
  }
  context.putImageData(pixels, 0, 0);
  return canvas;
}

/**
 * A small seeded generator of numbers from 0 to 1 (Mulberry32).
 * @param {number} seed
 */
export function mulberry32(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
