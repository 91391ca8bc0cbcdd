"""Templates of the site, and what all of them may call."""

from functools import cache

import jinja2

from beholder import __version__
from beholder.report.board_site.content import Cell
from beholder.report.board_site.drawing import whisker
from beholder.report.site.templating import TEMPLATES, template_environment
from beholder.report.site.theme import DARK, LIGHT, SANS, SERIF
from beholder.report.text.words import count, percent

ROOM = "board_site"

POLICY = "default-src 'none'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; script-src 'self'"
"""What a page may load: nothing from elsewhere."""

SCRIPTS = ("sort.js", "board.js", "prompts.js")


@cache
def environment() -> jinja2.Environment:
    """Return the report's environment with the functions of these pages."""
    own = template_environment()
    own.globals |= {"whisker": whisker, "about": about, "policy": POLICY, "version": __version__}
    return own


def render(template: str, **names: object) -> str:
    """Return a page from its template of this room."""
    return environment().get_template(f"{ROOM}/{template}").render(**names)


def about(cell: Cell) -> str:
    """Return what a cell rests on, for those who point at it."""
    words = [f"chance to be best: {percent(cell.chance_best)}"] if cell.chance_best is not None else []
    words += [count(cell.prompts, "prompt")] if cell.prompts else []
    words += [count(cell.raters, "rater")] if cell.raters else []
    return ", ".join(words) + (f"; {cell.note}" if cell.note else "")


def assets() -> dict[str, str]:
    """Return the style sheet with the theme's colours, the scripts and the icon, by address."""
    variables = {"light": LIGHT, "dark": DARK}
    blocks = {name: "".join(f"--{key}:{colour};" for key, colour in variables[name].items()) for name in variables}
    theme = (
        f":root{{color-scheme:light dark;--sans:{SANS};--serif:{SERIF};{blocks['light']}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{blocks['dark']}}}}}\n"
    )
    files = {name: (TEMPLATES / ROOM / name).read_text(encoding="utf-8") for name in (*SCRIPTS, "icon.svg")}
    files["site.css"] = theme + (TEMPLATES / ROOM / "site.css").read_text(encoding="utf-8")
    return {f"assets/{name}": text for name, text in files.items()}
