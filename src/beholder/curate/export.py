"""The chosen prompts as a file that other programs read."""

import json
from pathlib import Path

import polars as pl

from beholder.errors import PromptsError
from beholder.tables.atomic import write_atomically

SUFFIXES = (".csv", ".jsonl", ".txt")


def write_prompts(curated: pl.DataFrame, path: Path) -> None:
    """Write the prompts as CSV or JSON lines, or as text with one line per prompt, without held-out ones.

    Args:
        curated: the table ``curated_prompts``.
        path: the file; its suffix says how it is written.
    """
    frame = curated.select(pl.col("text").alias("prompt"), "category", pl.col("prompt").alias("id"), "held_out")
    match path.suffix.lower():
        case ".csv":
            content = frame.write_csv()
        case ".jsonl":
            content = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in frame.iter_rows(named=True))
        case ".txt":
            texts = frame.filter(~pl.col("held_out"))["prompt"].to_list()
            several = [text for text in texts if len(text.splitlines()) != 1]
            if several:
                raise PromptsError(
                    str(path), [f"{len(several):,} prompts have several lines; write CSV or JSON lines"]
                )
            content = "".join(f"{text}\n" for text in texts)
        case suffix:
            raise PromptsError(str(path), [f"suffix '{suffix}' is not one of {', '.join(SUFFIXES)}"])
    with write_atomically(path) as file:
        file.write(content.encode())
