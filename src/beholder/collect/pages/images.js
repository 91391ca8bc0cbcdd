// Images by their tokens: fetched ahead, decoded ahead for timed trials, let go afterwards.

import { base } from "/static/link.js";
import { pause } from "/static/waiting.js";

const TRIES = 6;
const FIRST_WAIT_MS = 400;
const LONGEST_WAIT_MS = 10_000;

/** Too many requests; not ready. Both pass. */
const NOT_NOW = [429, 503];

/** The image cannot be had. */
export class BrokenImage extends Error {}

export class Images {
  /** @param {(waiting: boolean) => void} [onWaiting] told when images are not ready yet, and when they are */
  constructor(onWaiting = () => {}) {
    this.onWaiting = onWaiting;
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
    const cached = this.blobs.get(token);
    if (cached) return cached;
    const coming = fetchBlob(token, this.onWaiting);
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
    const cacheKey = `${token} ${width} ${height}`;
    const cached = this.bitmaps.get(cacheKey);
    if (cached) return cached;
    const coming = this.blob(token).then((blob) => decode(blob, width, height));
    this.bitmaps.set(cacheKey, coming);
    coming.catch(() => this.bitmaps.delete(cacheKey));
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
    const current = new Set(tokens);
    for (const token of this.blobs.keys()) if (!current.has(token)) this.blobs.delete(token);
    for (const [cacheKey, coming] of this.bitmaps) {
      if (current.has(cacheKey.split(" ")[0])) continue;
      this.bitmaps.delete(cacheKey);
      coming.then((bitmap) => bitmap.close(), () => {});
    }
  }
}

/** The size at which an image fits into a box. @param {{width: number, height: number}} image @param {number} width @param {number} height */
export function fit(image, width, height) {
  const scale = Math.min(width / image.width, height / image.height);
  return { width: Math.max(1, Math.round(image.width * scale)), height: Math.max(1, Math.round(image.height * scale)) };
}

/**
 * What the server cannot give now, but will, is waited for as long as it takes; only what fails is broken.
 * @param {string} token
 * @param {(waiting: boolean) => void} onWaiting
 * @returns {Promise<Blob>}
 */
async function fetchBlob(token, onWaiting) {
  for (let attempt = 0; attempt < TRIES;) {
    const response = await fetch(`${base}/api/image/${encodeURIComponent(token)}`).catch(() => null);
    const blob = response?.ok ? await response.blob().catch(() => null) : null;
    if (blob) {
      onWaiting(false);
      return blob;
    }
    if (response && NOT_NOW.includes(response.status)) {
      onWaiting(true);
      await pause(retryAfter(response));
      continue;
    }
    if (response && response.status < 500) break;
    await pause(FIRST_WAIT_MS * 2 ** attempt);
    attempt += 1;
  }
  onWaiting(false);
  throw new BrokenImage();
}

/** How long the server asks us to wait, with some jitter, so that not everyone comes back at once. @param {Response} response */
function retryAfter(response) {
  const seconds = Number(response.headers.get("Retry-After")) || 1;
  return Math.min(1000 * seconds, LONGEST_WAIT_MS) * (1 + Math.random() / 2);
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
