// One tab at a time: who claims last goes on, the others pause.

import { base } from "/static/link.js";

const CHANNEL = `beholder${base}`;

/**
 * @param {() => void} onTaken called when another tab goes on instead of this one
 * @returns {{claim: () => void}}
 */
export function joinTabs(onTaken) {
  const channel = new BroadcastChannel(CHANNEL);
  channel.addEventListener("message", onTaken);
  return { claim: () => channel.postMessage("claim") };
}
