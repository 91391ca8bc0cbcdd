"""Layer 6's release as a study: a realism question a set, people's totals and the shares that were published.

The release holds no single answers. Each person's totals give every mean and every interval over people exactly;
each image's share gives its label, and the agreement α. Who said what of which image is unknown, and not made up.
"""

from pathlib import Path

import polars as pl

from beholder.formats.format import Imported
from beholder.formats.imported import NO_TIME, Shown, about_files, image_rows
from beholder.formats.layer6_files import INFERRED, Layer6Set, read_release
from beholder.formats.layer6_reconciled import differences_of
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Design
from beholder.study.study import Study
from beholder.tables.catalogue import TABLES

PLATFORM = "layer6"
RELEASED = ("cifar10", "ffhq256", "imagenet256", "lsun256")
"""The sets of the whole release."""

NOTES = (
    "The release holds no single answers: people's totals (tables/totals.parquet) and the shares of each image "
    "(tables/published.parquet) take their place. Intervals resample people; who said what of which image is "
    "unknown, so agreement has no interval and people are not compared with the majority.",
    "Everyone is kept, as in the published results. To set aside who always answers alike or is too fast, set "
    "max_same_share or min_seconds under [questions.screening] in study.toml; the time is the mean of an answer.",
    "When people took part is not told; the report gives no dates.",
)


def read_study(source: Path, *, images: Path | None = None) -> Imported:
    """All sets of a release, each a question of its own; what its two files disagree on is listed."""
    sets = read_release(source, trials=INFERRED)
    shown: dict[str, Shown] = {}
    frames: dict[str, list[pl.DataFrame]] = {"totals": [], "sessions": [], "published": []}
    differences: list[str] = []
    for one in sets:
        shown |= _shown(one)
        frames["totals"].append(_totals(one))
        frames["sessions"].append(_sessions(one))
        frames["published"].append(_published(one))
        differences += differences_of(one)
    tables = {name: pl.concat([TABLES[name].empty(), *parts], how="diagonal") for name, parts in frames.items()}
    tables["images"] = TABLES["images"].frame(image_rows(shown, images))
    names = [one.name for one in sets]
    absent = [name for name in RELEASED if name not in names]
    notes = [*NOTES, *about_files(tables["images"])]
    if absent and set(names) <= set(RELEASED):
        notes.append(f"Of the four sets of the release, {', '.join(absent)} are not here.")
    study = Study(
        name="layer6",
        title="Layer 6: human error on real and generated images",
        description=f"Imported from the sets {', '.join(names)}.",
        questions=tuple(_question(one) for one in sets),
    )
    return Imported(study, tables, tuple(notes), tuple(differences))


def _question(one: Layer6Set) -> RealismQuestion:
    return RealismQuestion(
        name=one.name,
        protocol="layer6-realism",
        design=Design(raters=one.participants.height, trials=one.trials or 1, between=True, real_share=0.5),
    )


def _rater(one: Layer6Set) -> pl.Expr:
    """A person's id; the numbers restart in each set."""
    return pl.format(f"{one.name}/{{}}", "id")


def _totals(one: Layer6Set) -> pl.DataFrame:
    half = (one.trials or 0) // 2  # reading refuses a set where it is not known
    return pl.concat(
        one.participants.select(
            question=pl.lit(one.name),
            rater=_rater(one),
            generator="model",
            real=pl.lit(real),
            answers=pl.lit(half, dtype=pl.Int64),
            wrong=(pl.col(f"{letter}_err_rt") * half).round().cast(pl.Int64),
            seconds=f"{letter}_resp_time",
        )
        for letter, real in (("f", False), ("r", True))
    )


def _sessions(one: Layer6Set) -> pl.DataFrame:
    return one.participants.with_row_index("slot").select(
        session=_rater(one),
        rater=_rater(one),
        question=pl.lit(one.name),
        slot=pl.col("slot").cast(pl.Int64),
        status=pl.lit("complete"),
        started=pl.lit(NO_TIME, dtype=pl.Datetime("us", "UTC")),
        simulated=pl.lit(value=False),
        platform=pl.lit(PLATFORM),
    )


def _image(one: Layer6Set) -> pl.Expr:
    """An image's id: real ones are shared by the models of a set."""
    whose = pl.when(pl.col("generated") == 1).then("model").otherwise(pl.lit("real"))
    return pl.concat_str(pl.lit(one.name), whose, "image_path", separator="/")


def _shown(one: Layer6Set) -> dict[str, Shown]:
    if one.images is None:
        return {}
    rows = one.images.select(_image(one).alias("image"), "model", "generated", "image_path").iter_rows()
    return {
        image: Shown(None, generator=model if generated else "real", real=not generated, path=path)
        for image, model, generated, path in rows
    }


def _published(one: Layer6Set) -> pl.DataFrame:
    """Shares by image and model; rows that the file has twice are counted together."""
    if one.images is None:
        return TABLES["published"].empty()
    counted = one.images.group_by("model", "generated", "image_path", maintain_order=True).agg(
        pl.col("number_guesses", "number_guesses_generated").sum()
    )
    return counted.select(
        question=pl.lit(one.name),
        aspect=pl.lit("realism"),
        method=pl.lit("share"),
        image=_image(one),
        among="model",
        value=pl.col("number_guesses_generated") / pl.col("number_guesses"),
        raters="number_guesses",
    )
