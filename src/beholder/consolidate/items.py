"""Judgements by aspect, about items: what agreement, screening and labels have in common."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.judgements.coding import CLASSES, PAIRED, SCALES
from beholder.judgements.rankings import RANK
from beholder.judgements.votes import in_order_of_ids, votes_of
from beholder.stats.agreement.krippendorff import Scale
from beholder.study.kinds.catalogue import KINDS, AnyQuestion
from beholder.tables.id_index import Enumerated


@dataclass(frozen=True, slots=True)
class JudgedItems:
    """Judgements by one aspect as columns ``rater``, ``item``, ``value`` (and the images that make the item)."""

    aspect: str
    value_kind: str
    frame: pl.DataFrame
    names: tuple[str, ...] = ()
    """What values stand for that are places of named options."""

    @property
    def scale(self) -> Scale:
        """The scale of measurement: what distances between the values mean."""
        return SCALES[self.value_kind]

    def arrays(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], list[str]]:
        """Return rater indices, item indices, values, and the raters' names in the order of their indices.

        Values that are names, not numbers, become the indices of their classes (``CLASSES``).
        """
        names = self.frame["rater"].unique().sort()
        items = self.frame["item"].unique().sort()
        return (
            _indices(self.frame["rater"], names),
            _indices(self.frame["item"], items),
            self._codes(),
            names.to_list(),
        )

    def of(self, raters: set[str]) -> "JudgedItems":
        """Return the judgements of these raters alone."""
        present = self.frame["rater"].unique()
        counted = [rater for rater in present.to_list() if rater in raters]
        if len(counted) == len(present):
            return self
        named = pl.DataFrame({"rater": counted}, schema={"rater": present.dtype})
        return replace(self, frame=self.frame.join(named, on="rater", how="semi", maintain_order="left"))

    def decided(self) -> "JudgedItems":
        """Return the judgements without ties, where values are votes; otherwise all of them."""
        if self.value_kind != "vote":
            return self
        return replace(self, frame=self.frame.filter(pl.col("value") != 0))

    def _codes(self) -> NDArray[np.float64]:
        values = self.frame["value"].to_numpy()
        classes = CLASSES.get(self.value_kind)
        if classes is None:
            return values
        return np.select([values == value for value in classes], list(range(len(classes))), np.nan)


def by_aspect(question: AnyQuestion, judgements: pl.DataFrame) -> Iterator[JudgedItems]:
    """Yield the judgements of a question, aspect by aspect; of a rater's judgements of an item, the first.

    A rater has several only after taking part twice. Rankings are the votes that they imply; the item of a
    vote is the pair of images, whichever side they stood on. A question without judgements has empty aspects.
    """
    kind = KINDS[question.kind]
    value_kind = kind.coding(question).value_kind
    aspects = judgements["aspect"].unique().to_list() or kind.aspects(question)
    for aspect in sorted(aspects):
        part = judgements.filter(pl.col("aspect") == aspect) if len(aspects) > 1 else judgements
        if value_kind in (*PAIRED, RANK):
            frame = in_order_of_ids(votes_of(part)).select(
                "rater", "image", "other", item=pl.concat_str("image", "other", separator="\n"), value="value"
            )
        else:
            frame = part.select("rater", item="image", image="image", value="value")
        once = frame.unique(["rater", "item"], keep="first", maintain_order=True)
        names = kind.options(question) if value_kind == "category" else ()
        yield JudgedItems(aspect, "vote" if value_kind == RANK else value_kind, once, names)


@dataclass(frozen=True, slots=True)
class Ids:
    """All ids of a study as enumerated types, whose numbers take the place of the ids."""

    raters: Enumerated
    images: Enumerated

    @staticmethod
    def of(raters: pl.Series, images: pl.Series) -> "Ids":
        """Number the ids, which may be repeated, in ascending order."""
        return Ids(Enumerated.of(raters), Enumerated.of(images))


def compacted(judged: JudgedItems, ids: Ids) -> JudgedItems:
    """Return the same with numbers in place of ids, in the same order: a judgement takes some 30 bytes."""
    kinds = {"rater": ids.raters, "image": ids.images, "other": ids.images}
    columns = [kind.coded(judged.frame[name]) for name, kind in kinds.items() if name in judged.frame.columns]
    item = pl.col("image").to_physical()
    if "other" in judged.frame.columns:
        item = item.cast(pl.Int64) * len(ids.images.names) + pl.col("other").to_physical()
    return replace(judged, frame=judged.frame.with_columns(columns).with_columns(item=item))


def together(parts: list[list[JudgedItems]]) -> list[JudgedItems]:
    """Return the judgements of several parts of the raters, aspect by aspect."""
    filled = [[judged for judged in part if not judged.frame.is_empty()] for part in parts]
    if not any(filled):
        return parts[0]
    by_aspect: dict[str, list[JudgedItems]] = {}
    for part in filled:
        for judged in part:
            by_aspect.setdefault(judged.aspect, []).append(judged)
    joined = []
    for _, same in sorted(by_aspect.items()):
        frame = pl.concat([judged.frame for judged in same], rechunk=True)
        joined.append(replace(same[0], frame=frame.with_columns(item=_numbered(frame["item"]))))
    return joined


def _numbered(items: pl.Series) -> pl.Series:
    """Return whole numbers from 0, without a gap, in the order of the items, which are numbers too."""
    if not items.dtype.is_integer():
        return items
    return items.rank("dense").cast(pl.UInt32) - 1


def _indices(values: pl.Series, names: pl.Series) -> NDArray[np.int64]:
    """Return the index of each value among the sorted names."""
    if isinstance(values.dtype, pl.Enum) or values.dtype.is_integer():
        codes, numbers = values.to_physical().to_numpy(), names.to_physical().to_numpy()
        if len(numbers) == 0 or numbers[-1] > 4 * len(codes):
            return np.searchsorted(numbers, codes)
        place = np.zeros(int(numbers[-1]) + 1, np.int64)  # a table is faster than a search
        place[numbers] = np.arange(len(numbers))
        return np.asarray(place[codes], np.int64)
    order = pl.DataFrame({"name": names, "index": np.arange(len(names))})
    return values.to_frame("name").join(order, on="name", maintain_order="left")["index"].to_numpy()
