"""The page of an improvement: one file that opens without a network."""

from pathlib import Path

from beholder import __version__
from beholder.report.sections.improvement import ImprovementPage
from beholder.report.site.overlay import ramp_of
from beholder.report.site.templating import template_environment
from beholder.tables.atomic import write_atomically


def write_page(path: Path, page: ImprovementPage) -> None:
    """Write the page atomically."""
    html = render_page(page)
    with write_atomically(path) as file:
        file.write(html.encode())


def render_page(page: ImprovementPage) -> str:
    """The page as one HTML text."""
    template = template_environment().get_template("improvement.html.j2")
    return template.render(page=page, ramp=ramp_of("implausibility"), version=__version__)
