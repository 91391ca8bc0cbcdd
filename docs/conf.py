"""Settings of the documentation site (Sphinx, MyST, furo): ``make docs`` builds it without a network.

The pages are plain Markdown whose links work on a code host, too. Those that lead out of this folder are turned
here into links inside the site.
"""

import re
from importlib import import_module
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

import beholder
from beholder import LATE, __version__

project = "beholder"
author = "The beholder developers"
copyright = "2026, the beholder developers"  # noqa: A001 - Sphinx's name
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["theme"]
nitpicky = False

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]

napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_custom_sections = ["Returns"]  # sentences, without a type before a colon
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 88
add_module_names = False
highlight_language = "text"

html_theme = "furo"
html_title = "beholder"
html_logo = html_favicon = "theme/icon.svg"
html_static_path = ["theme"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_last_updated_fmt = None
html_theme_options: dict[str, Any] = {
    "navigation_with_keys": True,
    "top_of_page_buttons": [],
    "footer_icons": [],
    "light_css_variables": {
        "color-brand-primary": "#1f5a60",
        "color-brand-content": "#1f5a60",
        "color-brand-visited": "#1f5a60",
    },
    "dark_css_variables": {
        "color-brand-primary": "#8fcdd1",
        "color-brand-content": "#8fcdd1",
        "color-brand-visited": "#8fcdd1",
    },
}

ROOT = Path(__file__).parents[1]
OUTSIDE = {"README.md": "index", "CHANGELOG.md": "changelog", "CONTRIBUTING.md": "contributing"}
"""Pages beside the folder ``docs`` -> the page of the site in their place."""
LEADS_OUT = re.compile(r"\]\((?:\.\./)*(README|CHANGELOG|CONTRIBUTING)\.md(#[^)\s]+)?\)")
OTHER_FILE = re.compile(r"\]\(((?:\.\./)+(?:examples|src|tests|benchmarks)/[^)\s]+)\)")
PUBLIC = re.compile(r"^<!-- public functions: (\w+) -->$", re.M)
IMAGES = ("beholder.api.distances", "beholder.api.scoring", "beholder.api.explaining")


def group_of(module: str) -> str:
    """The page of the reference on which the functions of a module are."""
    if module.startswith("beholder.stats."):
        return "statistics"
    return "images" if module in IMAGES else "studies"


def public_functions(group: re.Match[str]) -> str:
    """The directives that document the public functions of a group, in the order of their list."""
    names = [name for name, module in LATE.items() if group_of(module) == group[1]]
    lines = [line for name in names for line in (f"## {name}", "", *_directive(name))]
    return "\n".join(lines)


def _directive(name: str) -> list[str]:
    kind = "autoclass" if isinstance(getattr(beholder, name), type) else "autofunction"
    return ["```{eval-rst}", f".. {kind}:: beholder.{name}", "```", ""]


def functions_hide_packages() -> None:
    """Let ``beholder.learn`` be the function, not the callable package, so that autodoc sees its signature."""
    functions = {name: getattr(import_module(module), name) for name, module in LATE.items()}
    for name, function in functions.items():
        setattr(beholder, name, function)


def links_inside_the_site(app: Sphinx, name: str, source: list[str]) -> None:
    """Lead links to pages outside of ``docs`` to their place in the site, and to other files as downloads."""
    for file, page in OUTSIDE.items():
        if page == name and page != "index":
            app.env.note_dependency(str(ROOT / file))
            source[0] = (ROOT / file).read_text(encoding="utf-8").replace("](docs/", "](")
    text = LEADS_OUT.sub(lambda link: f"](/{OUTSIDE[link[1] + '.md']}.md{link[2] or ''})", source[0])
    source[0] = PUBLIC.sub(public_functions, OTHER_FILE.sub(r"](path:\1)", text))


def setup(app: Sphinx) -> None:
    """Sphinx calls this."""
    functions_hide_packages()
    app.connect("source-read", links_inside_the_site)
