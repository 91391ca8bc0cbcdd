"""Potato: a study from a project's configuration, its data files and the folder with its annotators' answers.

Schemes of type ``pairwise`` become questions of pairs; ``likert`` and ``slider`` become rated aspects, and
``radio`` either of them, where its labels are sides or numbers. Others are left out, and named.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from beholder.errors import TableError
from beholder.formats.annotated import Annotations, RatedAspect, slugs, study_from
from beholder.formats.answer_words import LEFT, RIGHT, TIE, rating_of, side_of
from beholder.formats.format import Imported
from beholder.formats.image_references import (
    default_folder,
    leaves_folder,
    prompt_in,
    records_of,
    reference_in,
    references_in,
)
from beholder.formats.imported import ImageRecord, ImportedJudgement
from beholder.formats.potato_files import Answered, Project, read_project
from beholder.formats.reading import Entry, shortened

SELECTED = {"A": LEFT, "B": RIGHT, "tie": TIE}
UNSET = ("", "None", "False", "false")
"""Values of labels that were not chosen."""

POINT = re.compile(r"(?:scale_)?(\d+)$")
"""Label of a point of a Likert scale: version 1 writes scale_4, version 2 writes 4."""

NO_PAIR = ("justification",)
LISTED = 5


@dataclass(frozen=True, slots=True)
class Scheme:
    """A scheme that is used: what it asks, and the points of its scale (none for pairs, 0 for a slider)."""

    settings: Entry
    points: int | None

    @property
    def name(self) -> str:
        """As the configuration has it."""
        return str(self.settings["name"])

    @property
    def labels(self) -> list[str]:
        """The words of its options."""
        labels = self.settings.get("labels") or []
        return [str(label.get("name") if isinstance(label, dict) else label) for label in labels]


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: a choice between the images of a pair, or a rating of one image."""

    aspect: str
    choice: str | None = None
    rating: float | None = None


def read_study(source: Path, *, images: Path | None = None) -> Imported:
    """A study from a project's folder or configuration; all its faults are raised at once."""
    project = read_project(source)
    schemes = [scheme for settings in project.schemes if (scheme := _scheme(settings)) is not None]
    if not schemes:
        listed = (
            ", ".join(f"{entry['name']} ({entry.get('annotation_type')})" for entry in project.schemes) or "none"
        )
        raise TableError(
            str(source), [f"schemes: {listed}; expected pairwise, likert, slider, or radio with sides or numbers"]
        )
    annotations = _annotations(str(source), project, schemes)
    title = str(project.settings.get("annotation_task_name") or "Potato")
    folder = default_folder(images, project.folder, annotations.records)
    return study_from("potato", title, annotations, folder)


def _scheme(settings: Entry) -> Scheme | None:
    """The scheme, if it is one of pairs or ratings."""
    kind = settings.get("annotation_type")
    if kind == "pairwise":
        return Scheme(settings, None)
    if kind == "slider":
        return Scheme(settings, 0)
    labels = Scheme(settings, None).labels
    if kind == "likert":
        size = settings.get("size")
        points = len(labels) or (size if isinstance(size, int) else 0)
        return Scheme(settings, points) if points >= 2 else None
    if kind != "radio" or not labels:
        return None
    if all(side_of(label) for label in labels):
        return Scheme(settings, None)
    numbers = [rating_of(label) for label in labels]
    return Scheme(settings, int(max(number or 0 for number in numbers))) if all(numbers) else None


def _annotations(subject: str, project: Project, schemes: list[Scheme]) -> Annotations:
    judgements: list[ImportedJudgement] = []
    records: dict[str, ImageRecord] = {}
    faults: list[str] = []
    unknown: dict[str, None] = {}
    changed = 0
    names = slugs(_aspect_names(project, schemes))
    for number, user in enumerate(project.answers):
        for answered in project.answers[user]:
            instance = project.items.get(answered.instance)
            if instance is None:
                unknown[answered.instance] = None
                continue
            for scheme in schemes:
                changed += len(_chosen(scheme, answered)) > 1 and scheme.settings["annotation_type"] != "pairwise"
            try:
                parts = list(_judgements(f"rater-{number + 1:03d}", answered, instance, project, schemes, names))
            except ValueError as error:
                faults.append(f"{user}, item {answered.instance}: {error}")
                continue
            judgements += parts
            for images in {part.images for part in parts}:
                records |= records_of(instance, images)
    faults += [f"the path {image} leaves the folder" for image in records if leaves_folder(image)]
    if not judgements and not faults:
        faults.append("nobody has answered a scheme of pairs or ratings about an item of the data files")
    if faults:
        raise TableError(subject, shortened(faults))
    used = {scheme.name for scheme in schemes}
    others = [
        f"{entry['name']} ({entry.get('annotation_type')})"
        for entry in project.schemes
        if entry["name"] not in used
    ]
    notes = ["Raters are called rater-001, rater-002, … in the alphabetical order of their folders."]
    notes += [f"Schemes that are neither pairs nor ratings are left out: {', '.join(others)}."] if others else []
    notes += [note for scheme in schemes if (note := _slider_note(scheme))]
    differences = []
    if unknown:
        listed = ", ".join([*unknown][:LISTED]) + (" …" if len(unknown) > LISTED else "")
        differences.append(f"{len(unknown):,} items have answers, but are in no data file: {listed}")
    if changed:
        differences.append(f"{changed:,} answers have several values of which one was asked for; the last counts")
    aspects = [
        RatedAspect(names[scheme.name], str(scheme.settings.get("description") or scheme.name), scheme.points)
        for scheme in schemes
        if scheme.points is not None
    ]
    return Annotations(judgements, aspects, records, notes, differences)


def _aspect_names(project: Project, schemes: list[Scheme]) -> Iterator[str]:
    """Names of aspects and of questions of pairs; a dimension of a comparison is a question of its own."""
    for scheme in schemes:
        yield scheme.name
        dimensions = scheme.settings.get("dimensions") or []
        for dimension in dimensions:
            name = dimension.get("name") if isinstance(dimension, dict) else dimension
            yield f"{scheme.name} {name}"
    for answers in project.answers.values():
        for answered in answers:
            for scheme in schemes:
                if scheme.points is None:
                    yield from (f"{scheme.name} {label}" for label in answered.labels.get(scheme.name, {}))


def _judgements(
    rater: str,
    answered: Answered,
    instance: Entry,
    project: Project,
    schemes: list[Scheme],
    names: Mapping[str, str],
) -> Iterator[ImportedJudgement]:
    """The pairs of an item, and all its ratings together; an error where an answer or its image is missing."""
    ratings: dict[str, float] = {}
    prompt = prompt_in(instance)
    for scheme in schemes:
        for answer in _answers(scheme, answered):
            if answer.rating is not None:
                ratings[names[answer.aspect]] = answer.rating
                continue
            yield ImportedJudgement(
                names[answer.aspect],
                "pair",
                rater,
                prompt,
                _pair(scheme, instance),
                choice=answer.choice,
                at=answered.at,
                seconds=answered.seconds,
            )
    if ratings:
        image = _single(instance, project)
        yield ImportedJudgement(
            "rating", "rating", rater, prompt, (image,), ratings=ratings, at=answered.at, seconds=answered.seconds
        )


def _chosen(scheme: Scheme, answered: Answered) -> dict[str, Any]:
    """The labels of a scheme that were chosen, the one that was set last at the end."""
    labels = {
        name: label_value
        for name, label_value in answered.labels.get(scheme.name, {}).items()
        if str(label_value) not in UNSET
    }
    return dict(sorted(labels.items(), key=lambda entry: answered.last_changed.get((scheme.name, entry[0]), 0.0)))


def _answers(scheme: Scheme, answered: Answered) -> Iterator[Answer]:
    chosen = _chosen(scheme, answered)
    if not chosen:
        return
    if scheme.settings["annotation_type"] == "pairwise":
        for label, label_value in chosen.items():
            if label not in NO_PAIR:
                yield _pairwise(scheme, label, label_value)
        return
    label, label_value = [*chosen.items()][-1]
    if scheme.points is None:
        side = side_of(label)
        if side is None:
            raise ValueError(f"{scheme.name}: the label {label!r} is not one of {', '.join(scheme.labels)}")
        yield Answer(scheme.name, choice=side)
    elif label != "bad_text":
        yield Answer(scheme.name, rating=_rating(scheme, label, label_value))


def _pairwise(scheme: Scheme, label: str, label_value: object) -> Answer:
    if label == "scale_value":
        try:
            preference = float(str(label_value))
        except ValueError:
            raise ValueError(f"{scheme.name}: a number was expected; found {label_value!r}") from None
        return Answer(scheme.name, choice=LEFT if preference < 0 else RIGHT if preference > 0 else TIE)
    if str(label_value) not in SELECTED:
        raise ValueError(f"{scheme.name}: A, B or tie was expected; found {label_value!r}")
    return Answer(
        scheme.name if label == "selection" else f"{scheme.name} {label}", choice=SELECTED[str(label_value)]
    )


def _rating(scheme: Scheme, label: str, label_value: object) -> float:
    """A point of the scale, by the label; the value of a version may be the key that was pressed."""
    if scheme.points == 0:
        low, high = _range(scheme)
        try:
            number = float(str(label_value))
        except ValueError:
            raise ValueError(f"{scheme.name}: a number was expected; found {label_value!r}") from None
        if not low <= number <= high:
            raise ValueError(f"{scheme.name}: a number from {low:g} to {high:g} was expected; found {number:g}")
        return 100 * (number - low) / (high - low)
    if scheme.settings["annotation_type"] == "likert" and label in scheme.labels:
        return float(scheme.labels.index(label) + 1)
    point = POINT.match(label)
    rating = float(point.group(1)) if point else rating_of(label)
    if rating is None or not 1 <= rating <= (scheme.points or 0):
        raise ValueError(f"{scheme.name}: a point from 1 to {scheme.points} was expected; found {label!r}")
    return rating


def _range(scheme: Scheme) -> tuple[float, float]:
    return float(scheme.settings.get("min_value", 0)), float(scheme.settings.get("max_value", 100))


def _slider_note(scheme: Scheme) -> str | None:
    if scheme.points != 0 or _range(scheme) == (0.0, 100.0):
        return None
    low, high = _range(scheme)
    return f"{scheme.name}: the slider from {low:g} to {high:g} is rescaled to 0 to 100."


def _pair(scheme: Scheme, instance: Entry) -> tuple[str, ...]:
    """The two images of an item: as the scheme names them, as ``left`` and ``right``, or the only two."""
    named = instance.get(str(scheme.settings.get("items_key", "")))
    listed = named if isinstance(named, list) else [instance.get("left"), instance.get("right")]
    images = [reference for label_value in listed if (reference := reference_in(label_value)) is not None]
    if len(images) != 2:
        images = references_in(instance)
    if len(images) != 2:
        raise ValueError(f"{scheme.name}: two images were expected; found {', '.join(images) or 'none'}")
    return tuple(images)


def _single(instance: Entry, project: Project) -> str:
    """The image of an item: as the display or the text key names it, or the only one there is."""
    fields = (project.settings.get("instance_display") or {}).get("fields") or []
    keys = [str(field.get("key")) for field in fields if isinstance(field, dict) and field.get("type") == "image"]
    keys.append(str((project.settings.get("item_properties") or {}).get("text_key", "")))
    named = [reference for key in keys if (reference := reference_in(instance.get(key))) is not None]
    images = named[:1] or references_in(instance)
    if len(images) != 1:
        raise ValueError(f"one image was expected; found {', '.join(images) or 'none'}")
    return images[0]
