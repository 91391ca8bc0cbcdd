"""The two CSV files of a Layer 6 set: read with all faults at once and their oddities reported, and written."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import polars as pl

from beholder.errors import TableError
from beholder.formats.reading import read_all, read_csv, write_csv

RATER_COLUMNS: dict[str, type[pl.DataType]] = {
    "id": pl.String,
    "model": pl.String,
    "num_correct": pl.Float64,
    "err_rt": pl.Float64,
    "f_err_rt": pl.Float64,
    "r_err_rt": pl.Float64,
    "r_ans_rt": pl.Float64,
    "resp_time": pl.Float64,
    "f_resp_time": pl.Float64,
    "r_resp_time": pl.Float64,
}
IMAGE_COLUMNS: dict[str, type[pl.DataType]] = {
    "": pl.Int64,
    "model": pl.String,
    "generated": pl.Int64,
    "image_path": pl.String,
    "number_guesses": pl.Int64,
    "number_guesses_generated": pl.Int64,
    "soft_label": pl.Float64,
}
TRIALS = 200
"""Answers of every rater in the release: 100 generated and 100 real images."""

INFERRED = 0
"""In place of that number: as most raters' rows have it."""

CLOSE = 1e-9
TIME_CLOSE = 0.011
"""Two rounded times add up to a third within this."""

LISTED = 5


@dataclass(frozen=True, slots=True)
class Reconciled:
    """A model in both files: raters with a row of their own, and raters behind the guesses about images."""

    model: str
    participants: int
    by_image: float | None
    """guesses / answers per rater; ``None`` where the file of the images lacks the model"""

    @property
    def agrees(self) -> bool:
        """Whether both files tell of the same number of raters."""
        return self.by_image == self.participants


@dataclass(frozen=True, eq=False, slots=True)
class Layer6Set:
    """A set as it was released. ``participant_N`` and model names are unique only within the set."""

    name: str
    participants: pl.DataFrame
    images: pl.DataFrame | None
    reconciliation: tuple[Reconciled, ...]
    trials: int | None
    """Answers of every rater, half of them on generated images; ``None`` where it is not known."""

    @property
    def differences(self) -> tuple[Reconciled, ...]:
        """Models for which the two files do not tell the same."""
        return tuple(model for model in self.reconciliation if not model.agrees)


def read_release(folder: Path, *, trials: int | None = TRIALS) -> tuple[Layer6Set, ...]:
    """All sets of a release, in the order of their names; the faults of all their files are raised at once."""
    files = sorted((folder / "data").glob("*.csv"))
    if not files:
        raise TableError(str(folder / "data"), ["no CSV files here"])
    return tuple(read_all(str(folder), [partial(read_set, folder, file.stem, trials=trials) for file in files]))


def read_set(folder: Path, name: str, *, trials: int | None = TRIALS) -> Layer6Set:
    """One set. ``trials`` is the number of answers per rater; ``None`` where it is not known or differs."""
    files: list[Callable[[], pl.DataFrame]] = [partial(_raters, folder / "data" / f"{name}.csv", trials)]
    images_file = _images_file(folder, name)
    if images_file is not None:
        files.append(partial(_images, images_file))
    raters, *images = read_all(f"{folder}, set {name}", files)
    each = _inferred_trials(raters) if trials == INFERRED else trials
    labelled = images[0] if images else None
    return Layer6Set(name, raters, labelled, _reconcile(raters, labelled, each), each)


def write_set(folder: Path, name: str, raters: pl.DataFrame, images: pl.DataFrame) -> list[Path]:
    """Both files, columns and numbers as in the release; images are numbered from 0 in a nameless column."""
    first, second = folder / "data" / f"{name}.csv", folder / "per-image-data" / f"{name}_labeled_data.csv"
    numbered = (
        images if "" in images.columns else images.with_row_index("").with_columns(pl.col("").cast(pl.Int64))
    )
    for path, frame, columns in ((first, raters, RATER_COLUMNS), (second, numbered, IMAGE_COLUMNS)):
        write_csv(path, list(columns), frame)
    return [first, second]


def _raters(path: Path, trials: int | None) -> pl.DataFrame:
    raters = read_csv(path, RATER_COLUMNS)
    each = _inferred_trials(raters) if trials == INFERRED else trials
    faults = _rater_faults(raters, each)
    if trials == INFERRED and each is None:
        faults.append("the number of answers per rater, half of them on generated images, cannot be inferred")
    if faults:
        raise TableError(str(path), faults)
    return raters


def _images(path: Path) -> pl.DataFrame:
    images = read_csv(path, IMAGE_COLUMNS)
    faults = _image_faults(images)
    if faults:
        raise TableError(str(path), faults)
    return images


def _rater_faults(raters: pl.DataFrame, trials: int | None) -> list[str]:
    """What holds on every row of the release."""
    rules: list[tuple[str, pl.Expr]] = [
        ("num_correct is no whole number", pl.col("num_correct") != pl.col("num_correct").round()),
        (
            "resp_time is not f_resp_time + r_resp_time",
            (pl.col("resp_time") - pl.col("f_resp_time") - pl.col("r_resp_time")).abs() > TIME_CLOSE,
        ),
        ("the id occurs twice", ~pl.col("id").is_first_distinct()),
    ]
    rules += [
        (f"{name} lies outside 0 to 1", ~pl.col(name).is_between(0, 1))
        for name in ("err_rt", "f_err_rt", "r_err_rt", "r_ans_rt")
    ]
    if trials is not None:
        mean = (pl.col("f_err_rt") + pl.col("r_err_rt")) / 2
        called_real = ((1 - pl.col("r_err_rt")) + pl.col("f_err_rt")) / 2
        rules += [
            (
                f"err_rt is not 1 − num_correct/{trials}",
                (pl.col("err_rt") - 1 + pl.col("num_correct") / trials).abs() > CLOSE,
            ),
            ("err_rt is not the mean of f_err_rt and r_err_rt", (pl.col("err_rt") - mean).abs() > CLOSE),
            (
                "r_ans_rt does not follow from f_err_rt and r_err_rt",
                (pl.col("r_ans_rt") - called_real).abs() > CLOSE,
            ),
        ]
    return _broken(raters, "id", rules)


def _image_faults(images: pl.DataFrame) -> list[str]:
    proportion = pl.col("number_guesses_generated") / pl.col("number_guesses")
    return _broken(
        images,
        "image_path",
        [
            ("number_guesses is less than 1", pl.col("number_guesses") < 1),
            ("generated is neither 0 nor 1", ~pl.col("generated").is_in([0, 1])),
            (
                "soft_label is not the proportion of guesses 'generated'",
                (pl.col("soft_label") - proportion).abs() > CLOSE,
            ),
        ],
    )


def _broken(frame: pl.DataFrame, key: str, rules: Sequence[tuple[str, pl.Expr]]) -> list[str]:
    faults = []
    for what, rule in rules:
        bad = frame.filter(rule.fill_null(value=False))[key].to_list()
        if bad:
            more = f" and {len(bad) - LISTED} more" if len(bad) > LISTED else ""
            faults.append(f"{what}: {', '.join(map(str, bad[:LISTED]))}{more}")
    return faults


def _inferred_trials(raters: pl.DataFrame) -> int | None:
    """The even number n for which most rows have err_rt = 1 − num_correct/n; ``None`` where there is none."""
    judged = raters.filter(pl.col("err_rt") < 1).select(n=pl.col("num_correct") / (1 - pl.col("err_rt")))["n"]
    integral = judged.filter((judged - judged.round()).abs() < CLOSE * judged).round().cast(pl.Int64)
    usual = integral.filter((integral % 2 == 0) & (integral > 0)).mode().sort()
    return None if usual.is_empty() else int(usual[0])


def _images_file(folder: Path, name: str) -> Path | None:
    """The set's second file; the release calls that of imagenet256 just ``imagenet``."""
    for stem in dict.fromkeys((name, name.rstrip("0123456789"))):
        path = folder / "per-image-data" / f"{stem}_labeled_data.csv"
        if path.is_file():
            return path
    return None


def _reconcile(raters: pl.DataFrame, images: pl.DataFrame | None, trials: int | None) -> tuple[Reconciled, ...]:
    """How many raters each file tells of, model by model; nothing where the number of answers is not known."""
    if images is None or trials is None:
        return ()
    counted = dict(raters.group_by("model").len().iter_rows())
    guesses = dict(images.group_by("model").agg(pl.col("number_guesses").sum()).iter_rows())
    return tuple(
        Reconciled(model, counted.get(model, 0), guesses[model] / trials if model in guesses else None)
        for model in sorted({*counted, *guesses}, key=str.lower)
    )
