"""Layer 6's realism study: ``data/<set>.csv`` by rater, ``per-image-data/<set>_labeled_data.csv`` by image.

Each rater judges one model. With n answers, f of them to generated and r to real images: ``err_rt`` = 1 − right/n,
``f_err_rt`` and ``r_err_rt`` the same of either class, ``r_ans_rt`` = answers *real*/n, ``soft_label`` =
proportion of raters who said *generated*. A set comes from a study's answers, or from the totals and
proportions of an imported one (``layer6_study``).
"""

from pathlib import Path

import polars as pl

from beholder.errors import StudyError
from beholder.formats.answered import answered_tests, public_paths
from beholder.formats.format import Tables, Written, questions_of
from beholder.formats.layer6_files import write_set
from beholder.study.study import Study


def write(study: Study, tables: Tables, folder: Path) -> Written:
    """A set of two files for every realism question, from the raters who completed it; the set has its name."""
    files, notes, faults = list[Path](), list[str](), list[str]()
    parts: dict[str, pl.DataFrame] = {}
    paths = public_paths(tables["images"])
    for name in questions_of(study, ("realism", "timed-realism"), "Layer 6's format"):
        if "totals" in tables and name in tables["totals"]["question"]:
            files += write_set(
                folder, name, imported_participants(tables["totals"], name), image_proportions(tables, name, paths)
            )
            continue
        answers = _with_judged_model(answered_tests(tables, name), tables["images"])
        complete = answers.filter(pl.col("status") == "complete")
        left = answers["session"].n_unique() - complete["session"].n_unique()
        if left:
            notes.append(f"{name}: {left} raters who did not complete the question are left out")
        several = complete.filter(~pl.col("real")).group_by("session").agg(pl.col("generator").n_unique())
        mixed = several.filter(pl.col("generator") > 1).height
        if mixed:
            faults.append(f"{name}: {mixed} raters judged several generators; here each rater judges one model")
        parts[name] = complete
    if faults:
        raise StudyError(
            "Layer 6's format cannot be written", faults, advice="Studies with between = true fit it."
        )
    for name, answers in parts.items():
        files += write_set(folder, name, participants(answers), labelled_images(answers, paths))
    return Written(tuple(files), tuple(notes))


def participants(answers: pl.DataFrame) -> pl.DataFrame:
    """One row per rater: by model, then in the order in which they came."""
    right = (pl.col("choice") == pl.col("expected")).cast(pl.Int64)
    fake, said_real = ~pl.col("real"), (pl.col("choice") == "real").cast(pl.Int64)
    return (
        answers.group_by("session", "model", "started")
        .agg(
            num_correct=right.sum().cast(pl.Float64),
            err_rt=1 - right.mean(),
            f_err_rt=1 - right.filter(fake).mean(),
            r_err_rt=1 - right.filter(~fake).mean(),
            r_ans_rt=said_real.mean(),
            resp_time=pl.col("seconds").sum().round(2),
            f_resp_time=pl.col("seconds").filter(fake).sum().round(2),
            r_resp_time=pl.col("seconds").filter(~fake).sum().round(2),
        )
        .sort(pl.col("model").str.to_lowercase(), "started", "session")
        .with_row_index("number")
        .with_columns(id=pl.format("participant_{}", "number"))
        .drop("number", "session", "started")
    )


def labelled_images(answers: pl.DataFrame, paths: dict[str, str]) -> pl.DataFrame:
    """One row per image that was shown with a model: the real ones first, as often as there are models."""
    called_generated = (pl.col("choice") == "generated").cast(pl.Int64)
    return (
        answers.group_by("model", "real", "image", maintain_order=True)
        .agg(number_guesses=pl.len().cast(pl.Int64), number_guesses_generated=called_generated.sum())
        .sort(pl.col("model").str.to_lowercase(), ~pl.col("real"), maintain_order=True)
        .select(
            "model",
            generated=(~pl.col("real")).cast(pl.Int64),
            image_path=pl.col("image").replace_strict(paths, return_dtype=pl.String),
            number_guesses="number_guesses",
            number_guesses_generated="number_guesses_generated",
            soft_label=pl.col("number_guesses_generated") / pl.col("number_guesses"),
        )
    )


def imported_participants(totals: pl.DataFrame, name: str) -> pl.DataFrame:
    """The rows of raters whose totals were imported, as they came."""
    question_totals = totals.filter(pl.col("question") == name)
    right = pl.col("answers") - pl.col("wrong")
    fake, real = ~pl.col("real"), pl.col("real")
    each = question_totals.group_by("rater", "generator", maintain_order=True).agg(
        right=right.sum(),
        answers=pl.col("answers").sum(),
        said_real=(right.filter(real).sum() + pl.col("wrong").filter(fake).sum()),
        f_err_rt=1 - (right / pl.col("answers")).filter(fake).first(),
        r_err_rt=1 - (right / pl.col("answers")).filter(real).first(),
        resp_time=pl.col("seconds").sum().round(2),
        f_resp_time=pl.col("seconds").filter(fake).first(),
        r_resp_time=pl.col("seconds").filter(real).first(),
    )
    return each.with_columns(
        id=pl.col("rater").str.strip_prefix(f"{name}/"),
        model="generator",
        num_correct=pl.col("right").cast(pl.Float64),
        err_rt=1 - pl.col("right") / pl.col("answers"),
        r_ans_rt=pl.col("said_real") / pl.col("answers"),
    )


def image_proportions(tables: Tables, name: str, paths: dict[str, str]) -> pl.DataFrame:
    """The rows of images whose proportions were imported, as they came."""
    published = tables["published"].filter(pl.col("question") == name)
    real = tables["images"].select("image", "real")
    return published.join(real, on="image", maintain_order="left").select(
        model="among",
        generated=(~pl.col("real")).cast(pl.Int64),
        image_path=pl.col("image").replace_strict(paths, return_dtype=pl.String),
        number_guesses="raters",
        number_guesses_generated=(pl.col("value") * pl.col("raters")).round().cast(pl.Int64),
        soft_label="value",
    )


def _with_judged_model(answers: pl.DataFrame, images: pl.DataFrame) -> pl.DataFrame:
    """Answers with their image, whether it is real, and the model that the rater judges."""
    with_images = answers.with_columns(image=pl.col("images").list.first()).join(
        images.select("image", "generator", "real"), on="image", maintain_order="left"
    )
    models = with_images.filter(~pl.col("real")).group_by("session").agg(model=pl.col("generator").sort().first())
    return with_images.join(models, on="session", maintain_order="left")
