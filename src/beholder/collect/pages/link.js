// The link that brought someone here.

/** What stands before all paths of this study: empty, or `/s/NAME` on the server of a panel. */
export const base = (/^\/s\/[a-z0-9-]+(?=\/|$)/.exec(location.pathname) ?? [""])[0];

/** A short hash of the link (FNV-1a): identifies it without keeping a platform's id in the browser. */
export function linkMark() {
  let mark = 0x811c9dc5;
  for (const letter of location.pathname + location.search) {
    mark = Math.imul(mark ^ letter.charCodeAt(0), 0x01000193) >>> 0;
  }
  return mark.toString(16);
}
