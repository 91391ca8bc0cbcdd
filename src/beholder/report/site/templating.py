"""What all pages have in common: the folder of their templates, their theme, and functions for wording."""

from pathlib import Path

import jinja2

from beholder.report.site.theme import DARK, LIGHT, SANS, SERIF
from beholder.report.text.words import count, count_raters, join_names, percent

TEMPLATES = Path(__file__).parent.parent / "templates"


def template_environment() -> jinja2.Environment:
    """Templates that escape all values, and fail on an undefined name."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        bytecode_cache=_bytecode_cache(),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.globals |= {
        "count": count,
        "count_raters": count_raters,
        "join_names": join_names,
        "percent": percent,
    }
    environment.filters["dictionary"] = dict
    environment.globals |= {"light": LIGHT, "dark": DARK, "sans": SANS, "serif": SERIF}
    return environment


def _bytecode_cache() -> jinja2.BytecodeCache | None:
    """Templates compiled by earlier runs, in a private folder; ``None`` where there is no safe place for one."""
    try:
        return jinja2.FileSystemBytecodeCache()
    except (RuntimeError, OSError):
        return None
