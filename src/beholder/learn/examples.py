"""From a study's labels to examples to learn from: pairs and rankings with shares of votes, or rated images.

Labels that are high where people call an image generated are turned round when they are learnt as ratings, so that
more is better. As ``shares`` they stay what they are, shares of people from 0 to 1, and images that nobody was
asked about are left out.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from beholder.errors import LabelsError
from beholder.learn.recipe import Data
from beholder.learn.splits import Item, Role, Split
from beholder.tables.store import Store

EVEN = 0.5
RATED_BY = ("mean", "share", "credit")
"""Labels of single images that are learnt from unless another method is asked for: the first that there is."""

SHARE = "share"
"""The method of labels that are shares of people who call an image generated."""

WORSE_UP = (SHARE, "credit")
"""Labels that are high where people call an image generated."""


@dataclass(frozen=True, slots=True)
class Compared:
    """Two images of an example by their places, the share of votes for the first, and how much it counts."""

    first: int
    second: int
    share: float
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Example:
    """Images of one prompt, how they were compared, and how each was rated."""

    prompt: str
    images: tuple[str, ...]
    compared: tuple[Compared, ...] = ()
    ratings: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    """aspect -> the rating of each image, where it has one"""
    answers: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """aspect -> how many answers the rating of each image rests on; 0 without one"""


@dataclass(frozen=True, slots=True)
class Judged:
    """All that people said which a recipe learns from: one long frame, and what is known of the images."""

    labels: pl.DataFrame
    """``image``, ``other``, ``aspect``, ``value``, ``raters``, ``answers``, ``low``, ``high``"""
    items: tuple[Item, ...]
    paths: Mapping[str, str]
    aspects: tuple[str, ...]
    people: int
    """people behind a label, at most"""


def judged(store: Store, data: Data) -> Judged:
    """The labels that a recipe asks for, with their images; an error says what is missing."""
    labels = _chosen(store.read("labels"), data, str(store.path("labels")))
    images = store.read("images")
    texts = dict(store.read_or_empty("prompts").select("prompt", "text").iter_rows())
    named = {*labels["image"], *labels["other"].drop_nulls()}
    rows = images.filter(pl.col("image").is_in(list(named)))
    items = tuple(
        Item(image, texts.get(prompt), generator, sha256)
        for image, prompt, generator, sha256 in rows.select("image", "prompt", "generator", "sha256").iter_rows()
    )
    _check_files(store, rows)
    people = labels["raters"].max()
    return Judged(
        labels=labels,
        items=items,
        paths={image: str(store.folder / path) for image, path in rows.select("image", "path").iter_rows()},
        aspects=tuple(sorted(labels["aspect"].unique())),
        people=people if isinstance(people, int) else 0,
    )


def examples(found: Judged, data: Data, images: Iterable[str]) -> list[Example]:
    """The examples all of whose images are among those given (one side of a split), in a fixed order."""
    allowed = set(images)
    prompts = {one.image: one.prompt or "" for one in found.items}
    mine = found.labels.filter(
        pl.col("image").is_in(list(allowed)) & (pl.col("other").is_null() | pl.col("other").is_in(list(allowed)))
    )
    return _of_pairs(mine, prompts, data) if data.labels == "pairs" else _of_ratings(mine, prompts, data, found)


def examples_by_role(found: Judged, data: Data, split: Split) -> dict[Role, list[Example]]:
    """The examples of each side; an error where a side has nothing to learn or to tell."""
    sides: tuple[Role, ...] = ("train", "validation", "test")
    sorted_out = {role: examples(found, data, split.of(role)) for role in sides}
    faults = [f"{role}: no labels are left on this side of the split" for role in sides if not sorted_out[role]]
    if not faults:
        faults += _sameness(sorted_out["train"], data)
    if faults:
        raise LabelsError(f"labels, split by {split.by}", faults)
    return sorted_out


@dataclass(frozen=True, slots=True)
class Scale:
    """Mean and standard deviation of an aspect's training labels."""

    mean: float
    deviation: float


def scales(examples_of_train: Sequence[Example], data: Data) -> dict[str, Scale]:
    """The scale of every rated aspect, or none where ratings are learnt as they are."""
    if data.labels != "ratings" or not data.standardise:
        return {}
    values: dict[str, list[float]] = {}
    for one in examples_of_train:
        for aspect, ratings in one.ratings.items():
            values.setdefault(aspect, []).extend(rating for rating in ratings if rating is not None)
    found = {aspect: pl.Series(numbers) for aspect, numbers in values.items() if numbers}
    return {
        aspect: Scale(float(numbers.mean() or 0.0), float(numbers.std(ddof=0) or 1.0))  # type: ignore[arg-type]
        for aspect, numbers in found.items()
    }


def _chosen(labels: pl.DataFrame, data: Data, path: str) -> pl.DataFrame:
    """The rows that a recipe learns from."""
    pairs = data.labels == "pairs"
    of_kind = labels.filter(
        pl.col("word").is_null()
        & (pl.col("other").is_not_null() if pairs else pl.col("other").is_null())
        & (pl.col("method") == "preference" if pairs else pl.lit(value=True))
    )
    if data.labels == "shares":
        of_kind = of_kind.filter((pl.col("method") == SHARE) & (pl.col("answers") > 0))
    elif data.labels == "ratings":
        methods = of_kind["method"].unique().to_list()
        method = data.method or next((name for name in RATED_BY if name in methods), "")
        of_kind = of_kind.filter(pl.col("method") == method)
        turned = pl.when(pl.col("method").is_in(WORSE_UP)).then(-pl.col("value")).otherwise("value")
        of_kind = of_kind.with_columns(value=turned)
    faults = []
    if of_kind.is_empty():
        there = labels.select("method").unique().sort("method").to_series().to_list()
        faults.append(f"no labels of {data.labels}; methods found: {', '.join(there) or 'none'}")
    asked = [("question", [data.question] if data.question else []), ("aspect", list(data.aspects))]
    for column, names in asked:
        lost = sorted(set(names) - set(of_kind[column]))
        known = ", ".join(of_kind[column].unique().sort()) or "none"
        faults += [f"no {column} '{name}' among labels of {data.labels}; found: {known}" for name in lost]
        of_kind = of_kind.filter(pl.col(column).is_in(names)) if names and not lost else of_kind
    if faults:
        raise LabelsError(path, faults, advice="Write labels with: beholder consolidate FOLDER")
    if pairs and data.ties == "drop":
        of_kind = of_kind.filter(pl.col("value") != EVEN)
    columns = ("image", "other", "aspect", "value", "raters", "answers", "low", "high")
    return of_kind.unique(["image", "other", "aspect"], keep="first", maintain_order=True).select(columns)


def _check_files(store: Store, rows: pl.DataFrame) -> None:
    lost = [path for path in rows["path"] if not (store.folder / path).is_file()]
    if lost:
        shown = [f"{path}: no such file" for path in lost[:10]]
        more = [f"and {len(lost) - 10} more"] if len(lost) > 10 else []
        raise LabelsError("images that have labels", [*shown, *more])


def _sameness(train: Sequence[Example], data: Data) -> list[str]:
    """Whether there is nothing to learn: every pair a tie, or every rating of an aspect the same."""
    if data.labels == "pairs":
        shares = {pair.share for one in train for pair in one.compared}
        return ["train: every pair is a tie, so there is nothing to learn"] if shares <= {EVEN} else []
    values: dict[str, set[float]] = {}
    for one in train:
        for aspect, ratings in one.ratings.items():
            values.setdefault(aspect, set()).update(rating for rating in ratings if rating is not None)
    return [
        f"train: all labels of '{aspect}' are {next(iter(found)):g}: one class, so there is nothing to learn"
        for aspect, found in sorted(values.items())
        if len(found) == 1
    ]


def _of_pairs(labels: pl.DataFrame, prompts: Mapping[str, str], data: Data) -> list[Example]:
    """Pairs one by one, or all of a prompt together; only images of one prompt can be compared."""
    pairs = [
        (prompts[image], image, other, _target(value, hard=data.hard))
        for image, other, value in labels.select("image", "other", "value").iter_rows()
        if prompts[image] == prompts[other]
    ]
    count: dict[str, int] = {}
    for prompt, *_ in pairs:
        count[prompt] = count.get(prompt, 0) + 1
    weight = {prompt: 1 / number if data.weights == "prompt" else 1.0 for prompt, number in count.items()}
    if data.together == "item":
        return [
            Example(prompt, (image, other), (Compared(0, 1, share, weight[prompt]),))
            for prompt, image, other, share in pairs
        ]
    of_prompt: dict[str, list[tuple[str, str, float]]] = {}
    for prompt, image, other, share in pairs:
        of_prompt.setdefault(prompt, []).append((image, other, share))
    found = []
    for prompt, mine in of_prompt.items():
        images = tuple(dict.fromkeys(image for pair in mine for image in pair[:2]))
        place = {image: number for number, image in enumerate(images)}
        compared = tuple(Compared(place[one], place[two], share, weight[prompt]) for one, two, share in mine)
        found.append(Example(prompt, images, compared))
    return found


def _target(share: float, *, hard: bool) -> float:
    return share if not hard or share == EVEN else float(share > EVEN)


def _of_ratings(labels: pl.DataFrame, prompts: Mapping[str, str], data: Data, found: Judged) -> list[Example]:
    """Images one by one, or all of a prompt together, with the ratings of every aspect."""
    rated: dict[str, dict[str, tuple[float, int]]] = {}
    for image, aspect, *label in labels.select("image", "aspect", "value", "answers").iter_rows():
        rated.setdefault(image, {})[aspect] = (label[0], label[1])
    nothing = (None, 0)
    groups: dict[str, list[str]] = {}
    for image in rated:
        alone = data.together == "item" or not prompts[image]
        groups.setdefault(image if alone else f"prompt {prompts[image]}", []).append(image)
    return [
        Example(
            prompts[images[0]],
            tuple(images),
            ratings={
                aspect: tuple(rated[image].get(aspect, nothing)[0] for image in images) for aspect in found.aspects
            },
            answers={
                aspect: tuple(rated[image].get(aspect, nothing)[1] for image in images) for aspect in found.aspects
            },
        )
        for images in groups.values()
    ]
