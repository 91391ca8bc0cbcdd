"""Likely label errors (confident learning): the labels that are probably wrong, the most doubtful first."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from beholder.formats.imported import UNKNOWN
from beholder.images.thumbnail import thumbnail
from beholder.report.tables.label_errors import RATERS
from beholder.report.tables.leaderboard import Record
from beholder.report.text.words import count, percent
from beholder.study.words import split_words

MOST = 12
"""Number of label errors shown; the rest are counted."""

SIDE = 160
MEANINGS = {
    "share": "say generated",
    "preference": "are for the first",
    "majority": "say that it is misaligned",
    "published-majority": "say that it is misaligned",
}
"""What the proportion behind a label means, by the method of the label."""

OF_PAIRS = {"image": "the first", "other": "the second", "tie": "a tie"}
"""Hard labels of two images, in words."""


@dataclass(frozen=True, slots=True)
class ShownImage:
    """An image of a label that may be wrong."""

    alt: str
    source: str | None


@dataclass(frozen=True, slots=True)
class LabelError:
    """A label that may be wrong."""

    what: str
    pictures: tuple[ShownImage, ...]
    choice: str
    suggested: str
    doubt: str
    rests_on: str


@dataclass(frozen=True, slots=True)
class LabelErrors:
    """The likeliest label errors of a question, how many there are, and how many labels were examined."""

    worst: tuple[LabelError, ...]
    total: int
    examined: int


def find_label_errors(
    question: str,
    labels: pl.LazyFrame,
    images: pl.DataFrame,
    prompts: Mapping[str, str],
    folder: Path,
    background: str,
) -> LabelErrors | None:
    """The likely label errors of a question; ``None`` where no label was examined."""
    examined = labels.filter((pl.col("question") == question) & pl.col("doubt").is_not_null())
    differs = pl.col("suggested").is_not_null() & (pl.col("suggested") != pl.col("choice"))
    counts = examined.select(pl.len(), errors=differs.fill_null(value=False).sum()).collect(engine="streaming")
    number, total = counts.row(0)
    if not number:
        return None
    worst = (
        examined.filter(differs)
        .sort("doubt", "image", "other", "word", descending=[True, False, False, False])
        .head(MOST)
        .collect(engine="streaming")
    )
    shown_images = [name for column in ("image", "other") for name in worst[column] if name is not None]
    about = {row["image"]: row for row in images.filter(pl.col("image").is_in(shown_images)).to_dicts()}
    described = tuple(_label_error(row, about, prompts, folder, background) for row in worst.to_dicts())
    return LabelErrors(described, total, number)


def _label_error(
    row: Record,
    about: Mapping[str, Record],
    prompts: Mapping[str, str],
    folder: Path,
    background: str,
) -> LabelError:
    names = [row[column] for column in ("image", "other") if row[column] is not None]
    prompt = prompts.get(about[names[0]]["prompt"] or "", "")
    what = f"{row['aspect']}: {' and '.join(names)}"
    if row["word"] is not None:
        what += f", the word “{dict(enumerate(split_words(prompt))).get(row['word'], row['word'])}”"
    has_interval = row["low"] is not None and row["high"] is not None
    interval = f", {100 * row['low']:.0f} to {100 * row['high']:.0f} %" if has_interval else ""
    meaning = MEANINGS.get(row["method"], "say so")
    return LabelError(
        what=what,
        pictures=tuple(_picture(about[name], prompt, folder, background) for name in names),
        choice=_choice_words(row["choice"]),
        suggested=_choice_words(row["suggested"]),
        doubt=f"{percent(row['doubt'])}{_by_models(row)}",
        rests_on=f"{percent(row['value'])} {meaning}{interval}; {count(row['answers'], 'answer')}",
    )


def _by_models(row: Record) -> str:
    """Which models doubt it, whether or not the raters' own answers do."""
    doubted_by = row.get("doubted_by")
    if not doubted_by or doubted_by == RATERS:
        return ""
    models = doubted_by.removeprefix(f"{RATERS}, ")
    return f" according to {models}" if models == doubted_by else f"; doubted by {models}, too"


def _choice_words(choice: str | None) -> str:
    return "undecided" if choice is None else OF_PAIRS.get(choice, choice)


def _picture(image: Record, prompt: str, folder: Path, background: str) -> ShownImage:
    has_file = image["sha256"] != UNKNOWN
    generator = image["generator"]
    alt = f"{generator}: {prompt}" if prompt else f"an image of {generator}"
    return ShownImage(alt, thumbnail(folder / str(image["path"]), background, side=SIDE) if has_file else None)
