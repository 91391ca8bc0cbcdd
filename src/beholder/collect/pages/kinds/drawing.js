// What a presenter draws: each fills the whole canvas, so that nothing of the last phase stays.

/** The surround of all images, as `--surround` in the styles. */
const SURROUND = "#777777";
const INK = "#ffffff";

/** @typedef {(context: CanvasRenderingContext2D) => void} Draw */

/** @type {Draw} */
export function blank(context) {
  context.fillStyle = SURROUND;
  context.fillRect(0, 0, context.canvas.width, context.canvas.height);
}

/** @type {Draw} */
export function cross(context) {
  blank(context);
  const { width, height } = context.canvas;
  const arm = Math.round(Math.min(width, height) / 30);
  const thick = Math.max(2, Math.round(arm / 5));
  context.fillStyle = INK;
  context.fillRect(Math.round(width / 2) - arm, Math.round(height / 2 - thick / 2), 2 * arm, thick);
  context.fillRect(Math.round(width / 2 - thick / 2), Math.round(height / 2) - arm, thick, 2 * arm);
}

/** @param {string} number @returns {Draw} */
export function digit(number) {
  return (context) => {
    blank(context);
    const { width, height } = context.canvas;
    context.fillStyle = INK;
    context.font = `300 ${Math.round(Math.min(width, height) / 6)}px system-ui, sans-serif`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(number, width / 2, height / 2);
  };
}

/** In the middle, pixel by pixel. @param {ImageBitmap} image @returns {Draw} */
export function picture(image) {
  return (context) => {
    blank(context);
    const { width, height } = context.canvas;
    context.drawImage(image, Math.round((width - image.width) / 2), Math.round((height - image.height) / 2));
  };
}
