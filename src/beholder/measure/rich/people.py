"""What the people of a study said of an image, found by its content or its place."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.errors import StudyError
from beholder.models.image_feedback import AspectScore, ImageFeedback
from beholder.models.pictures import FilePicture, Picture
from beholder.study.kinds.rich_feedback import MARKED, RichFeedbackQuestion
from beholder.study.study import FILE_NAME, load_study
from beholder.study.words import split_words
from beholder.tables.regions import Regions, open_regions
from beholder.tables.rich_labels import SCORED_BY, WORDS_BY, as_share
from beholder.tables.store import Store


@dataclass(frozen=True, slots=True)
class KnownImage:
    """An image of the study and its prompt."""

    image: str
    prompt: str | None


@dataclass(frozen=True, eq=False)
class People:
    """The rich feedback of a study's people."""

    question: RichFeedbackQuestion
    labels: pl.DataFrame
    """Those of the question."""
    regions: Regions | None
    by_hash: Mapping[str, KnownImage]
    by_path: Mapping[Path, KnownImage]

    def known(self, picture: Picture, sha256: bytes) -> KnownImage | None:
        """The image of the study with this content, or at this place; nothing where there is none."""
        found = self.by_hash.get(sha256.hex())
        if found is None and isinstance(picture, FilePicture):
            found = self.by_path.get(picture.path.resolve())
        return found

    def feedback(self, known: KnownImage) -> ImageFeedback | None:
        """What people said of an image; nothing where none was asked."""
        mine = self.labels.filter(pl.col("image") == known.image)
        scores = {row["aspect"]: self._score(row) for row in self._scored(mine)}
        heatmaps = self._heatmaps(known.image)
        if not scores and not heatmaps:
            return None
        raters = [row["raters"] for row in self._scored(mine)]
        if self.regions is not None:
            raters += self.regions.keys.filter(
                (pl.col("question") == self.question.name) & (pl.col("image") == known.image)
            )["raters"].to_list()
        return ImageFeedback(scores, heatmaps, self._missed(mine, known.prompt), max(raters))

    def _scored(self, mine: pl.DataFrame) -> list[dict[str, Any]]:
        """Rows that are scores, in the order of the question's aspects."""
        rows = mine.filter(pl.col("word").is_null() & pl.col("method").is_in(list(SCORED_BY))).to_dicts()
        order = [aspect.name for aspect in self.question.aspects]
        return sorted(rows, key=lambda row: order.index(row["aspect"]) if row["aspect"] in order else len(order))

    def _score(self, row: Mapping[str, Any]) -> AspectScore:
        method, scale = row["method"], self.question.scale()
        value, low, high = (
            None if row[key] is None else as_share(row[key], method, scale) for key in ("value", "low", "high")
        )
        if value is None:
            raise TypeError(f"a label without a value: {row}")
        if low is None or high is None:
            return AspectScore(value)
        return AspectScore(value, max(low, 0.0), min(high, 1.0), "people")

    def _heatmaps(self, image: str) -> dict[str, NDArray[np.float32]]:
        name, regions = self.question.name, self.regions
        if regions is None:
            return {}
        mapped = [aspect for aspect in MARKED if (name, aspect, image) in regions.places]
        return {aspect: regions.heatmap(name, aspect, image).astype(np.float32) for aspect in mapped}

    def _missed(self, mine: pl.DataFrame, prompt: str | None) -> NDArray[np.float64] | None:
        """The share of people for each word; nothing where words were not asked for, or are not the prompt's."""
        rows = mine.filter(pl.col("word").is_not_null() & pl.col("method").is_in(WORDS_BY))
        count = len(split_words(prompt or ""))
        if rows.is_empty() or rows["word"].max() >= count:  # type: ignore[operator]
            return None
        shares = np.zeros(count)
        shares[rows["word"].to_numpy()] = rows["value"].to_numpy()
        return shares


def open_people(folder: Path) -> People:
    """The people of a study; an error says what it lacks."""
    study, store = load_study(folder), Store(folder)
    questions = [one for one in study.questions if isinstance(one, RichFeedbackQuestion)]
    if not questions:
        asked = ", ".join(f"{one.name} ({one.kind})" for one in study.questions)
        raise StudyError(str(folder / FILE_NAME), [f"no question of rich feedback; found: {asked}"])
    labels = store.read("labels")
    asked_first = max(questions, key=lambda one: labels.filter(pl.col("question") == one.name).height)
    texts = dict(store.read_or_empty("prompts").select("prompt", "text").iter_rows())
    columns = store.read("images").select("image", "prompt", "sha256", "path")
    known = [
        (KnownImage(image, texts.get(prompt)), sha256, path) for image, prompt, sha256, path in columns.iter_rows()
    ]
    return People(
        question=asked_first,
        labels=labels.filter(pl.col("question") == asked_first.name),
        regions=open_regions(store) if store.has("regions") else None,
        by_hash={sha256: one for one, sha256, _ in known},
        by_path={folder.resolve() / path: one for one, _, path in known},
    )
