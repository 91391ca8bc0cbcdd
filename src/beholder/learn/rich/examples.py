"""Training examples of rich feedback from a study's labels and regions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import polars as pl

from beholder.errors import LabelsError
from beholder.feedback.labels import MISSED, SCORED_BY, WORDS_BY, to_unit_scale
from beholder.learn.splits import Item
from beholder.study.kinds.catalogue import marked_questions
from beholder.study.kinds.rich_feedback import MARKED
from beholder.study.kinds.traits import MarkedQuestion
from beholder.study.study import load_study
from beholder.study.words import split_words
from beholder.tables.store import Store


@dataclass(frozen=True, slots=True)
class RichExample:
    """The rich feedback on one image; what raters were not asked is missing."""

    image: str
    prompt: str
    scores: Mapping[str, float]
    """Aspect -> mean score, from 0 to 1."""
    misaligned: tuple[bool, ...] | None
    """For each word of the prompt whether most raters call it misaligned."""
    mapped: tuple[str, ...]
    """Aspects that have a heatmap, possibly an empty one."""


@dataclass(frozen=True, eq=False)
class RichLabels:
    """The rich feedback of one question."""

    question: str
    examples: Mapping[str, RichExample]
    items: tuple[Item, ...]
    paths: Mapping[str, str]
    maps: Mapping[tuple[str, str], bytes]
    """(image, aspect) -> the heatmap as PNG: small enough for memory, and decoded on demand."""
    max_raters: int = 0
    """The largest number of raters behind one label."""

    @property
    def aspects(self) -> tuple[str, ...]:
        """The aspects that have scores."""
        return tuple(sorted({aspect for example in self.examples.values() for aspect in example.scores}))

    def of(self, images: Iterable[str]) -> list[RichExample]:
        """Return the examples of these images, in their order."""
        return [self.examples[image] for image in images if image in self.examples]


def read_rich_labels(store: Store, question: str | None = None) -> RichLabels:
    """Return the rich feedback of a study; an error says what is missing."""
    marked_question = _rich_question(store, question)
    labels = store.read("labels").filter(pl.col("question") == marked_question.name)
    regions = store.read_or_empty("regions").filter(pl.col("question") == marked_question.name)
    maps = {
        (image, aspect): png for image, aspect, png in regions.select("image", "aspect", "heatmap").iter_rows()
    }
    mapped_aspects: dict[str, list[str]] = {}
    for image, aspect in maps:
        mapped_aspects.setdefault(image, []).append(aspect)
    scores = _scores(labels, marked_question)
    images = store.read("images").filter(pl.col("image").is_in([*{*scores, *mapped_aspects}]))
    if images.is_empty():
        raise LabelsError(
            str(store.path("labels")),
            [f"no scores and no regions of the question '{marked_question.name}'"],
            advice="Write them with: beholder consolidate FOLDER",
        )
    texts = dict(store.read_or_empty("prompts").select("prompt", "text").iter_rows())
    misaligned_words = _misaligned_words(labels)
    examples, items, paths = {}, [], {}
    columns = ("image", "prompt", "generator", "sha256", "path")
    for image, prompt, generator, sha256, path in images.select(columns).iter_rows():
        text = texts.get(prompt)
        examples[image] = RichExample(
            image,
            text or "",
            scores.get(image, {}),
            _word_flags(text, misaligned_words.get(image)),
            tuple(mapped_aspects.get(image, ())),
        )
        items.append(Item(image, text, generator, sha256))
        paths[image] = str(store.folder / path)
    max_raters = max((int(raters) for raters in (*labels["raters"], *regions["raters"])), default=0)
    return RichLabels(marked_question.name, examples, tuple(items), paths, maps, max_raters)


def _rich_question(store: Store, name: str | None) -> MarkedQuestion:
    """Return the question of rich feedback: the one of that name, or the only one."""
    study = load_study(store.folder)
    candidates = marked_questions(study.questions)
    names = ", ".join(candidate.name for candidate in candidates) or "none"
    chosen = [candidate for candidate in candidates if name is None or candidate.name == name]
    if len(chosen) != 1:
        expected = f"one named '{name}'" if name else "exactly one, or its name"
        raise LabelsError(str(store.folder), [f"questions of rich feedback: {names}; expected {expected}"])
    return chosen[0]


def _scores(labels: pl.DataFrame, marked_question: MarkedQuestion) -> dict[str, dict[str, float]]:
    """Return image -> aspect -> score from 0 to 1."""
    scores: dict[str, dict[str, float]] = {}
    rows = labels.filter(pl.col("word").is_null() & pl.col("method").is_in(list(SCORED_BY)))
    for image, aspect, method, value in rows.select("image", "aspect", "method", "value").iter_rows():
        scores.setdefault(image, {})[aspect] = to_unit_scale(value, method, marked_question.scale())
    return scores


def _misaligned_words(labels: pl.DataFrame) -> dict[str, dict[int, bool]]:
    rows = labels.filter(pl.col("word").is_not_null() & pl.col("method").is_in(WORDS_BY))
    flags_by_image: dict[str, dict[int, bool]] = {}
    for image, word, value in rows.select("image", "word", "value").iter_rows():
        flags_by_image.setdefault(image, {})[word] = value > MISSED
    return flags_by_image


def _word_flags(prompt: str | None, words: Mapping[int, bool] | None) -> tuple[bool, ...] | None:
    """Return a flag per word; None where words were not asked for, or are not those of the prompt."""
    count = len(split_words(prompt or ""))
    if words is None or not count or max(words) >= count:
        return None
    return tuple(words.get(index, False) for index in range(count))


def heatmap_aspects(rich_labels: RichLabels) -> tuple[str, ...]:
    """Return the aspects that have heatmaps, in the usual order."""
    aspects = {aspect for example in rich_labels.examples.values() for aspect in example.mapped}
    return tuple(aspect for aspect in MARKED if aspect in aspects)
