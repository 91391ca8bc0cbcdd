"""Judgements of a large study in little memory: numbers in place of ids, and only the columns that are needed."""

from dataclasses import dataclass

import polars as pl

from beholder.tables.id_index import Enumerated
from beholder.tables.store import Store

COLUMNS = ("question", "aspect", "rater", "image", "other", "value", "value_kind", "expected", "used")
"""What every method of rating reads."""

SINGLE = ("trial", "session", "attempt", "place")
"""What says which judgements are of one answer."""

WORDS = ("question", "aspect", "value_kind")
"""Columns that repeat a few words."""


@dataclass(frozen=True, eq=False)
class JudgedImages:
    """The judgements of a study and its images, whose ids can be joined."""

    judgements: pl.DataFrame
    images: pl.DataFrame


def judged_images(store: Store, rows_held: int, *, single: bool) -> JudgedImages:
    """Read the judgements and the images.

    Of more than ``rows_held`` judgements, the ids of raters and images, and the names of generators, become
    enumerated types in ascending order, so that a judgement takes some 40 bytes; ``single`` judgements then keep
    the columns that say which answer they are of.
    """
    images = store.read("images")
    if store.rows("judgements") <= rows_held:
        return JudgedImages(store.read("judgements"), images)
    ids, raters = Enumerated.of(images["image"]), Enumerated.of(store.read("raters")["rater"])
    columns = [*COLUMNS, *(SINGLE if single else ())]
    words = pl.scan_parquet(store.path("judgements")).select(pl.col(WORDS).unique().sort().implode()).collect()
    repeated = [pl.col(name).cast(pl.Enum(words[name].explode())) for name in WORDS]
    coded = {"rater": raters, "image": ids, "other": ids}
    batches = [
        batch.with_columns(kind.coded(batch[name]) for name, kind in coded.items()).with_columns(repeated)
        for batch in store.batches("judgements", rows_held, columns, check=True)
    ]
    generators = pl.Enum(images["generator"].unique().sort())
    enumerated = images.with_columns(ids.coded(images["image"]), pl.col("generator").cast(generators))
    return JudgedImages(pl.concat(batches, rechunk=True), enumerated)
