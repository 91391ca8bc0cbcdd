"""Claims about two images, as verifiers meet them: a first and a second one, in an order without a meaning."""

from typing import Literal

Place = Literal["first", "second"]

PLACES: tuple[Place, Place] = ("first", "second")
"""Where an image of a claim about a scorer stands; also the columns of a file of claims that name the images."""


def place_of(claim: str) -> Place:
    """Return where the image stands that is claimed to be better: by the random name of the claim."""
    return PLACES[int(claim[-1], 16) % 2]


def placed_name(claim: str, place: str) -> str:
    """Return the name of an image in the study of verifiers: a file may be in several claims."""
    return f"{claim}-{place}"
