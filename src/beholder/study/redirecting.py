"""The address to which raters are redirected at the end: a template whose host no link can change."""

import re
from urllib.parse import urlsplit

PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
"""A name in braces, filled in at the end of a session."""

_HOST = re.compile(r"[A-Za-z0-9.-]+(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](:[0-9]{1,5})?")
_ODD = re.compile(r"[^\x21-\x7e]|\\")


def checked_redirect(template: str) -> str:
    """Return the template if it is empty or an absolute address with a fixed scheme and host; else raise."""
    if not template:
        return template
    odd = _ODD.search(template)
    if odd:
        raise ValueError(
            f"an address without blanks, backslashes and letters beyond ASCII; it has {odd.group()!r}"
        )
    advice = "write it as https://host/path?code={code}, with placeholders only after the host"
    try:
        parts = urlsplit(template)
    except ValueError as error:
        raise ValueError(f"this is no address: {error}; {advice}") from error
    if parts.scheme not in ("https", "http") or not template.lower().startswith(f"{parts.scheme}://"):
        raise ValueError(f"an absolute address is needed; {advice}")
    if not _HOST.fullmatch(parts.netloc):
        raise ValueError(f"'{parts.netloc}' is no plain host; {advice}")
    return template
