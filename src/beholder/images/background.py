"""The background of transparent images, the same for raters, scorers, encoders and the report."""

import re

from beholder.errors import UserError

DEFAULT_BACKGROUND = "#7f7f7f"
"""Middle grey (127, 127, 127), where neither the study nor an option names another."""

COLOUR = re.compile(r"#[0-9a-fA-F]{6}")


def checked_background(colour: str) -> str:
    """The colour in lower case, so that one colour has one name; an error where it is not written as #rrggbb."""
    if not COLOUR.fullmatch(colour):
        raise UserError(f"background '{colour}': a colour is expected as #rrggbb, such as {DEFAULT_BACKGROUND}")
    return colour.lower()
