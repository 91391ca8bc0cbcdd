"""AIGCIQA2023 as its authors publish it: MATLAB files of scores, an Excel file of prompts, and numbered images.

``DATA/MOS/mosz1.mat`` to ``mosz3.mat`` hold the means (``MOSz``) of quality, authenticity and correspondence, and
``DATA/STD/SD1.mat`` to ``SD3.mat`` the standard deviations (``SD``), one number for each of the 2,400 images
``Image/allimg/0.png`` to ``2399.png``. Image number 400 m + 4 p + k is the k-th one of model m for prompt p;
prompts are rows of an Excel file without a header: style, class, prompt.
"""

from collections.abc import Sequence
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
import polars as pl
from numpy.typing import NDArray
from openpyxl import load_workbook
from openpyxl.utils.exceptions import InvalidFileException
from scipy import io
from scipy.io.matlab import MatReadError

from beholder.errors import TableError
from beholder.formats.reading import read_all, read_bytes

MODELS, IMAGES_PER_PROMPT = 6, 4
ASPECTS = ("quality", "authenticity", "correspondence")
"""In the order of the numbers in the names of the files."""
MEANS, SPREADS = ("MOS/mosz", "MOSz", "mos"), ("STD/SD", "SD", "std")
PROMPT_COLUMN = 2


def read_release(folder: Path) -> pl.DataFrame:
    """Read the release into the columns of AAPMT's CSV file.

    Args:
        folder: The release, with ``DATA/`` and the Excel file of prompts below it.

    Returns:
        One row per image: name, prompt, style, class, and the mean and standard deviation of the three aspects.

    Raises:
        TableError: With the faults of all files: missing, no MATLAB or Excel file, or of another length.
    """
    files = [
        (f"{aspect}_{suffix}", folder / "DATA" / f"{stem}{number}.mat", variable)
        for stem, variable, suffix in (MEANS, SPREADS)
        for number, aspect in enumerate(ASPECTS, start=1)
    ]
    prompts, *columns = read_all(
        str(folder),
        [
            lambda: _read_prompts(folder),
            *(lambda path=path, variable=variable: _read_column(path, variable) for _, path, variable in files),
        ],
    )
    images = MODELS * IMAGES_PER_PROMPT * prompts.height
    wrong = [
        f"{path.relative_to(folder)}: {column.height} numbers; {images} were expected, {MODELS} models × "
        f"{prompts.height} prompts × {IMAGES_PER_PROMPT} images"
        for (_, path, _), column in zip(files, columns, strict=True)
        if column.height != images
    ]
    if wrong:
        raise TableError(str(folder), wrong)
    number = np.arange(images)
    scores = pl.concat(
        [column.rename({"number": name}) for (name, _, _), column in zip(files, columns, strict=True)],
        how="horizontal",
    )
    names = pl.Series("name", [f"{image}.png" for image in number])
    of_image = prompts[(number // IMAGES_PER_PROMPT) % prompts.height]
    return pl.concat([names.to_frame(), of_image, scores], how="horizontal")


def _read_column(path: Path, variable: str) -> pl.DataFrame:
    """The numbers of one variable of a MATLAB file."""
    read_bytes(path)
    try:
        variables = io.loadmat(path, variable_names=[variable])
    except (MatReadError, ValueError, TypeError, NotImplementedError) as error:
        raise TableError(str(path), [f"not a MATLAB file up to version 7.2: {error}"]) from error
    if variable not in variables:
        names = ", ".join(name for name, _, _ in io.whosmat(path)) or "nothing"
        raise TableError(str(path), [f"the variable {variable} was expected; found {names}"])
    numbers: NDArray[np.float64] = np.asarray(variables[variable], dtype=np.float64).ravel()
    return pl.DataFrame({"number": numbers})


def _read_prompts(folder: Path) -> pl.DataFrame:
    """Prompt, style and class of each prompt, from the only Excel file that is named after prompts."""
    files = sorted(path for path in folder.rglob("*.xlsx") if "prompt" in path.name.lower())
    if len(files) != 1:
        listed = ", ".join(str(path.relative_to(folder)) for path in files) or "none"
        raise TableError(str(folder), [f"one Excel file with 'prompt' in its name was expected; found {listed}"])
    rows = _read_sheet(files[0])
    if rows and str(rows[0][PROMPT_COLUMN]).strip().lower() in {"prompt", "prompts"}:
        rows = rows[1:]
    empty = [number for number, row in enumerate(rows, start=1) if not row[PROMPT_COLUMN]]
    if not rows or empty:
        where = f"rows {', '.join(map(str, empty))} have none" if empty else "it has no rows"
        raise TableError(str(files[0]), [f"a prompt was expected in the third column of every row; {where}"])
    texts = [[None if cell is None else str(cell).strip() for cell in row[: PROMPT_COLUMN + 1]] for row in rows]
    return pl.DataFrame(
        {
            "prompt": [row[2] for row in texts],
            "style": [row[0] for row in texts],
            "class": [row[1] for row in texts],
        },
        schema={"prompt": pl.String, "style": pl.String, "class": pl.String},
    )


def _read_sheet(path: Path) -> list[Sequence[object]]:
    """The rows of the first sheet that have a third column, without those that are empty."""
    read_bytes(path)
    try:
        book = load_workbook(path, read_only=True, data_only=True)
    except (BadZipFile, InvalidFileException, KeyError, ValueError) as error:
        raise TableError(str(path), [f"not an Excel file: {error}"]) from error
    try:
        rows = [row for row in book.worksheets[0].iter_rows(values_only=True) if any(cell for cell in row)]
    finally:
        book.close()
    short = next((number for number, row in enumerate(rows, start=1) if len(row) <= PROMPT_COLUMN), None)
    if short is not None:
        raise TableError(str(path), [f"three columns (style, class, prompt) were expected; row {short} has fewer"])
    return list(rows)
