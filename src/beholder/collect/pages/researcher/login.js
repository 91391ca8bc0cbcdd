// Someone who comes by a link on another site brings no cookie along, though they may well be signed in.

const response = await fetch("/researcher/api/overview").catch(() => null);
if (response?.ok) location.replace("/researcher");

export {};
