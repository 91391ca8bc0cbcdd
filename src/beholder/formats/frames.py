"""Votes and ratings of a data frame as a study: of pandas, Polars, Arrow, or Hugging Face's datasets."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
import polars as pl

from beholder.errors import StudyError
from beholder.formats.format import Imported
from beholder.formats.imported import ImageRecord, ImportedJudgement, about_files, tables_from
from beholder.stats.comparisons.vote_table import FIRST, TIE
from beholder.stats.frames.columns import Frame, Label, read_columns
from beholder.stats.frames.votes import read_votes
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.question import Aspect, Design
from beholder.study.study import Study
from beholder.tables.prompt_id import prompt_id

VOTES = "preference"
RATINGS = "rating"
LISTED = 5


@runtime_checkable
class _Dataset(Protocol):
    """A dataset of Hugging Face's library."""

    def to_polars(self) -> pl.DataFrame: ...


def votes_study(
    frame: Frame,
    *,
    columns: Mapping[str, str | None],
    rater: str | None,
    prompt: str | None,
    first_image: str | None,
    second_image: str | None,
    images: Path | None,
    name: str,
    title: str,
) -> Imported:
    """A study with one pair question; ``columns`` are those of :func:`beholder.stats.frames.votes.read_votes`.

    Where votes have no sides (winner and loser), the generator whose name comes first stands on the left, so that
    no side is favoured.
    """
    frame = as_frame(frame)
    sides = {key: column for key, column in columns.items() if column is not None}
    votes = read_votes(frame, **sides, rater=rater)
    extra = read_columns(
        frame,
        labels={"rater": rater, "prompt": prompt, "first_image": first_image, "second_image": second_image},
    ).labels
    raters = _raters(extra.get("rater"), len(votes.outcomes))
    prompts = _texts(extra.get("prompt"), len(votes.outcomes))
    judgements, records, changed = list[ImportedJudgement](), dict[str, ImageRecord](), dict[str, None]()
    for row, (first, second, outcome) in enumerate(zip(votes.first, votes.second, votes.outcomes, strict=True)):
        shown = [
            (str(votes.names[side]), str(extra[column][row]) if column in extra else None)
            for side, column in ((first, "first_image"), (second, "second_image"))
        ]
        choice = "tie" if outcome == TIE else "left" if outcome == FIRST else "right"
        if not votes.ordered and first > second:
            shown.reverse()
            choice = {"left": "right", "right": "left"}.get(choice, choice)
        pair = []
        for generator, own in shown:
            image = own or _image_name(generator, prompts[row])
            record = ImageRecord(prompts[row], generator)
            if records.setdefault(image, record) != record:
                changed[image] = None
            pair.append(image)
        judgements.append(
            ImportedJudgement(VOTES, "pair", raters[row], prompts[row], (pair[0], pair[1]), choice=choice)
        )
    _require_consistent(changed)
    tables = tables_from(judgements, platform="frame", images=images, records=records)
    question = PairQuestion(
        name=VOTES, ties=bool(np.any(votes.outcomes == TIE)), design=_design(judgements, tables["sessions"])
    )
    notes = [] if votes.ordered else ["Which image stood left is not in the frame: the order of names is taken."]
    notes += ["Votes name no raters: each counts as another rater's."] if rater is None else []
    notes += ["Votes name no images: those of one generator and prompt count as one."] if not first_image else []
    notes += ["Answer times are not in the frame.", *about_files(tables["images"])]
    study = Study(name=name, title=title, description="Votes of a data frame.", questions=(question,))
    return Imported(study, tables, tuple(notes))


def ratings_study(
    frame: Frame,
    *,
    aspects: Sequence[str],
    image: str,
    generator: str,
    rater: str,
    prompt: str | None,
    points: int,
    images: Path | None,
    name: str,
    title: str,
) -> Imported:
    """A study with one rating question, an aspect for each column of ratings."""
    columns = read_columns(
        as_frame(frame),
        labels={"image": image, "generator": generator, "rater": rater, "prompt": prompt},
        numbers={aspect: aspect for aspect in aspects},
    )
    slugs = {aspect: slug(aspect) for aspect in aspects}
    low, high = (1.0, float(points)) if points else (0.0, 100.0)
    faults = [
        f"column '{aspect}' has {value:g}; points={points} goes from {low:g} to {high:g}"
        for aspect in aspects
        for value in np.unique(columns.numbers[aspect])
        if not low <= value <= high or (points and value != round(value))
    ][:LISTED]
    if faults:
        raise StudyError("ratings", faults, advice="points=0 is a continuous scale from 0 to 100")
    prompts = _texts(columns.labels.get("prompt"), columns.rows)
    judgements, records, changed = list[ImportedJudgement](), dict[str, ImageRecord](), dict[str, None]()
    for row, (picture, maker, who) in enumerate(
        zip(*(columns.labels[key] for key in ("image", "generator", "rater")), strict=True)
    ):
        record = ImageRecord(prompts[row], str(maker))
        if records.setdefault(str(picture), record) != record:
            changed[str(picture)] = None
        given_ratings = {slugs[aspect]: float(columns.numbers[aspect][row]) for aspect in aspects}
        judgements.append(
            ImportedJudgement(RATINGS, "rating", str(who), prompts[row], (str(picture),), ratings=given_ratings)
        )
    _require_consistent(changed)
    tables = tables_from(judgements, platform="frame", images=images, records=records)
    question = RatingQuestion(
        name=RATINGS,
        aspects=tuple(Aspect(name=slugs[aspect], text=aspect.capitalize()) for aspect in aspects),
        points=points,
        design=_design(judgements, tables["sessions"]),
    )
    notes = ("Answer times are not in the frame.", *about_files(tables["images"]))
    study = Study(name=name, title=title, description="Ratings of a data frame.", questions=(question,))
    return Imported(study, tables, notes)


def as_frame(frame: Frame) -> Frame:
    """Return a dataset of Hugging Face's library as a data frame; any other frame as it is."""
    if isinstance(frame, _Dataset) and not isinstance(frame, pl.DataFrame):
        return frame.to_polars()
    return frame


def slug(text: str) -> str:
    """Return a name as the study file takes it: small letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "study"


def _raters(labels: Sequence[Label] | None, votes: int) -> list[str]:
    return [f"vote-{row + 1}" for row in range(votes)] if labels is None else [str(label) for label in labels]


def _texts(labels: Sequence[Label] | None, rows: int) -> list[str | None]:
    return [None] * rows if labels is None else [str(label) for label in labels]


def _image_name(generator: str, prompt: str | None) -> str:
    return generator if prompt is None else f"{generator}/{prompt_id(prompt)}"


def _require_consistent(changed: Mapping[str, None]) -> None:
    if changed:
        more = f" and {len(changed) - LISTED} more" if len(changed) > LISTED else ""
        raise StudyError(
            "data frame",
            [f"images with several generators or prompts: {', '.join([*changed][:LISTED])}{more}"],
            advice="An image is made by one generator for one prompt: name images uniquely.",
        )


def _design(judgements: Sequence[ImportedJudgement], sessions: pl.DataFrame) -> Design:
    most = max(Counter(judgement.rater for judgement in judgements).values())
    return Design(raters=sessions.height, trials=most)
