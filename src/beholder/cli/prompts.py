"""The prompts of images on the command line: one for all, a file with one line per image, or a table by name."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from beholder.errors import UserError
from beholder.images.lazy import Mapped
from beholder.images.sources import ImageSource, captions

IMAGE_COLUMNS = ("file", "image")
"""Names of the column that says which image a prompt belongs to, as in the ``prompts.csv`` of a folder."""


def read_prompts(path: Path | None, common: str | None, pictures: Sequence[ImageSource]) -> Sequence[str | None]:
    """Return the prompt of each picture; an error lists the pictures without one.

    Without a file and a common one, prompts are those that tar or Parquet files have.
    """
    if path is None:
        return captions(pictures) if common is None else Mapped(lambda _: common, range(len(pictures)))
    try:
        if path.suffix.lower() != ".csv":
            lines = path.read_text(encoding="utf-8-sig").splitlines()
            if len(lines) != len(pictures):
                raise UserError(
                    f"{path}: {len(lines)} lines for {len(pictures)} images; one line per image is expected"
                )
            return list(lines)
        table = pl.read_csv(path, infer_schema=False)
    except (OSError, UnicodeDecodeError, pl.exceptions.PolarsError) as error:
        raise UserError(f"{path}: cannot be read ({error})") from error
    named_by = next((name for name in IMAGE_COLUMNS if name in table.columns), None)
    if named_by is None or "prompt" not in table.columns:
        raise UserError(
            f"{path}: columns 'file' (or 'image') and 'prompt' are expected; found: {', '.join(table.columns)}"
        )
    by_name = dict(table.select(named_by, "prompt").drop_nulls().iter_rows())
    prompts = [by_name.get(picture.name, by_name.get(Path(picture.name).name)) for picture in pictures]
    missing = [picture.name for picture, text in zip(pictures, prompts, strict=True) if text is None]
    if missing:
        more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
        raise UserError(f"{path}: no prompt for {', '.join(missing[:5])}{more}")
    return prompts
