"""Mean opinion scores: what AGIQA-3K and AIGCIQA2023 publish of each image, to and from our tables.

They hold a mean and a standard deviation for each image and aspect, and no raters. Read, they become the table
``published`` with the method ``published-mean``; written, they come from there or from a study's own answers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from beholder.errors import StudyError, TableError
from beholder.formats.answered import answered_tests, public_paths
from beholder.formats.format import Imported, Tables, Written, questions_of
from beholder.formats.imported import ImageRecord, about_files, image_rows, prompt_rows
from beholder.formats.reading import read_csv, shortened, write_csv
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.question import Aspect, Design
from beholder.study.study import Study
from beholder.tables.catalogue import TABLES

METHOD = "published-mean"


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a format keeps what: our aspect → its columns of the mean and of the standard deviation."""

    name: str
    title: str
    columns: Mapping[str, type[pl.DataType]]
    aspects: Mapping[str, tuple[str, str]]
    scale: tuple[float, float]
    raters: int
    """How many judged each image, as the paper says."""


def read_means(layout: Layout, path: Path) -> pl.DataFrame:
    """The rows of a file; all its faults are raised at once."""
    return check_means(layout, str(path), read_csv(path, layout.columns))


def check_means(layout: Layout, subject: str, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows themselves, if they are sound; else all their faults are raised at once."""
    faults = faults_in(layout, rows)
    if faults:
        raise TableError(subject, shortened(faults))
    return rows


def study_from(
    layout: Layout,
    rows: pl.DataFrame,
    records: Mapping[str, ImageRecord],
    images: Path | None,
    notes: Sequence[str],
) -> Imported:
    """A rating question with published means; ``rows`` are the file's, with the image's id as ``name``."""
    published = pl.concat(
        rows.select(
            question=pl.lit(layout.name),
            aspect=pl.lit(aspect),
            method=pl.lit(METHOD),
            image="name",
            value=mean,
            spread=spread,
            raters=pl.lit(layout.raters, dtype=pl.Int64),
        )
        for aspect, (mean, spread) in layout.aspects.items()
    )
    tables = {
        "prompts": TABLES["prompts"].frame(prompt_rows(about.prompt for about in records.values())),
        "images": TABLES["images"].frame(image_rows(records, images)),
        "published": published,
    }
    question = RatingQuestion(
        name=layout.name,
        aspects=tuple(Aspect(name=aspect, text=aspect.capitalize()) for aspect in layout.aspects),
        points=0,
        design=Design(raters=layout.raters, trials=rows.height),
    )
    study = Study(
        name=layout.name,
        title=layout.title,
        description="Mean opinion scores as published; who gave which score is not known.",
        questions=(question,),
    )
    low, high = layout.scale
    common = (
        "No single rater's scores are published, only their mean and spread over raters. Ratings of generators "
        "are means over images whose confidence intervals resample prompts, not raters.",
        f"Each image counts as judged by {layout.raters} raters, as the paper says; some may have been screened.",
        f"Scores go from {low:g} to {high:g} and were normalised by their authors.",
    )
    return Imported(study, tables, (*common, *notes, *about_files(tables["images"])))


def faults_in(layout: Layout, rows: pl.DataFrame) -> list[str]:
    """What is wrong with the rows of a file, line by line from 2."""
    low, high = layout.scale
    lines = rows.with_row_index("line", offset=2)
    twice = lines.filter(~pl.col("name").is_first_distinct())
    faults = [f"line {line}: {name} occurs before" for line, name in twice.select("line", "name").iter_rows()]
    for mean, spread in layout.aspects.values():
        outside = lines.filter(~pl.col(mean).is_between(low, high).fill_null(value=False))
        below = lines.filter((pl.col(spread) < 0).fill_null(value=False))
        faults += [
            f"line {line}: {mean} is {value}; a number from {low:g} to {high:g} was expected"
            for line, value in outside.select("line", mean).iter_rows()
        ]
        faults += [
            f"line {line}: {spread} is {value}; at least 0 was expected"
            for line, value in below.select("line", spread).iter_rows()
        ]
    return faults


def write_means(
    layout: Layout, study: Study, tables: Tables, folder: Path, other: Mapping[str, pl.Expr]
) -> Written:
    """A CSV file for every rating question with the aspects; ``other`` fills the columns that are no scores."""
    files, notes, faults = list[Path](), list[str](), list[str]()
    paths, texts = public_paths(tables["images"]), tables["prompts"].select("prompt", "text")
    for question in questions_of(study, ("rating",), layout.title):
        means = means_of(tables, question)
        lacking = [aspect for aspect in layout.aspects if aspect not in means["aspect"].unique().to_list()]
        if lacking:
            faults.append(f"{question}: nobody rated {', '.join(lacking)}")
            continue
        frame = (
            tables["images"].with_row_index("index").join(texts, on="prompt", how="left", maintain_order="left")
        )
        for aspect, (mean, spread) in layout.aspects.items():
            part = means.filter(pl.col("aspect") == aspect).select("image", "value", "spread")
            named = part.rename({"value": mean, "spread": spread})
            frame = frame.join(named, on="image", maintain_order="left")
        name = pl.col("image").replace_strict(paths, return_dtype=pl.String)
        files.append(folder / f"{question}.csv")
        write_csv(files[-1], list(layout.columns), frame.select(name=name, **other, **_scores(layout)))
        notes.append(f"{question}: who gave which score is not in {files[-1].name}")
    if faults:
        raise StudyError(f"{layout.title} cannot be written", faults)
    return Written(tuple(files), tuple(notes))


def means_of(tables: Tables, question: str) -> pl.DataFrame:
    """Image, aspect, mean, spread and raters: as published, or of a study's own answers."""
    published = tables.get("published")
    if published is not None:
        question_means = published.filter((pl.col("question") == question) & (pl.col("method") == METHOD))
        if question_means.height:
            return question_means.select("image", "aspect", "value", "spread", "raters")
    answers = answered_tests(tables, question).with_columns(image=pl.col("images").list.first())
    return answers.group_by("image", "aspect", maintain_order=True).agg(
        pl.col("value").mean(), spread=pl.col("value").std(), raters=pl.col("rater").n_unique().cast(pl.Int64)
    )


def _scores(layout: Layout) -> dict[str, pl.Expr]:
    return {name: pl.col(name) for pair in layout.aspects.values() for name in pair}
