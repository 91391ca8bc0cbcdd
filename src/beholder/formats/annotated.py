"""A study from the annotations of other tools: pairs and ratings of images, each by one rater."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from beholder.formats.format import Imported
from beholder.formats.imported import UNKNOWN, ImageRecord, ImportedJudgement, about_files, tables_from
from beholder.formats.ranked import NO_GENERATORS, differences_in, question_of
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.question import Aspect, Design
from beholder.study.study import Study

SLUG_LENGTH = 60


@dataclass(frozen=True, slots=True)
class RatedAspect:
    """An aspect that raters rated, and the points of its scale; 0: a slider from 0 to 100."""

    name: str
    text: str
    points: int


@dataclass(frozen=True, slots=True)
class Annotations:
    """What was read from the files of a tool."""

    judgements: Sequence[ImportedJudgement]
    """Of pairs, with the name of their question; ratings are assigned to the question of their scale."""
    aspects: Sequence[RatedAspect]
    records: Mapping[str, ImageRecord]
    notes: Sequence[str] = ()
    differences: Sequence[str] = field(default=())


def study_from(tool: str, title: str, annotations: Annotations, images: Path | None) -> Imported:
    """Make the questions that fit: one for each comparison of pairs, and one for each rating scale."""
    scales = list(dict.fromkeys(aspect.points for aspect in annotations.aspects))
    name_of_scale = {points: _scale_name(points, len(scales)) for points in scales}
    questions: list[AnyQuestion] = []
    judgements: list[ImportedJudgement] = []
    pairs = [judgement for judgement in annotations.judgements if not judgement.ratings]
    for name in dict.fromkeys(judgement.question for judgement in pairs):
        questions.append(question_of(name, pairs))
    judgements += pairs
    for points, name in name_of_scale.items():
        aspects = [aspect for aspect in annotations.aspects if aspect.points == points]
        rated = [part for judgement in annotations.judgements for part in _rated(judgement, name, aspects)]
        questions += [_rating_question(name, points, aspects, rated)] if rated else []
        judgements += rated
    tables = tables_from(judgements, platform=tool, images=images, records=annotations.records)
    study = Study(name=tool, title=title, questions=tuple(questions))
    nameless = (tables["images"]["generator"] == UNKNOWN).all()
    notes = (*annotations.notes, *([NO_GENERATORS] if nameless else []), *about_files(tables["images"]))
    return Imported(study, tables, notes, (*annotations.differences, *differences_in(judgements)))


def slugs(names: Iterable[str]) -> dict[str, str]:
    """Names as ``study.toml`` allows them: small letters, digits and hyphens, each once."""
    assigned: dict[str, str] = {}
    for name in dict.fromkeys(names):
        plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:SLUG_LENGTH] or "question"
        same = sum(other == plain or other.startswith(f"{plain}-") for other in assigned.values())
        assigned[name] = plain if plain not in assigned.values() else f"{plain}-{same + 1}"
    return assigned


def _scale_name(points: int, scales: int) -> str:
    if scales == 1:
        return "rating"
    return f"rating-{points}" if points else "rating-slider"


def _rated(judgement: ImportedJudgement, question: str, aspects: Sequence[RatedAspect]) -> list[ImportedJudgement]:
    """The part of a judgement that has ratings on one scale."""
    names = {aspect.name for aspect in aspects}
    ratings = {name: rating for name, rating in judgement.ratings.items() if name in names}
    if not ratings:
        return []
    return [
        ImportedJudgement(
            question,
            "rating",
            judgement.rater,
            judgement.prompt,
            judgement.images,
            ratings=ratings,
            at=judgement.at,
            seconds=judgement.seconds,
        )
    ]


def _rating_question(
    name: str, points: int, aspects: Sequence[RatedAspect], rated: Sequence[ImportedJudgement]
) -> RatingQuestion:
    answered = {aspect for judgement in rated for aspect in judgement.ratings}
    trials = Counter(judgement.rater for judgement in rated)
    return RatingQuestion(
        name=name,
        aspects=tuple(Aspect(name=aspect.name, text=aspect.text) for aspect in aspects if aspect.name in answered),
        points=points,
        design=Design(raters=len(trials), trials=max(trials.values())),
    )
