"""Label Studio's JSON export: a list of tasks, each with its data and the annotations of every annotator.

A result of an annotation has a type and a value: ``pairwise`` (``{"selected": "left"}``), ``rating``
(``{"rating": 4}``) or ``choices`` (``{"choices": ["Left"]}``). Which field of the data a ``to_name`` means is in
the labelling configuration; the export does not hold it, so an XML file next to it is read if there is one.
Otherwise ``to_name`` must be the name of the field, or the fields that hold images must leave no doubt. A
``pairwise`` result names only itself: which image was on the left is in the configuration; without it the order
of the fields is taken, and a note says so.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from beholder.errors import TableError
from beholder.formats.annotated import Annotations, RatedAspect, slugs, study_from
from beholder.formats.answer_words import rating_of, side_of
from beholder.formats.format import Imported
from beholder.formats.image_references import (
    default_folder,
    leaves_folder,
    prompt_in,
    records_of,
    reference_in,
    references_in,
)
from beholder.formats.imported import NO_TIME, UNKNOWN, ImageRecord, ImportedJudgement
from beholder.formats.reading import Entry, read_all, read_bytes, read_list, shortened

TYPES = ("pairwise", "rating", "choices")
POINTS = 5
"""Stars of a rating, unless the configuration or an answer has more."""

CONFIGURATION_HELP = (
    "Put the labelling configuration (Settings → Labeling Interface → Code) as an .xml file next to the export."
)

ORDER_NOTE = (
    "The export does not say which image of a pair was on the left: the one whose field comes first is assumed. "
    "With the labelling configuration as an .xml file next to the export, it is read from there."
)


@dataclass(frozen=True, slots=True)
class Configuration:
    """What a labelling configuration says of its tags, each by its name."""

    fields: Mapping[str, str] = field(default_factory=dict)
    """Of an image, in the order shown: the field of the data."""
    stars: Mapping[str, int] = field(default_factory=dict)
    """Of a rating: its highest number of stars."""
    pairs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Of a comparison: the images it is about, the left one first."""


@dataclass(frozen=True, slots=True)
class Control:
    """A result of an annotation that holds a pair or a rating."""

    name: str
    kind: str
    images: tuple[str, ...]
    answer: str


def read_study(source: Path, *, images: Path | None = None) -> Imported:
    """A study from an export, or from all JSON files of a folder; all faults of all files at once."""
    folder = source if source.is_dir() else source.parent
    files = sorted(source.glob("*.json")) if source.is_dir() else [source]
    if not files:
        raise TableError(str(source), ["no .json file"])
    configuration = _configuration(folder, source)
    tasks = [
        task
        for part in read_all(str(source), [partial(_tasks, file, configuration) for file in files])
        for task in part
    ]
    annotations = _annotations(str(source), tasks, configuration)
    return study_from(
        "label-studio", "Label Studio", annotations, default_folder(images, folder, annotations.records)
    )


def _configuration(folder: Path, source: Path) -> Configuration:
    """The labelling configuration called like the export, or the only one of the folder; else an empty one."""
    files = sorted(folder.glob("*.xml")) if folder.is_dir() else []
    files = [path for path in files if path.stem == source.stem] or files
    if not files:
        return Configuration()
    if len(files) > 1:
        raise TableError(
            str(folder),
            [f"one labelling configuration was expected; found {len(files)} .xml files"],
            advice=f"Call the one that belongs to the export {source.stem}.xml, or put both into a folder.",
        )
    try:
        root = ElementTree.fromstring(read_bytes(files[0]))
    except ElementTree.ParseError as error:
        raise TableError(str(files[0]), [f"not a labelling configuration in XML: {error}"]) from error
    fields = {
        tag.attrib["name"]: tag.attrib["value"].removeprefix("$")
        for tag in root.iter("Image")
        if "name" in tag.attrib and "value" in tag.attrib
    }
    stars = {
        tag.attrib["name"]: int(tag.attrib.get("maxRating", POINTS))
        for tag in root.iter("Rating")
        if "name" in tag.attrib and tag.attrib.get("maxRating", "5").isdigit()
    }
    pairs = {
        tag.attrib["name"]: tuple(name.strip() for name in tag.attrib["toName"].split(","))
        for tag in root.iter("Pairwise")
        if "name" in tag.attrib and "toName" in tag.attrib
    }
    return Configuration(fields, stars, pairs)


def _tasks(path: Path, configuration: Configuration) -> list[Entry]:
    """The tasks of a file, checked."""
    if path.suffix.lower() in (".csv", ".tsv"):
        raise TableError(str(path), ["JSON was expected; found a table"], advice="Export as JSON instead.")
    tasks = read_list(path)
    if any(isinstance(task, dict) and "annotations" not in task and "annotation_id" in task for task in tasks):
        raise TableError(str(path), ["this is JSON-MIN, which lacks raters"], advice="Export as JSON instead.")
    faults = []
    for number, task in enumerate(tasks):
        label = f"task {task.get('id', number)}" if isinstance(task, dict) else f"entry {number}"
        faults += [f"{label}: {fault}" for fault in _task_faults(task, configuration)]
    if faults:
        unclear = any("to_name" in fault for fault in faults)
        raise TableError(str(path), shortened(faults), advice=CONFIGURATION_HELP if unclear else "")
    return tasks


def _task_faults(task: object, configuration: Configuration) -> list[str]:
    if not isinstance(task, dict):
        return [f"an object was expected; found {type(task).__name__}"]
    task_fields, annotations = task.get("data"), task.get("annotations")
    faults = []
    if not isinstance(task_fields, dict):
        faults.append(f"data: an object was expected; found {type(task_fields).__name__}")
    if not isinstance(annotations, list):
        faults.append(f"annotations: a list was expected; found {type(annotations).__name__}")
    if faults:
        return faults
    assert isinstance(task_fields, dict)
    assert isinstance(annotations, list)
    faults += [
        f"the path {image} leaves the folder" for image in references_in(task_fields) if leaves_folder(image)
    ]
    for annotation in annotations:
        if not isinstance(annotation, dict):
            faults.append(f"annotations: objects were expected; found {type(annotation).__name__}")
            continue
        where = f"annotation {annotation.get('id', '?')}"
        faults += [f"{where}: {fault}" for fault in _annotation_faults(annotation, task_fields, configuration)]
    return faults


def _annotation_faults(annotation: Entry, task_fields: Entry, configuration: Configuration) -> list[str]:
    faults = []
    if _rater(annotation) is None:
        faults.append(f"completed_by: the id of a user was expected; found {annotation.get('completed_by')!r}")
    seconds = annotation.get("lead_time")
    if seconds is not None and (isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds < 0):
        faults.append(f"lead_time: seconds were expected; found {seconds!r}")
    try:
        _moment(annotation.get("created_at"))
    except ValueError:
        faults.append(f"created_at: a moment was expected; found {annotation.get('created_at')!r}")
    results = annotation.get("result")
    if not isinstance(results, list) or not all(isinstance(control_result, dict) for control_result in results):
        return [*faults, "result: a list of objects was expected"]
    for control_result in results:
        if control_result.get("type") in TYPES:
            faults += _result_faults(control_result, task_fields, configuration)
    return faults


def _result_faults(control_result: Entry, task_fields: Entry, configuration: Configuration) -> list[str]:
    name, kind, content = control_result.get("from_name"), str(control_result["type"]), control_result.get("value")
    if not isinstance(name, str) or not isinstance(content, dict):
        return ["result: from_name and value were expected"]
    answer = _answer(kind, content)
    if answer is None:
        expected = {"pairwise": "left or right", "rating": "a whole number from 1", "choices": "one choice"}
        return [f"{name}: {expected[kind]} was expected; found {content}"]
    images = _images(control_result, task_fields, configuration)
    expected_count = 2 if kind == "pairwise" else None
    if not images or (expected_count and len(images) != expected_count):
        what = "two images" if expected_count else "image"
        fields = ", ".join(task_fields) or "none"
        to_name = control_result.get("to_name")
        return [f"{name}: to_name is {to_name!r}; which {what} of the fields {fields} is not clear"]
    return []


def _answer(kind: str, content: Mapping[str, Any]) -> str | None:
    """The answer of a result as a text; nothing where it is none."""
    if kind == "pairwise":
        selected = content.get("selected")
        return selected if selected in ("left", "right") else None
    if kind == "rating":
        stars = content.get("rating")
        return str(stars) if isinstance(stars, int) and not isinstance(stars, bool) and stars >= 1 else None
    choices = content.get("choices")
    is_single = isinstance(choices, list) and len(choices) == 1 and isinstance(choices[0], str)
    return choices[0] if is_single and choices else None


def _images(control_result: Entry, task_fields: Entry, configuration: Configuration) -> tuple[str, ...]:
    """The images that a result is about; none where that is not clear."""
    to_name = control_result.get("to_name")
    names: Sequence[object] = to_name if isinstance(to_name, list) else str(to_name or "").split(",")
    names = configuration.pairs.get(str(control_result.get("from_name")), names)
    fields = [configuration.fields.get(str(name).strip(), str(name).strip()) for name in names]
    images = [reference_in(task_fields.get(name)) for name in fields]
    every = references_in(task_fields)
    displayed = [reference_in(task_fields.get(name)) for name in configuration.fields.values()]
    if sorted(every) == sorted(image for image in displayed if image is not None):
        every = [image for image in displayed if image is not None]  # the order on the page
    if control_result["type"] == "choices" and len(every) == 2 and _is_side(control_result):
        return tuple(every)  # such a control names one of the two images
    if all(image is not None for image in images) and (control_result["type"] != "pairwise" or len(images) == 2):
        return tuple(image for image in images if image is not None)
    expected_count = 2 if control_result["type"] == "pairwise" else 1
    return tuple(every) if len(every) == expected_count else ()


def _is_side(control_result: Entry) -> bool:
    return side_of(_answer("choices", control_result["value"]) or "") is not None


def _annotations(subject: str, tasks: Sequence[Entry], configuration: Configuration) -> Annotations:
    """Judgements of all annotations; choices that are neither sides nor numbers are left out, and named."""
    skipped = sum(bool(annotation.get("was_cancelled")) for task in tasks for annotation in task["annotations"])
    other_types = Counter(
        str(control_result.get("type"))
        for task in tasks
        for annotation in task["annotations"]
        for control_result in annotation["result"]
        if control_result.get("type") not in TYPES
    )
    controls = [
        (task, annotation, control)
        for task in tasks
        for annotation in task["annotations"]
        if not annotation.get("was_cancelled")
        for control in _controls(task, annotation, configuration)
    ]
    unusable, faults = _choices(control for _, _, control in controls)
    if faults:
        raise TableError(subject, shortened(faults))
    controls = [entry for entry in controls if entry[2].name not in unusable]
    if not controls:
        raise TableError(subject, [f"no annotation of type {', '.join(TYPES)} that is a pair or a rating"])
    names = slugs(control.name for _, _, control in controls)
    records: dict[str, ImageRecord] = {}
    for task in tasks:
        records |= records_of(task["data"], references_in(task["data"]))
    judgements = list(_judgements(controls, names))
    notes = [
        "Raters are called user- and the number that Label Studio gave them.",
        "The time of an answer is that of its annotation, lead_time, which all its results share.",
    ]
    notes += [ORDER_NOTE] if _sides_are_assumed(tasks, configuration) else []
    notes += [f"{skipped:,} annotations were skipped by their annotators, and are left out."] if skipped else []
    notes += [f"Choices of '{name}' are neither sides nor numbers, and are left out." for name in unusable]
    notes += [f"{count:,} results of type {kind} are left out." for kind, count in sorted(other_types.items())]
    return Annotations(judgements, _aspects(controls, names, configuration), records, notes)


def _sides_are_assumed(tasks: Sequence[Entry], configuration: Configuration) -> bool:
    """Whether a comparison names neither its two images nor is in the configuration."""
    return not configuration.fields and any(
        control_result.get("type") == "pairwise" and control_result.get("to_name") == control_result["from_name"]
        for task in tasks
        for annotation in task["annotations"]
        for control_result in annotation["result"]
    )


def _controls(task: Entry, annotation: Entry, configuration: Configuration) -> Iterator[Control]:
    for control_result in annotation["result"]:
        if control_result.get("type") in TYPES:
            images = _images(control_result, task["data"], configuration)
            yield Control(
                control_result["from_name"],
                control_result["type"],
                images,
                _answer(control_result["type"], control_result["value"]) or "",
            )


def _choices(controls: Iterator[Control]) -> tuple[list[str], list[str]]:
    """Names of choices that mean nothing here; faults where only some words of a control are understood."""
    words: dict[str, dict[str, bool]] = {}
    for control in controls:
        if control.kind == "choices":
            understood = side_of(control.answer) if len(control.images) == 2 else rating_of(control.answer)
            words.setdefault(control.name, {})[control.answer] = understood is not None
    unusable = [name for name, answers in words.items() if not any(answers.values())]
    faults = [
        f"{name}: the choice {answer!r} is neither a side (left, right, tie) nor a number, as others of it are"
        for name, answers in words.items()
        if name not in unusable
        for answer, understood in answers.items()
        if not understood
    ]
    return unusable, faults


def _judgements(
    controls: Sequence[tuple[Entry, Entry, Control]], names: Mapping[str, str]
) -> Iterator[ImportedJudgement]:
    """A judgement for each pair, and one for all ratings of an image in one annotation."""
    rated: dict[tuple[int, str], dict[str, float]] = {}
    for _, annotation, control in controls:
        if len(control.images) == 1:
            ratings = rated.setdefault((id(annotation), control.images[0]), {})
            ratings[names[control.name]] = rating_of(control.answer) or 0.0
    for task, annotation, control in controls:
        is_pair = len(control.images) == 2
        ratings = {} if is_pair else rated.pop((id(annotation), control.images[0]), {})
        if not is_pair and not ratings:
            continue  # it went with the first rating of this image
        choice = control.answer if control.kind == "pairwise" else side_of(control.answer)
        yield ImportedJudgement(
            names[control.name] if is_pair else "rating",
            "pair" if is_pair else "rating",
            _rater(annotation) or UNKNOWN,
            prompt_in(task["data"]),
            control.images,
            choice=choice if is_pair else None,
            ratings=ratings,
            at=_moment(annotation.get("created_at")),
            seconds=float(annotation.get("lead_time") or 0.0),
        )


def _aspects(
    controls: Sequence[tuple[Entry, Entry, Control]], names: Mapping[str, str], configuration: Configuration
) -> list[RatedAspect]:
    points: dict[str, int] = {}
    for _, _, control in controls:
        if len(control.images) == 1:
            highest = int(rating_of(control.answer) or 0)
            points[control.name] = max(
                points.get(control.name, configuration.stars.get(control.name, POINTS)), highest
            )
    return [RatedAspect(names[name], name, most) for name, most in points.items()]


def _rater(annotation: Entry) -> str | None:
    user = annotation.get("completed_by")
    number = user.get("id") if isinstance(user, dict) else user
    return f"user-{number}" if isinstance(number, int) and not isinstance(number, bool) else None


def _moment(content: object) -> datetime:
    """A moment in UTC; an error where it is not one."""
    if content is None:
        return NO_TIME
    moment = datetime.fromisoformat(str(content))
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
