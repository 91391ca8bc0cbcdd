// A visitor who follows a link on another site sends no SameSite cookie, although they may be signed in.

const response = await fetch(`${location.pathname}/api/overview`).catch(() => null);
if (response?.ok) location.replace(location.pathname);

export {};
