"""The page of single images: all that is known of each, with filters.

Images are not embedded: the page shows them from the folder of the study, as many as are in view. What raters and
scorers said is embedded, so that the page needs no server.
"""

import json

from beholder import __version__
from beholder.report.site.caveats import Caveats
from beholder.report.site.generator_marks import SHAPE_PATHS, UNRANKED, Mark
from beholder.report.site.templating import template_environment
from beholder.report.tables.single_images import SingleImages
from beholder.study.study import Study

IMAGES_PAGE = "images.html"


def render_images_page(
    study: Study,
    images: SingleImages,
    marks: dict[str, Mark],
    caveats: Caveats,
    report: str,
    *,
    commented: bool = False,
) -> str:
    """The page as one HTML text; ``report`` is the file name of the report that it belongs to.

    ``commented`` says that it has the raters' comments, and that it is not to be published.
    """
    drawn = [marks.get(generator, UNRANKED) for generator in images.generators]
    content = images.plain() | {"marks": [[SHAPE_PATHS[mark.shape], mark.colour] for mark in drawn]}
    packed = json.dumps(content, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    template = template_environment().get_template("images.html.j2")
    return template.render(
        study=study,
        images=images,
        content=packed,
        caveats=caveats,
        report=report,
        commented=commented,
        version=__version__,
    )
