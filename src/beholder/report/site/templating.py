"""What all pages have in common: where their templates lie, their look, and small words."""

from pathlib import Path

import jinja2

from beholder.report.site.theme import DARK, LIGHT, SANS, SERIF
from beholder.report.text.words import count, listed, people, percent

TEMPLATES = Path(__file__).parent.parent / "templates"


def template_environment() -> jinja2.Environment:
    """Templates that escape what they are given, and stop at a name they do not know."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.globals |= {"count": count, "listed": listed, "number_of_people": people, "percent": percent}
    environment.globals |= {"light": LIGHT, "dark": DARK, "sans": SANS, "serif": SERIF}
    return environment
