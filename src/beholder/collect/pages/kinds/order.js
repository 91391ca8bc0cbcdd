// An order being made: which image stands at which rank. Pure: every change gives a new order.

/** @typedef {(number | null)[]} Order image at each rank, best first; null where a rank is free */

/** @param {number} count @returns {Order} */
export function emptyOrder(count) {
  return Array.from({ length: count }, () => null);
}

/** @param {Order} order @param {number} image @returns {Order} */
export function without(order, image) {
  return order.map((placed) => (placed === image ? null : placed));
}

/**
 * Put an image at a rank. What stands there makes room towards the nearest free rank.
 * @param {Order} order
 * @param {number} image
 * @param {number} rank from 0
 * @returns {Order}
 */
export function placed(order, image, rank) {
  const next = without(order, image);
  const free = nearestFree(next, rank);
  const step = Math.sign(rank - free);
  for (let position = free; position !== rank; position += step) next[position] = next[position + step];
  next[rank] = image;
  return next;
}

/** Put an image at the first free rank, or take it out if it has one. @param {Order} order @param {number} image */
export function toggled(order, image) {
  return order.includes(image) ? without(order, image) : placed(order, image, order.indexOf(null));
}

/** @param {Order} order */
export function isComplete(order) {
  return !order.includes(null);
}

/** Rank of each image, 1 the best, in the order of the images. @param {Order} order */
export function ranks(order) {
  return order.map((_, image) => order.indexOf(image) + 1);
}

/** The free rank nearest to a rank; of two the later. @param {Order} order @param {number} rank */
function nearestFree(order, rank) {
  const free = order.flatMap((image, position) => (image === null ? [position] : []));
  return free.reduce((best, position) => (Math.abs(position - rank) <= Math.abs(best - rank) ? position : best));
}
