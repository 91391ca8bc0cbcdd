// The steps of a rater, by the name that the server gives them.

import { breakTime } from "/static/steps/break.js";
import { check } from "/static/steps/check.js";
import { consent } from "/static/steps/consent.js";
import { debrief } from "/static/steps/debrief.js";
import { done } from "/static/steps/done.js";
import { instructions } from "/static/steps/instructions.js";
import { paused } from "/static/steps/paused.js";
import { prototype } from "/static/steps/prototype.js";
import { trial } from "/static/steps/trial.js";

/** @type {Record<string, (container: HTMLElement, state: any, tools: import("../app.js").Tools) => Promise<any>>} */
export const STEPS = { consent, check, instructions, trial, break: breakTime, debrief, prototype, done, paused };
