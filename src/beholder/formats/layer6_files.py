"""The two CSV files of a Layer 6 set: read with all faults at once and their oddities reported, and written."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from beholder.errors import TableError
from beholder.formats.reading import read_bytes

PERSON = {
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
IMAGE = {
    "": pl.Int64,
    "model": pl.String,
    "generated": pl.Int64,
    "image_path": pl.String,
    "number_guesses": pl.Int64,
    "number_guesses_generated": pl.Int64,
    "soft_label": pl.Float64,
}
TRIALS = 200
"""Answers of every person in the release: 100 generated and 100 real images."""

CLOSE = 1e-9
TIME_CLOSE = 0.011
"""Two rounded times add up to a third within this."""

SHOWN = 5


@dataclass(frozen=True, slots=True)
class Reconciled:
    """A model in both files: people with a row of their own, and people behind the guesses about images."""

    model: str
    participants: int
    by_image: float | None
    """guesses / answers a person; ``None`` where the file of the images lacks the model"""

    @property
    def agrees(self) -> bool:
        """Whether both files tell of the same number of people."""
        return self.by_image == self.participants


@dataclass(frozen=True, eq=False, slots=True)
class Layer6Set:
    """A set as it was released. ``participant_N`` and model names are unique only within the set."""

    name: str
    participants: pl.DataFrame
    images: pl.DataFrame | None
    reconciliation: tuple[Reconciled, ...]

    @property
    def differences(self) -> tuple[Reconciled, ...]:
        """Models for which the two files do not tell the same."""
        return tuple(one for one in self.reconciliation if not one.agrees)


def read_release(folder: Path, *, trials: int | None = TRIALS) -> tuple[Layer6Set, ...]:
    """All sets of a release, in the order of their names."""
    files = sorted((folder / "data").glob("*.csv"))
    if not files:
        raise TableError(str(folder / "data"), ["no CSV files here"])
    return tuple(read_set(folder, file.stem, trials=trials) for file in files)


def read_set(folder: Path, name: str, *, trials: int | None = TRIALS) -> Layer6Set:
    """One set. ``trials`` is the number of answers a person; ``None`` where it is not known or differs."""
    people_file = folder / "data" / f"{name}.csv"
    people = _read(people_file, PERSON)
    faults = _person_faults(people, trials)
    if faults:
        raise TableError(str(people_file), faults)
    images_file = _images_file(folder, name)
    images = None if images_file is None else _read(images_file, IMAGE)
    if images is not None and (faults := _image_faults(images)):
        raise TableError(str(images_file), faults)
    return Layer6Set(name, people, images, _reconcile(people, images, trials))


def write_set(folder: Path, name: str, people: pl.DataFrame, images: pl.DataFrame) -> list[Path]:
    """Both files, columns and numbers as in the release; images are numbered from 0 in a nameless column."""
    first, second = folder / "data" / f"{name}.csv", folder / "per-image-data" / f"{name}_labeled_data.csv"
    numbered = (
        images if "" in images.columns else images.with_row_index("").with_columns(pl.col("").cast(pl.Int64))
    )
    for path, frame, columns in ((first, people, PERSON), (second, numbered, IMAGE)):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(frame.select(list(columns)).iter_rows())
    return [first, second]


def _read(path: Path, columns: dict[str, type[pl.DataType]]) -> pl.DataFrame:
    """The file's rows with their types; every value that is not of its type is named."""
    text = read_bytes(path).decode("utf-8-sig")
    rows = list(csv.reader(io.StringIO(text)))
    if not rows or rows[0] != list(columns):
        found = ", ".join(rows[0]) if rows else "nothing"
        raise TableError(str(path), [f"columns {found}; expected {', '.join(columns)}"])
    faults: list[str] = []
    values: dict[str, list[object]] = {name: [] for name in columns}
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(columns):
            faults.append(f"line {number}: {len(row)} values; expected {len(columns)}")
            continue
        for (name, kind), value in zip(columns.items(), row, strict=True):
            try:
                values[name].append(_typed(value, kind))
            except ValueError:
                faults.append(f"line {number}: {name or 'the number'} is {value!r}; a number was expected")
    if faults:
        raise TableError(str(path), faults)
    return pl.DataFrame(values, schema=columns)


def _typed(value: str, kind: type[pl.DataType]) -> object:
    if kind is pl.String:
        return value
    if kind is pl.Int64:
        return int(value)
    return float(value) if value else None


def _person_faults(people: pl.DataFrame, trials: int | None) -> list[str]:
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
        said = ((1 - pl.col("r_err_rt")) + pl.col("f_err_rt")) / 2
        rules += [
            (
                f"err_rt is not 1 − num_correct/{trials}",
                (pl.col("err_rt") - 1 + pl.col("num_correct") / trials).abs() > CLOSE,
            ),
            ("err_rt is not the mean of f_err_rt and r_err_rt", (pl.col("err_rt") - mean).abs() > CLOSE),
            ("r_ans_rt does not follow from f_err_rt and r_err_rt", (pl.col("r_ans_rt") - said).abs() > CLOSE),
        ]
    return _broken(people, "id", rules)


def _image_faults(images: pl.DataFrame) -> list[str]:
    share = pl.col("number_guesses_generated") / pl.col("number_guesses")
    return _broken(
        images,
        "image_path",
        [
            ("number_guesses is less than 1", pl.col("number_guesses") < 1),
            ("generated is neither 0 nor 1", ~pl.col("generated").is_in([0, 1])),
            ("soft_label is not the share of guesses 'generated'", (pl.col("soft_label") - share).abs() > CLOSE),
        ],
    )


def _broken(frame: pl.DataFrame, key: str, rules: Sequence[tuple[str, pl.Expr]]) -> list[str]:
    faults = []
    for what, rule in rules:
        bad = frame.filter(rule.fill_null(value=False))[key].to_list()
        if bad:
            more = f" and {len(bad) - SHOWN} more" if len(bad) > SHOWN else ""
            faults.append(f"{what}: {', '.join(map(str, bad[:SHOWN]))}{more}")
    return faults


def _images_file(folder: Path, name: str) -> Path | None:
    """The set's second file; the release calls that of imagenet256 just ``imagenet``."""
    for stem in dict.fromkeys((name, name.rstrip("0123456789"))):
        path = folder / "per-image-data" / f"{stem}_labeled_data.csv"
        if path.is_file():
            return path
    return None


def _reconcile(people: pl.DataFrame, images: pl.DataFrame | None, trials: int | None) -> tuple[Reconciled, ...]:
    """How many people each file tells of, model by model; nothing where the number of answers is not known."""
    if images is None or trials is None:
        return ()
    counted = dict(people.group_by("model").len().iter_rows())
    guesses = dict(images.group_by("model").agg(pl.col("number_guesses").sum()).iter_rows())
    return tuple(
        Reconciled(model, counted.get(model, 0), guesses[model] / trials if model in guesses else None)
        for model in sorted({*counted, *guesses}, key=str.lower)
    )
