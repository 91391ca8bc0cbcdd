"""Every image with all that is known of it: votes, marks, skips, labels and scores, as compact rows for a page."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from urllib.parse import quote

import numpy as np
import polars as pl

from beholder.formats.imported import UNKNOWN
from beholder.judgements.coding import PAIRED
from beholder.report.tables.disagreement import disagreements
from beholder.study.kinds.catalogue import kind_of
from beholder.study.study import Study
from beholder.tables.stages import REPORT
from beholder.tables.store import Store

LABELS = {"share": "called generated", "mean": "mean", "published-mean": "mean", "credit": "credit from presses"}
"""Methods of labels that are shown of an image, with what the number is."""

AT_A_TIME = 2_000_000
"""Judgements of which disagreement is computed at a time, to bound memory."""

DIGITS = 4
"""Significant digits of a number, to keep the page small."""

Row = list[object]
"""Numbers and texts in an order that the page knows."""


@dataclass(slots=True)
class ImageRecord:
    """One image; indices point into the lists of :class:`SingleImages`."""

    id: str
    file: str | None
    """Address relative to the page; ``None`` where there is no file."""
    generator: int
    real: bool
    prompt: int | None
    style: str | None
    labels: list[Row] = field(default_factory=list)
    """Aspect, what the number is, value, ends of its confidence interval, answers."""
    votes: list[Row] = field(default_factory=list)
    """Aspect, rater, value, the other image of the pair or ``None``, whether it is used."""
    marks: list[Row] = field(default_factory=list)
    """Aspect, rater, x and y of a point; or aspect, rater, word."""
    skips: list[Row] = field(default_factory=list)
    """Rater, reason, and the rater's comment where the page has comments."""
    scores: list[Row] = field(default_factory=list)
    """Scorer, score."""
    disagreement: float | None = None
    """Mean over aspects; 0 where raters agree, 1 where they are evenly divided over the ends of the scale."""


@dataclass(slots=True)
class Names:
    """Names in the order of their first use, so that a row holds a number in place of a name."""

    order: dict[str, int] = field(default_factory=dict)

    def index(self, name: str) -> int:
        """The number of a name."""
        return self.order.setdefault(name, len(self.order))


@dataclass(slots=True)
class SingleImages:
    """All images of a study, and the names that their rows refer to."""

    generators: list[str]
    prompts: list[str]
    raters: list[str]
    scorers: list[str]
    aspects: list[Row]
    """Question, aspect, kind of value, lowest and highest value."""
    images: list[ImageRecord]
    total: int
    """Images of the study, of which a large one has only some on the page."""

    def plain(self) -> dict[str, object]:
        """As JSON has it, an image being a list of its fields in order."""
        names = [own.name for own in fields(ImageRecord)]
        rest = {own.name: getattr(self, own.name) for own in fields(self) if own.name not in ("images", "total")}
        return rest | {"images": [[getattr(image, name) for name in names] for image in self.images]}


def build_single_images(
    study: Study,
    folder: Path,
    generators: Iterable[str],
    comments: Mapping[tuple[str, str], str] | None = None,
    *,
    bounds: "Bounds | None" = None,
) -> SingleImages:
    """The images that raters were to judge, in the order of the table; ``generators`` are listed first.

    ``comments``, by rater and trial, are in the database of the study and in none of its tables. A study beyond
    ``bounds`` has some of its images here, and only their judgements are read.
    """
    store, bounds = Store(folder).within(REPORT), Bounds() if bounds is None else bounds
    every = store.read("images").filter(~pl.col("gold"))
    aspects = _Aspects(study)
    judgements = store.scan("judgements")
    shown_images = _shown_images(every, judgements, aspects, bounds)
    images, some = shown_images.images, shown_images.images.height < every.height
    texts = dict(store.read_or_empty("prompts").select("prompt", "text").iter_rows())
    makers, prompts, raters, scorers = Names(), Names(), Names(), Names()
    for generator in generators:
        makers.index(generator)
    records = {
        row["image"]: ImageRecord(
            id=row["image"],
            file=_address(row["path"]) if row["sha256"] != UNKNOWN else None,
            generator=makers.index(row["generator"]),
            real=row["real"],
            prompt=prompts.index(texts[row["prompt"]]) if row["prompt"] in texts else None,
            style=row["style"],
            disagreement=shown_images.disagreement.get(row["image"]),
        )
        for row in images.iter_rows(named=True)
    }
    place = {image: number for number, image in enumerate(records)}
    own = pl.col("image").is_in(images["image"].implode()) if some else pl.lit(value=True)
    either = own | pl.col("other").is_in(images["image"].implode()) if some else own
    _add_votes(records, judgements.filter(either), place, raters, aspects)
    _add_marks(records, store, raters, aspects)
    _add_skips(records, store, raters, comments)
    _add_labels(records, store.scan("labels").filter(own), aspects)
    scores = store.scan("scores").filter(own).select("scorer", "aspect", "image", "score").collect()
    for scorer, aspect, image, score in scores.iter_rows():
        if image in records:
            records[image].scores.append([scorers.index(f"{scorer}: {aspect}"), _short(score)])
    return SingleImages(
        generators=list(makers.order),
        prompts=list(prompts.order),
        raters=list(raters.order),
        scorers=list(scorers.order),
        aspects=[list(aspect) for aspect in aspects.rows],
        images=list(records.values()),
        total=every.height,
    )


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a page holds at most: a browser has to read it."""

    images: int = 20_000
    judgements: int = 400_000


@dataclass(frozen=True, slots=True)
class _ShownImages:
    images: pl.DataFrame
    disagreement: Mapping[str, float]


def _shown_images(
    images: pl.DataFrame, judgements: pl.LazyFrame, aspects: "_Aspects", bounds: Bounds
) -> _ShownImages:
    """All images of a study within bounds; else those on which raters are most divided, and an even sample.

    Half of the places are for the former. The images are in the order of their table.
    """
    words = ("question", "aspect", "value_kind")
    kinds = judgements.select(words).group_by(words, maintain_order=True).agg(judgements=pl.len()).collect()
    for question, aspect, value_kind, _ in kinds.iter_rows():
        aspects.index(question, aspect, value_kind)
    total = int(kinds["judgements"].sum())
    scales = {(row[0], row[1]): (row[3], row[4]) for row in aspects.rows}
    divided = disagreements(judgements, scales, parts=max(-(-total // AT_A_TIME), 1))
    proportion = min(1.0, bounds.images / max(images.height, 1), bounds.judgements / max(total, 1))
    places = int(images.height * proportion)
    if places < images.height:
        most = images.join(divided, on="image").sort("disagreement", "image", descending=[True, False])
        first = most.head(places // 2)["image"]
        rest = images.filter(~pl.col("image").is_in(first.implode()))
        others = rest["image"].gather(np.linspace(0, rest.height - 1, places - len(first)).astype(int))
        images = images.filter(pl.col("image").is_in(pl.concat([first, others]).implode()))
        divided = divided.join(images.select("image"), on="image", how="semi")
    return _ShownImages(images, dict(divided.iter_rows()))


@dataclass(slots=True)
class _Aspects:
    """Aspects of questions by number: the kind of their values, the ends of their scale, the names of options."""

    study: Study
    numbers: dict[tuple[str, str], int] = field(default_factory=dict)
    rows: list[tuple[str, str, str, float, float, tuple[str, ...]]] = field(default_factory=list)

    def index(self, question: str, aspect: str, value_kind: str = "") -> int:
        """The number of an aspect; its kind is that of its first use."""
        key = (question, aspect)
        if key not in self.numbers:
            self.numbers[key] = len(self.rows)
            own = next((q for q in self.study.questions if q.name == question), None)
            scale = kind_of(own).scale(own) if own is not None else None
            low, high = (0.0, 1.0) if scale is None else scale.ends
            names = kind_of(own).options(own) if own is not None and value_kind == "category" else ()
            self.rows.append((question, aspect, value_kind, low, high, names))
        return self.numbers[key]


def _address(path: str) -> str:
    return Path(path).as_uri() if Path(path).is_absolute() else quote(path)


def _add_votes(
    records: Mapping[str, ImageRecord],
    judgements: pl.LazyFrame,
    place: Mapping[str, int],
    raters: Names,
    aspects: _Aspects,
) -> None:
    """Add every judgement to its image; one of a pair also to the other image, the other way round."""
    columns = ("question", "aspect", "value_kind", "rater", "image", "other", "value", "used")
    rows = judgements.select(columns).collect().iter_rows()
    for question, aspect, value_kind, rater, image, other, value, counts in rows:
        number, who = aspects.index(question, aspect, value_kind), raters.index(rater)
        sides = [(image, other, value)]
        if value_kind in PAIRED:
            sides.append((other, image, -value))
        for own, rival, own_value in sides:
            if own in records:
                against = place.get(rival) if rival is not None else None
                records[own].votes.append([number, who, _short(own_value), against, int(counts)])


def _add_marks(records: Mapping[str, ImageRecord], store: Store, raters: Names, aspects: _Aspects) -> None:
    """Add points and words; a word has no image of its own, but its trial has one."""
    marks = store.read_or_empty("marks").filter(pl.col("kind") != "press")
    if marks.is_empty():
        return
    who = store.read("sessions").select("session", "rater", "question")
    of_trial = _trials(store, marks).select("trial", _image=pl.col("images").list.first())
    joined = marks.join(who, on="session").join(of_trial, on="trial")
    columns = ("question", "aspect", "rater", "kind", pl.coalesce("image", "_image"), "x", "y", "word")
    for question, aspect, rater, kind, image, x, y, word in joined.select(columns).iter_rows():
        if image not in records:
            continue
        row: Row = [aspects.index(question, aspect), raters.index(rater)]
        records[image].marks.append([*row, _short(x), _short(y)] if kind == "point" else [*row, word])


def _add_skips(
    records: Mapping[str, ImageRecord],
    store: Store,
    raters: Names,
    comments: Mapping[tuple[str, str], str] | None,
) -> None:
    skips = store.read_or_empty("skips")
    if skips.is_empty():
        return
    by_image = skips.join(_trials(store, skips), on="trial").explode("images")
    for rater, trial, reason, image in by_image.select("rater", "trial", "reason", "images").iter_rows():
        if image in records:
            comment = [] if comments is None else [comments.get((rater, trial), "")]
            records[image].skips.append([raters.index(rater), reason, *comment])


def _trials(store: Store, rows: pl.DataFrame) -> pl.DataFrame:
    """The images of the trials that some rows are of."""
    own = rows.lazy().select("trial").unique()
    return store.scan("trials").select("trial", "images").join(own, on="trial", how="semi").collect()


def _add_labels(records: Mapping[str, ImageRecord], labels: pl.LazyFrame, aspects: _Aspects) -> None:
    """Add the labels; the confidence interval of a mean ends with the scale, which a t interval does not know."""
    of_images = labels.filter(
        pl.col("method").is_in(list(LABELS)) & pl.col("word").is_null() & pl.col("other").is_null()
    )
    columns = ("question", "aspect", "method", "image", "value", "low", "high", "answers")
    rows = of_images.select(columns).collect().iter_rows()
    for question, aspect, method, image, value, low, high, answers in rows:
        if image not in records:
            continue
        number = aspects.index(question, aspect)
        least, most = aspects.rows[number][3], aspects.rows[number][4]
        if low is not None and LABELS[method] == "mean" and least <= value <= most:
            low, high = max(low, least), min(high, most)
        row: Row = [number, LABELS[method], _short(value), _short(low), _short(high), answers]
        records[image].labels.append(row)


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{DIGITS}g}")
