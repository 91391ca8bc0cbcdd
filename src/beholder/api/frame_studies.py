"""Studies from data frames: ``beholder.study_from_votes(votes, folder)``."""

from collections.abc import Sequence
from pathlib import Path

from beholder.api.study_folder import StudyFolder
from beholder.formats.folder import require_new, write_folder
from beholder.formats.frames import ratings_study, slug, votes_study
from beholder.stats.frames.columns import Frame


def study_from_votes(
    votes: Frame,
    folder: str | Path,
    *,
    winner: str = "winner",
    loser: str = "loser",
    tie: str | None = None,
    first: str | None = None,
    second: str | None = None,
    outcome: str | None = None,
    rater: str | None = "rater",
    prompt: str | None = None,
    first_image: str | None = None,
    second_image: str | None = None,
    images: str | Path | None = None,
    name: str | None = None,
) -> StudyFolder:
    """Make a study from votes on pairs in a data frame: ranked, reported, learned from, compared with metrics.

    For ratings alone, ``beholder.bradley_terry`` takes the same columns and needs no folder.

    Args:
        votes: One row per vote: a frame of pandas, Polars or Arrow, a ``datasets.Dataset``, or columns by name.
        folder: Where the study is written; it must be new or empty.
        winner: The column with the generator that was preferred.
        loser: The column with the other.
        tie: A column of true and false: where true, neither was preferred.
        first: The column with the generator shown first (left); with ``second`` and ``outcome`` in place of
            ``winner`` and ``loser``.
        second: The column with the generator shown second (right).
        outcome: What was said: ``"first"``, ``"second"``, ``"tie"``, or the name of the winner.
        rater: The column of raters; ``None``: each vote counts as another rater's.
        prompt: The column with the text of the prompt.
        first_image: The column with the image of the winner, or of the first; a path below ``images``, if it is a
            file.
        second_image: The column with the image of the loser, or of the second.
        images: Where the image files lie, if you have them: the report then shows them, and metrics are computed.
        name: Of the study; from the folder by default.

    Returns:
        The study; its ``notes`` say what the frame lacks.

    Example:
        >>> import beholder as bh
        >>> votes = {"rater": ["ann", "ann", "bo", "bo"], "winner": ["ember", "ember", "ember", "dune"],
        ...          "loser": ["dune", "cirrus", "dune", "cirrus"]}
        >>> study = bh.study_from_votes(votes, "votes-study")
        >>> study.run()["rank"].rows["ratings"]
        3
    """
    path = Path(folder)
    require_new(path)
    imported = votes_study(
        votes,
        columns={
            **{"winner": winner, "loser": loser, "tie": tie},
            **{"first": first, "second": second, "outcome": outcome},
        },
        rater=rater,
        prompt=prompt,
        first_image=first_image,
        second_image=second_image,
        images=None if images is None else Path(images),
        name=name or slug(path.name),
        title=(name or path.name).replace("-", " ").capitalize(),
    )
    write_folder(imported, path, form="frame")
    return StudyFolder(path, imported.notes)


def study_from_ratings(
    ratings: Frame,
    folder: str | Path,
    *,
    rating: str | Sequence[str] = "rating",
    image: str = "image",
    generator: str = "generator",
    rater: str = "rater",
    prompt: str | None = None,
    points: int = 5,
    images: str | Path | None = None,
    name: str | None = None,
) -> StudyFolder:
    """Make a study from ratings of single images in a data frame: mean opinion scores, metrics against raters.

    Args:
        ratings: One row per rater and image: a frame of pandas, Polars or Arrow, a ``datasets.Dataset``, or
            columns by name.
        folder: Where the study is written; it must be new or empty.
        rating: The column of ratings, or several: each is an aspect of its name.
        image: The column with the name of the image; a path below ``images``, if it is a file.
        generator: The column with the generator that made it.
        rater: The column of raters.
        prompt: The column with the text of the prompt.
        points: Of the scale, from 1; 0: continuous from 0 to 100.
        images: Where the image files lie, if you have them: the report then shows them, and metrics are computed.
        name: Of the study; from the folder by default.

    Returns:
        The study; its ``notes`` say what the frame lacks.

    Example:
        >>> import beholder as bh
        >>> ratings = {"rater": ["ann", "ann", "bo", "bo"], "image": ["e1", "d1", "e1", "d1"],
        ...            "generator": ["ember", "dune"] * 2, "rating": [5, 3, 4, 3]}
        >>> study = bh.study_from_ratings(ratings, "ratings-study")
        >>> _ = study.run()
        >>> study.leaderboard()["rating"].tolist()
        [4.5, 3.0]
    """
    path = Path(folder)
    require_new(path)
    imported = ratings_study(
        ratings,
        aspects=[rating] if isinstance(rating, str) else list(rating),
        image=image,
        generator=generator,
        rater=rater,
        prompt=prompt,
        points=points,
        images=None if images is None else Path(images),
        name=name or slug(path.name),
        title=(name or path.name).replace("-", " ").capitalize(),
    )
    write_folder(imported, path, form="frame")
    return StudyFolder(path, imported.notes)
