// Images by their tokens: fetched ahead, decoded ahead for timed trials, let go afterwards.

import { pause } from "/static/waiting.js";

const TRIES = 6;
const FIRST_WAIT_MS = 400;

/** The image cannot be had. */
export class BrokenImage extends Error {}

export class Images {
  constructor() {
    /** @type {Map<string, Promise<Blob>>} */
    this.blobs = new Map();
    /** @type {Map<string, Promise<ImageBitmap>>} */
    this.bitmaps = new Map();
  }

  /**
   * The bytes of an image; asked for once.
   * @param {string} token
   * @returns {Promise<Blob>}
   */
  blob(token) {
    const known = this.blobs.get(token);
    if (known) return known;
    const coming = fetchBlob(token);
    this.blobs.set(token, coming);
    coming.catch(() => this.blobs.delete(token));
    return coming;
  }

  /**
   * The image decoded, and scaled to fit a box of device pixels, so that drawing it is a mere copy.
   * @param {string} token
   * @param {number} width
   * @param {number} height
   * @returns {Promise<ImageBitmap>}
   */
  bitmap(token, width, height) {
    const place = `${token} ${width} ${height}`;
    const known = this.bitmaps.get(place);
    if (known) return known;
    const coming = this.blob(token).then((blob) => decode(blob, width, height));
    this.bitmaps.set(place, coming);
    coming.catch(() => this.bitmaps.delete(place));
    return coming;
  }

  /**
   * An `<img>` that is decoded and ready to be painted.
   * @param {string} token
   * @param {string} alt neutral: says nothing about the image
   * @param {AbortSignal} signal frees the image
   * @returns {Promise<HTMLImageElement>}
   */
  async element(token, alt, signal) {
    const url = URL.createObjectURL(await this.blob(token));
    signal.addEventListener("abort", () => URL.revokeObjectURL(url), { once: true });
    const image = Object.assign(new Image(), { src: url, alt, draggable: false });
    await image.decode().catch(() => {
      throw new BrokenImage();
    });
    return image;
  }

  /** Let go of all images but these. @param {string[]} tokens */
  keepOnly(tokens) {
    const kept = new Set(tokens);
    for (const token of this.blobs.keys()) if (!kept.has(token)) this.blobs.delete(token);
    for (const [place, coming] of this.bitmaps) {
      if (kept.has(place.split(" ")[0])) continue;
      this.bitmaps.delete(place);
      coming.then((bitmap) => bitmap.close(), () => {});
    }
  }
}

/** The size at which an image fits into a box. @param {{width: number, height: number}} image @param {number} width @param {number} height */
export function fit(image, width, height) {
  const scale = Math.min(width / image.width, height / image.height);
  return { width: Math.max(1, Math.round(image.width * scale)), height: Math.max(1, Math.round(image.height * scale)) };
}

/** @param {string} token @returns {Promise<Blob>} */
async function fetchBlob(token) {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const response = await fetch(`/api/image/${encodeURIComponent(token)}`).catch(() => null);
    const blob = response?.ok ? await response.blob().catch(() => null) : null;
    if (blob) return blob;
    if (response && response.status < 500 && response.status !== 429) break;
    await pause(FIRST_WAIT_MS * 2 ** attempt);
  }
  throw new BrokenImage();
}

/**
 * @param {Blob} blob
 * @param {number} width
 * @param {number} height
 */
async function decode(blob, width, height) {
  const whole = await createImageBitmap(blob).catch(() => {
    throw new BrokenImage();
  });
  const size = fit(whole, width, height);
  const scaled = await createImageBitmap(whole, {
    resizeWidth: size.width, resizeHeight: size.height, resizeQuality: "high",
  });
  whole.close();
  return scaled;
}
