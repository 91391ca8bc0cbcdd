// Points and words marked so far, with undo. Coordinates are fractions of the image's width and height.

/** @typedef {{aspect: string, x: number, y: number}} Point */

/** A click closer to a point's centre than this fraction of its radius means that point. */
const SAME = 0.5;

export class Marks {
  /** @type {Point[]} */
  points = [];
  /** @type {number[]} */
  words = [];
  /** @type {{points: Point[], words: number[]}[]} */
  history = [];

  /**
   * @param {number} radius of a point's disk, as a fraction of the image's height
   * @param {number} ratio width / height of the image
   */
  constructor(radius, ratio) {
    this.radius = radius;
    this.ratio = ratio;
  }

  /** Set a point, or take away the one that is there. @param {string} aspect @param {number} x @param {number} y */
  togglePoint(aspect, x, y) {
    this.#remember();
    const there = this.points.find((point) => point.aspect === aspect && this.#distance(point, x, y) < SAME * this.radius);
    this.points = there ? this.points.filter((point) => point !== there) : [...this.points, { aspect, x, y }];
  }

  /** @param {number} word */
  toggleWord(word) {
    this.#remember();
    this.words = this.words.includes(word) ? this.words.filter((other) => other !== word) : [...this.words, word];
  }

  undo() {
    Object.assign(this, this.history.pop() ?? {});
  }

  /** As the server takes them. */
  said() {
    const places = this.points.map(({ aspect, x, y }) => ({ aspect, kind: "point", image: 0, x: rounded(x), y: rounded(y) }));
    const words = [...this.words].sort((a, b) => a - b).map((word) => ({ aspect: "misalignment", kind: "word", word }));
    return [...places, ...words];
  }

  /** In heights of the image. @param {Point} point @param {number} x @param {number} y */
  #distance(point, x, y) {
    return Math.hypot((point.x - x) * this.ratio, point.y - y);
  }

  #remember() {
    this.history.push({ points: this.points, words: this.words });
  }
}

/** @param {number} fraction */
function rounded(fraction) {
  return Math.round(fraction * 10_000) / 10_000;
}
