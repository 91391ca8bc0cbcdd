"""Training examples from a study's labels: pairs and rankings with proportions of votes, or rated images.

Labels that are high where raters call an image generated change their sign when they are learned as ratings, so
that higher is better. As ``shares`` they stay soft labels, the proportion of raters from 0 to 1, and images
without an answer are left out.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from beholder.errors import LabelsError
from beholder.judgements.votes import votes_of
from beholder.learn.recipe import Data
from beholder.learn.splits import Item, Role, Split
from beholder.study.study import Study
from beholder.tables.store import Store

EVEN = 0.5
RATED_BY = ("mean", "published-mean", "share", "credit")
"""Methods of labels of single images, by preference: the first that the study has is used by default."""

SHARE = "share"
"""The method whose labels are the proportion of raters who call an image generated."""

HIGHER_IS_WORSE = (SHARE, "credit")
"""Methods whose labels are high where raters call an image generated."""

VOTE_KINDS = ("vote", "rank")
"""Kinds of judgements that are votes or imply votes."""


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """Two images of an example by their indices, the proportion of votes for the first, and the pair's weight."""

    first: int
    second: int
    proportion: float
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Example:
    """Images of one prompt, the labels of their pairs, and the ratings of each."""

    prompt: str
    images: tuple[str, ...]
    pairs: tuple[LabelledPair, ...] = ()
    ratings: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    """Aspect -> the rating of each image, None where it has none."""
    answers: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Aspect -> the number of answers behind the rating of each image; 0 without a rating."""


@dataclass(frozen=True, slots=True)
class LabelledImages:
    """The labels that a recipe uses, as one long frame, and the images that they are about."""

    labels: pl.DataFrame
    """``image``, ``other``, ``aspect``, ``value``, ``raters``, ``answers``, ``low``, ``high``"""
    items: tuple[Item, ...]
    paths: Mapping[str, str]
    aspects: tuple[str, ...]
    max_raters: int
    """The largest number of raters behind one label."""


def read_labelled_images(store: Store, data: Data) -> LabelledImages:
    """Return the labels that a recipe asks for, with their images; an error says what is missing."""
    labels = _select_labels(store.read("labels"), data, str(store.path("labels")))
    images = store.read("images")
    texts = dict(store.read_or_empty("prompts").select("prompt", "text").iter_rows())
    labelled = {*labels["image"], *labels["other"].drop_nulls()}
    rows = images.filter(pl.col("image").is_in(list(labelled)))
    items = tuple(
        Item(image, texts.get(prompt), generator, sha256)
        for image, prompt, generator, sha256 in rows.select("image", "prompt", "generator", "sha256").iter_rows()
    )
    _check_files(store, rows)
    max_raters = labels["raters"].max()
    return LabelledImages(
        labels=labels,
        items=items,
        paths={image: str(store.folder / path) for image, path in rows.select("image", "path").iter_rows()},
        aspects=tuple(sorted(labels["aspect"].unique())),
        max_raters=max_raters if isinstance(max_raters, int) else 0,
    )


def build_examples(labelled: LabelledImages, data: Data, images: Iterable[str]) -> list[Example]:
    """Return the examples all of whose images are among ``images`` (one part of a split), in a fixed order."""
    allowed = set(images)
    prompts = {item.image: item.prompt or "" for item in labelled.items}
    labels = labelled.labels.filter(
        pl.col("image").is_in(list(allowed)) & (pl.col("other").is_null() | pl.col("other").is_in(list(allowed)))
    )
    return (
        _pair_examples(labels, prompts, data)
        if data.labels == "pairs"
        else _rating_examples(labels, prompts, data, labelled)
    )


def build_examples_by_role(labelled: LabelledImages, data: Data, split: Split) -> dict[Role, list[Example]]:
    """Return the examples for training, validation and test; an error where a part is empty or has one class."""
    roles: tuple[Role, ...] = ("train", "validation", "test")
    examples_by_role = {role: build_examples(labelled, data, split.of(role)) for role in roles}
    faults = [
        f"{role}: no labels are left in this part of the split" for role in roles if not examples_by_role[role]
    ]
    if not faults:
        faults += _uniform_labels(examples_by_role["train"], data)
    if faults:
        raise LabelsError(f"labels, split by {split.by}", faults)
    return examples_by_role


@dataclass(frozen=True, slots=True)
class Scale:
    """Mean and standard deviation of an aspect's training labels."""

    mean: float
    standard_deviation: float


def label_scales(training_examples: Sequence[Example], data: Data) -> dict[str, Scale]:
    """Return the scale of every rated aspect, or none where ratings are not standardised."""
    if data.labels != "ratings" or not data.standardise:
        return {}
    values: dict[str, list[float]] = {}
    for example in training_examples:
        for aspect, ratings in example.ratings.items():
            values.setdefault(aspect, []).extend(rating for rating in ratings if rating is not None)
    series_by_aspect = {
        aspect: pl.Series(ratings_of_aspect) for aspect, ratings_of_aspect in values.items() if ratings_of_aspect
    }
    return {
        aspect: Scale(float(ratings_of_aspect.mean() or 0.0), float(ratings_of_aspect.std(ddof=0) or 1.0))  # type: ignore[arg-type]
        for aspect, ratings_of_aspect in series_by_aspect.items()
    }


def number_generators(items: Sequence[Item], split: Split) -> dict[str, int]:
    """Return the number of the generator of each training image, counted from 0 in the order of their names."""
    training_images = set(split.of("train"))
    generators = {item.image: item.generator for item in items if item.image in training_images}
    numbers = {generator: number for number, generator in enumerate(sorted(set(generators.values())))}
    return {image: numbers[generator] for image, generator in generators.items()}


def read_votes(store: Store, study: Study, question: str | None) -> pl.DataFrame:
    """Return single votes on pairs: ``rater``, ``image``, ``other``, and ``lead``.

    ``lead`` is 1 for ``image``, −1 for ``other`` and 0 for a tie. Answers that are not used do not count;
    a study that was imported without answers has no votes.
    """
    judgements = store.read_or_empty("judgements").filter("used", pl.col("value_kind").is_in(VOTE_KINDS))
    names = [each.name for each in study.questions if question in (None, "", each.name)]
    parts = [votes_of(judgements.filter(pl.col("question") == name)) for name in names]
    columns = ("rater", "image", "other", "value")
    votes = pl.concat([judgements.clear().select(columns), *(part.select(columns) for part in parts)])
    return votes.rename({"value": "lead"}).with_columns(pl.col("lead").cast(pl.Int64))


def _select_labels(labels: pl.DataFrame, data: Data, path: str) -> pl.DataFrame:
    """Return the rows that a recipe uses."""
    pairs = data.labels == "pairs"
    selected = labels.filter(
        pl.col("word").is_null()
        & (pl.col("other").is_not_null() if pairs else pl.col("other").is_null())
        & (pl.col("method") == "preference" if pairs else pl.lit(value=True))
    )
    if data.labels == "shares":
        selected = selected.filter((pl.col("method") == SHARE) & (pl.col("answers") > 0))
    elif data.labels == "ratings":
        methods = selected["method"].unique().to_list()
        method = data.method or next((name for name in RATED_BY if name in methods), "")
        selected = selected.filter(pl.col("method") == method)
        sign_changed = pl.when(pl.col("method").is_in(HIGHER_IS_WORSE)).then(-pl.col("value")).otherwise("value")
        selected = selected.with_columns(value=sign_changed)
    faults = []
    if selected.is_empty():
        methods_present = labels.select("method").unique().sort("method").to_series().to_list()
        faults.append(f"no labels of {data.labels}; methods found: {', '.join(methods_present) or 'none'}")
    chosen_names = [("question", [data.question] if data.question else []), ("aspect", list(data.aspects))]
    for column, names in chosen_names:
        missing = sorted(set(names) - set(selected[column]))
        names_present = ", ".join(selected[column].unique().sort()) or "none"
        faults += [
            f"no {column} '{name}' among labels of {data.labels}; found: {names_present}" for name in missing
        ]
        selected = selected.filter(pl.col(column).is_in(names)) if names and not missing else selected
    if faults:
        advice = (
            "Write labels with: beholder consolidate FOLDER"
            if labels.is_empty()
            else "Choose a recipe for the labels that there are, or change this one with --set data.method=METHOD"
        )
        raise LabelsError(path, faults, advice=advice)
    if pairs and data.ties == "drop":
        selected = selected.filter(pl.col("value") != EVEN)
    columns = ("image", "other", "aspect", "value", "raters", "answers", "low", "high")
    return selected.unique(["image", "other", "aspect"], keep="first", maintain_order=True).select(columns)


def _check_files(store: Store, rows: pl.DataFrame) -> None:
    missing = [path for path in rows["path"] if not (store.folder / path).is_file()]
    if missing:
        named = [f"{path}: no such file" for path in missing[:10]]
        more = [f"and {len(missing) - 10} more"] if len(missing) > 10 else []
        raise LabelsError("images that have labels", [*named, *more])


def _uniform_labels(train: Sequence[Example], data: Data) -> list[str]:
    """Return a fault where there is nothing to learn: only ties, or one rating for all images of an aspect."""
    if data.labels == "pairs":
        proportions = {pair.proportion for example in train for pair in example.pairs}
        return ["train: every pair is a tie, so there is nothing to learn"] if proportions <= {EVEN} else []
    values: dict[str, set[float]] = {}
    for example in train:
        for aspect, ratings in example.ratings.items():
            values.setdefault(aspect, set()).update(rating for rating in ratings if rating is not None)
    return [
        f"train: all labels of '{aspect}' are {next(iter(distinct)):g}: one class, so there is nothing to learn"
        for aspect, distinct in sorted(values.items())
        if len(distinct) == 1
    ]


def _pair_examples(labels: pl.DataFrame, prompts: Mapping[str, str], data: Data) -> list[Example]:
    """Return one example per pair, or one per prompt; only images of the same prompt can be compared."""
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
            Example(prompt, (image, other), (LabelledPair(0, 1, proportion, weight[prompt]),))
            for prompt, image, other, proportion in pairs
        ]
    pairs_by_prompt: dict[str, list[tuple[str, str, float]]] = {}
    for prompt, image, other, proportion in pairs:
        pairs_by_prompt.setdefault(prompt, []).append((image, other, proportion))
    grouped_examples = []
    for prompt, prompt_pairs in pairs_by_prompt.items():
        images = tuple(dict.fromkeys(image for pair in prompt_pairs for image in pair[:2]))
        index = {image: number for number, image in enumerate(images)}
        compared = tuple(
            LabelledPair(index[first], index[second], proportion, weight[prompt])
            for first, second, proportion in prompt_pairs
        )
        grouped_examples.append(Example(prompt, images, compared))
    return grouped_examples


def _target(proportion: float, *, hard: bool) -> float:
    return proportion if not hard or proportion == EVEN else float(proportion > EVEN)


def _rating_examples(
    labels: pl.DataFrame, prompts: Mapping[str, str], data: Data, labelled: LabelledImages
) -> list[Example]:
    """Return one example per image, or one per prompt, with the ratings of every aspect."""
    rated: dict[str, dict[str, tuple[float, int]]] = {}
    for image, aspect, *label in labels.select("image", "aspect", "value", "answers").iter_rows():
        rated.setdefault(image, {})[aspect] = (label[0], label[1])
    no_rating = (None, 0)
    groups: dict[str, list[str]] = {}
    for image in rated:
        alone = data.together == "item" or not prompts[image]
        groups.setdefault(image if alone else f"prompt {prompts[image]}", []).append(image)
    return [
        Example(
            prompts[images[0]],
            tuple(images),
            ratings={
                aspect: tuple(rated[image].get(aspect, no_rating)[0] for image in images)
                for aspect in labelled.aspects
            },
            answers={
                aspect: tuple(rated[image].get(aspect, no_rating)[1] for image in images)
                for aspect in labelled.aspects
            },
        )
        for images in groups.values()
    ]
