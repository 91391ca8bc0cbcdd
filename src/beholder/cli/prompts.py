"""The prompts of images, as commands take them: one for all, a file with a line an image, or a table by name."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from beholder.errors import UserError
from beholder.images.sources import ImageSource


def read_prompts(path: Path | None, one: str | None, pictures: Sequence[ImageSource]) -> list[str | None]:
    """The prompt of each picture; an error lists the pictures without one."""
    if path is None:
        return [one] * len(pictures)
    try:
        if path.suffix.lower() != ".csv":
            lines = path.read_text(encoding="utf-8-sig").splitlines()
            if len(lines) != len(pictures):
                raise UserError(f"{path}: {len(lines)} lines for {len(pictures)} images; one a line is expected")
            return list(lines)
        table = pl.read_csv(path, infer_schema=False)
    except (OSError, UnicodeDecodeError, pl.exceptions.PolarsError) as error:
        raise UserError(f"{path}: cannot be read ({error})") from error
    if not {"image", "prompt"} <= set(table.columns):
        raise UserError(f"{path}: columns 'image' and 'prompt' are expected; found: {', '.join(table.columns)}")
    known = dict(table.select("image", "prompt").drop_nulls().iter_rows())
    found = [known.get(one.name, known.get(Path(one.name).name)) for one in pictures]
    lost = [one.name for one, text in zip(pictures, found, strict=True) if text is None]
    if lost:
        more = f" and {len(lost) - 5} more" if len(lost) > 5 else ""
        raise UserError(f"{path}: no prompt for {', '.join(lost[:5])}{more}")
    return found
