"""Layer 6's release as a study: one realism question per set, raters' totals and the published proportions.

The release holds no single answers. Each rater's totals give every mean and every confidence interval over raters
exactly; each image's proportion gives its label, and the agreement α. Who said what of which image is unknown, and
not invented.
"""

from pathlib import Path

import polars as pl

from beholder.formats.format import Imported
from beholder.formats.imported import NO_TIME, ImageRecord, about_files, image_rows
from beholder.formats.layer6_files import INFERRED, Layer6Set, read_release
from beholder.formats.layer6_reconciled import describe_differences
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Design
from beholder.study.study import Study
from beholder.tables.catalogue import TABLES

PLATFORM = "layer6"
RELEASED = ("cifar10", "ffhq256", "imagenet256", "lsun256")
"""The sets of the whole release."""

NOTES = (
    "The release holds no single answers: raters' totals (tables/totals.parquet) and the proportions of each "
    "image (tables/published.parquet) take their place. Confidence intervals resample raters; who said what of "
    "which image is unknown, so agreement has no confidence interval and nobody is compared with the majority.",
    "Everyone is kept, as in the published results. To exclude raters who always answer alike or too fast, set "
    "max_same_share or min_seconds under [questions.screening] in study.toml; the time is the mean of an answer.",
    "When raters took part is not published; the report gives no dates.",
)


def read_study(source: Path, *, images: Path | None = None) -> Imported:
    """All sets of a release, each a question of its own; what its two files disagree on is listed."""
    sets = read_release(source, trials=INFERRED)
    records: dict[str, ImageRecord] = {}
    frames: dict[str, list[pl.DataFrame]] = {"totals": [], "sessions": [], "published": []}
    differences: list[str] = []
    for release_set in sets:
        records |= _records(release_set)
        frames["totals"].append(_totals(release_set))
        frames["sessions"].append(_sessions(release_set))
        frames["published"].append(_published(release_set))
        differences += describe_differences(release_set)
    tables = {name: pl.concat([TABLES[name].empty(), *parts], how="diagonal") for name, parts in frames.items()}
    tables["images"] = TABLES["images"].frame(image_rows(records, images))
    names = [release_set.name for release_set in sets]
    absent = [name for name in RELEASED if name not in names]
    notes = [*NOTES, *about_files(tables["images"])]
    if absent and set(names) <= set(RELEASED):
        notes.append(f"Of the four sets of the release, {', '.join(absent)} are not here.")
    study = Study(
        name="layer6",
        title="Layer 6: human error on real and generated images",
        description=f"Imported from the sets {', '.join(names)}.",
        questions=tuple(_question(release_set) for release_set in sets),
    )
    return Imported(study, tables, tuple(notes), tuple(differences))


def _question(release_set: Layer6Set) -> RealismQuestion:
    return RealismQuestion(
        name=release_set.name,
        protocol="layer6-realism",
        design=Design(
            raters=release_set.participants.height, trials=release_set.trials or 1, between=True, real_share=0.5
        ),
    )


def _rater(release_set: Layer6Set) -> pl.Expr:
    """A rater's id; the numbers restart in each set."""
    return pl.format(f"{release_set.name}/{{}}", "id")


def _totals(release_set: Layer6Set) -> pl.DataFrame:
    half = (release_set.trials or 0) // 2  # reading refuses a set where it is not known
    return pl.concat(
        release_set.participants.select(
            question=pl.lit(release_set.name),
            rater=_rater(release_set),
            generator="model",
            real=pl.lit(real),
            answers=pl.lit(half, dtype=pl.Int64),
            wrong=(pl.col(f"{letter}_err_rt") * half).round().cast(pl.Int64),
            seconds=f"{letter}_resp_time",
        )
        for letter, real in (("f", False), ("r", True))
    )


def _sessions(release_set: Layer6Set) -> pl.DataFrame:
    return release_set.participants.with_row_index("slot").select(
        session=_rater(release_set),
        rater=_rater(release_set),
        question=pl.lit(release_set.name),
        slot=pl.col("slot").cast(pl.Int64),
        status=pl.lit("complete"),
        started=pl.lit(NO_TIME, dtype=pl.Datetime("us", "UTC")),
        simulated=pl.lit(value=False),
        platform=pl.lit(PLATFORM),
    )


def _image(release_set: Layer6Set) -> pl.Expr:
    """An image's id: real ones are shared by the models of a set."""
    whose = pl.when(pl.col("generated") == 1).then("model").otherwise(pl.lit("real"))
    return pl.concat_str(pl.lit(release_set.name), whose, "image_path", separator="/")


def _records(release_set: Layer6Set) -> dict[str, ImageRecord]:
    if release_set.images is None:
        return {}
    rows = release_set.images.select(
        _image(release_set).alias("image"), "model", "generated", "image_path"
    ).iter_rows()
    return {
        image: ImageRecord(None, generator=model if generated else "real", real=not generated, path=path)
        for image, model, generated, path in rows
    }


def _published(release_set: Layer6Set) -> pl.DataFrame:
    """Proportions by image and model; rows that the file has twice are counted together."""
    if release_set.images is None:
        return TABLES["published"].empty()
    counted = release_set.images.group_by("model", "generated", "image_path", maintain_order=True).agg(
        pl.col("number_guesses", "number_guesses_generated").sum()
    )
    return counted.select(
        question=pl.lit(release_set.name),
        aspect=pl.lit("realism"),
        method=pl.lit("share"),
        image=_image(release_set),
        among="model",
        value=pl.col("number_guesses_generated") / pl.col("number_guesses"),
        raters="number_guesses",
    )
