"""Labels to look at again: those that are probably wrong, the most doubtful first."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from beholder.formats.imported import UNKNOWN
from beholder.images.thumbnail import thumbnail
from beholder.report.tables.leaderboard import Record
from beholder.report.text.words import count, percent
from beholder.study.words import split_words

MOST = 12
"""So many are shown; the rest are counted."""

SIDE = 160
SAYS = {
    "share": "say generated",
    "preference": "are for the first",
    "majority": "say that it is missed",
    "published-majority": "say that it is missed",
}
"""What the share behind a label says, by the method of the label."""

OF_PAIRS = {"image": "the first", "other": "the second", "tie": "a tie"}
"""Hard labels of two images, in words."""


@dataclass(frozen=True, slots=True)
class ShownImage:
    """An image of a doubtful label."""

    alt: str
    source: str | None


@dataclass(frozen=True, slots=True)
class Doubtful:
    """A label that may be wrong."""

    what: str
    pictures: tuple[ShownImage, ...]
    choice: str
    suggested: str
    doubt: str
    rests_on: str


@dataclass(frozen=True, slots=True)
class Doubts:
    """The most doubtful labels of a question, how many there are, and among how many that were examined."""

    shown: tuple[Doubtful, ...]
    total: int
    examined: int


def doubts(
    question: str,
    labels: pl.DataFrame,
    images: pl.DataFrame,
    prompts: Mapping[str, str],
    folder: Path,
    background: str,
) -> Doubts | None:
    """The doubtful labels of a question; nothing where no label was examined."""
    examined = labels.filter((pl.col("question") == question) & pl.col("doubt").is_not_null())
    if examined.is_empty():
        return None
    doubtful = examined.filter(pl.col("suggested").is_not_null() & (pl.col("suggested") != pl.col("choice")))
    worst = doubtful.sort("doubt", "image", "other", "word", descending=[True, False, False, False]).head(MOST)
    wanted = [name for column in ("image", "other") for name in worst[column] if name is not None]
    about = {row["image"]: row for row in images.filter(pl.col("image").is_in(wanted)).to_dicts()}
    shown = tuple(_doubtful(row, about, prompts, folder, background) for row in worst.to_dicts())
    return Doubts(shown, doubtful.height, examined.height)


def _doubtful(
    row: Record,
    about: Mapping[str, Record],
    prompts: Mapping[str, str],
    folder: Path,
    background: str,
) -> Doubtful:
    names = [row[column] for column in ("image", "other") if row[column] is not None]
    prompt = prompts.get(about[names[0]]["prompt"] or "", "")
    what = f"{row['aspect']}: {' and '.join(names)}"
    if row["word"] is not None:
        what += f", the word “{dict(enumerate(split_words(prompt))).get(row['word'], row['word'])}”"
    known = row["low"] is not None and row["high"] is not None
    interval = f", {100 * row['low']:.0f} to {100 * row['high']:.0f} %" if known else ""
    says = SAYS.get(row["method"], "say so")
    return Doubtful(
        what=what,
        pictures=tuple(_picture(about[name], prompt, folder, background) for name in names),
        choice=_said(row["choice"]),
        suggested=_said(row["suggested"]),
        doubt=percent(row["doubt"]),
        rests_on=f"{percent(row['value'])} {says}{interval}; {count(row['answers'], 'answer')}{_by(row)}",
    )


def _by(row: Record) -> str:
    """Who doubts it, where that is not only what the people's own answers say."""
    who = row.get("doubted_by")
    return f"; doubted by {who}" if who and who != "people" else ""


def _said(choice: str | None) -> str:
    return "undecided" if choice is None else OF_PAIRS.get(choice, choice)


def _picture(image: Record, prompt: str, folder: Path, background: str) -> ShownImage:
    known = image["sha256"] != UNKNOWN
    generator = image["generator"]
    alt = f"{generator}: {prompt}" if prompt else f"an image of {generator}"
    return ShownImage(alt, thumbnail(folder / str(image["path"]), background, side=SIDE) if known else None)
