// Signing in: the page says in English what it needs, and this script says it in the language of the visitor.

import { languageSwitch, speak, t } from "/static/researcher/language.js";

// a visitor who follows a link on another site sends no SameSite cookie, although they may be signed in
const response = await fetch(`${location.pathname}/api/overview`).catch(() => null);
if (response?.ok) location.replace(location.pathname);

/** Draw the switch again in the language that was chosen. */
function draw() {
  document.title = t("sign-in.page-title");
  document.getElementById("control")?.replaceChildren(languageSwitch(() => { draw(); document.getElementById("language")?.focus(); }));
}

await speak();
draw();
