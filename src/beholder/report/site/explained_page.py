"""The page that ``beholder explain`` writes: one file that opens without a network."""

from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from beholder import __version__
from beholder.images.sources import read_pixels
from beholder.models.explained import Explained
from beholder.report.sections.explained import Card, build_card, collect_ramps
from beholder.report.site.templating import template_environment
from beholder.tables.atomic import write_atomically

SIDE = 512
"""Longest side of the pictures in pixels: shown at about 350, sharp on fine screens."""


def write_page(
    path: Path, explained: Sequence[Explained], models: Sequence[str], background: str, notes: Sequence[str] = ()
) -> None:
    """Write the page atomically, with notes on all images. Transparent images are shown on the background."""
    html = render_page([_card(image, background) for image in explained], models, notes)
    with write_atomically(path) as file:
        file.write(html.encode())


def render_page(cards: Sequence[Card], models: Sequence[str], notes: Sequence[str] = ()) -> str:
    """The page as one HTML text; ``models`` are named with their weights."""
    scores = [score for card in cards for row in card.scores for score in (row.model, row.raters) if score]
    template = template_environment().get_template("explain.html.j2")
    return template.render(
        cards=cards,
        models=models,
        notes=notes,
        ramps=collect_ramps(cards),
        bases={score.basis for score in scores},
        with_raters=any(len(card.sides) > 1 for card in cards),
        version=__version__,
    )


def _card(image: Explained, background: str) -> Card:
    picture: Image.Image = read_pixels(image.picture.load()[1], background)
    return build_card(
        image.picture.name, image.prompt, picture, image.model, image.people, note=image.note, side=SIDE
    )
