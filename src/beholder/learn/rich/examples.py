"""From a study's labels and regions to images with all that people said of them."""

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
    """One image; what nobody was asked is missing."""

    image: str
    prompt: str
    scores: Mapping[str, float]
    """Aspect -> mean score, from 0 to 1."""
    misaligned: tuple[bool, ...] | None
    """For each word of the prompt whether most people say that the image misses it."""
    mapped: tuple[str, ...]
    """Aspects of which there is a heatmap, maybe an empty one."""


@dataclass(frozen=True, eq=False)
class RichJudged:
    """All rich feedback of one question."""

    question: str
    examples: Mapping[str, RichExample]
    items: tuple[Item, ...]
    paths: Mapping[str, str]
    maps: Mapping[tuple[str, str], bytes]
    """(image, aspect) -> the heatmap as PNG: small enough to keep, and decoded when it is needed."""
    people: int = 0
    """Behind a label, at most."""

    @property
    def aspects(self) -> tuple[str, ...]:
        """What is scored."""
        return tuple(sorted({aspect for one in self.examples.values() for aspect in one.scores}))

    def of(self, images: Iterable[str]) -> list[RichExample]:
        """The examples of these images, in their order."""
        return [self.examples[image] for image in images if image in self.examples]


def rich_judged(store: Store, question: str | None = None) -> RichJudged:
    """The rich feedback of a study; an error says what is missing."""
    asked = _asked(store, question)
    labels = store.read("labels").filter(pl.col("question") == asked.name)
    regions = store.read_or_empty("regions").filter(pl.col("question") == asked.name)
    maps = {
        (image, aspect): png for image, aspect, png in regions.select("image", "aspect", "heatmap").iter_rows()
    }
    mapped: dict[str, list[str]] = {}
    for image, aspect in maps:
        mapped.setdefault(image, []).append(aspect)
    scores = _scores(labels, asked)
    images = store.read("images").filter(pl.col("image").is_in([*{*scores, *mapped}]))
    if images.is_empty():
        raise LabelsError(
            str(store.path("labels")),
            [f"no scores and no regions of the question '{asked.name}'"],
            advice="Write them with: beholder consolidate FOLDER",
        )
    texts = dict(store.read_or_empty("prompts").select("prompt", "text").iter_rows())
    words = _words(labels)
    examples, items, paths = {}, [], {}
    columns = ("image", "prompt", "generator", "sha256", "path")
    for image, prompt, generator, sha256, path in images.select(columns).iter_rows():
        text = texts.get(prompt)
        examples[image] = RichExample(
            image, text or "", scores.get(image, {}), _marked(text, words.get(image)), tuple(mapped.get(image, ()))
        )
        items.append(Item(image, text, generator, sha256))
        paths[image] = str(store.folder / path)
    people = max((int(raters) for raters in (*labels["raters"], *regions["raters"])), default=0)
    return RichJudged(asked.name, examples, tuple(items), paths, maps, people)


def _asked(store: Store, name: str | None) -> MarkedQuestion:
    """The question of rich feedback: the one of that name, or the only one."""
    study = load_study(store.folder)
    found = marked_questions(study.questions)
    known = ", ".join(one.name for one in found) or "none"
    chosen = [one for one in found if name is None or one.name == name]
    if len(chosen) != 1:
        wanted = f"one named '{name}'" if name else "exactly one, or its name"
        raise LabelsError(str(store.folder), [f"questions of rich feedback: {known}; expected {wanted}"])
    return chosen[0]


def _scores(labels: pl.DataFrame, asked: MarkedQuestion) -> dict[str, dict[str, float]]:
    """Image -> aspect -> score from 0 to 1."""
    found: dict[str, dict[str, float]] = {}
    rows = labels.filter(pl.col("word").is_null() & pl.col("method").is_in(list(SCORED_BY)))
    for image, aspect, method, value in rows.select("image", "aspect", "method", "value").iter_rows():
        found.setdefault(image, {})[aspect] = to_unit_scale(value, method, asked.scale())
    return found


def _words(labels: pl.DataFrame) -> dict[str, dict[int, bool]]:
    rows = labels.filter(pl.col("word").is_not_null() & pl.col("method").is_in(WORDS_BY))
    found: dict[str, dict[int, bool]] = {}
    for image, word, value in rows.select("image", "word", "value").iter_rows():
        found.setdefault(image, {})[word] = value > MISSED
    return found


def _marked(prompt: str | None, words: Mapping[int, bool] | None) -> tuple[bool, ...] | None:
    """A flag for each word; nothing where words were not asked for, or are not those of the prompt."""
    count = len(split_words(prompt or ""))
    if words is None or not count or max(words) >= count:
        return None
    return tuple(words.get(place, False) for place in range(count))


def heatmap_aspects(found: RichJudged) -> tuple[str, ...]:
    """Aspects of which there are heatmaps, in the usual order."""
    there = {aspect for one in found.examples.values() for aspect in one.mapped}
    return tuple(aspect for aspect in MARKED if aspect in there)
