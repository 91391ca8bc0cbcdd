"""Prompts to generate from: a file of the user's, or the table of a study."""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from beholder.errors import FaultsError, StageError
from beholder.tables.prompt_id import prompt_id
from beholder.tables.store import Store

TEXT_COLUMNS = ("prompt", "text", "caption")
STYLE_COLUMNS = ("style", "category")
SUFFIXES = (".txt", ".csv", ".jsonl", ".parquet")


@dataclass(frozen=True, slots=True)
class PromptEntry:
    """A prompt, and the slice of results that it belongs to."""

    prompt: str
    """Its id."""
    text: str
    style: str | None = None


def load_prompts(path: Path | None, folder: Path) -> list[PromptEntry]:
    """Return the prompts of a file, or else those of the study in ``folder``, each text once."""
    if path is not None:
        entries = read_prompts(path)
    elif (Store(folder).path("prompts")).is_file():
        entries = _of_study(folder)
    else:
        raise StageError(
            f"{folder} has no prompts. Name a file of them: --prompts FILE (one per line, or CSV, JSON lines or "
            "Parquet with a column 'prompt')"
        )
    return list({entry.prompt: entry for entry in entries}.values())


def read_prompts(path: Path) -> list[PromptEntry]:
    """Return the prompts of a text, CSV, JSON lines or Parquet file; an error lists every fault."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise FaultsError(str(path), [f"'{suffix}' is not read; expected one of {', '.join(SUFFIXES)}"])
    try:
        if suffix == ".txt":
            lines = path.read_text(encoding="utf-8-sig").splitlines()
            frame = pl.DataFrame(
                {"prompt": [line for line in lines if line.strip()]}, schema={"prompt": pl.String}
            )
        elif suffix == ".jsonl":
            frame = _of_json_lines(path)
        else:
            frame = pl.read_csv(path, infer_schema=False) if suffix == ".csv" else pl.read_parquet(path)
    except (OSError, UnicodeDecodeError, ValueError, pl.exceptions.PolarsError) as error:
        reason = str(error).strip().splitlines()[0]
        raise FaultsError(str(path), [f"cannot be read ({reason})"]) from error
    return _of_frame(frame, str(path))


def _of_json_lines(path: Path) -> pl.DataFrame:
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    rows = [{"prompt": line} if isinstance(line, str) else line for line in lines]
    if not all(isinstance(row, dict) for row in rows):
        raise ValueError("every line must be a text or an object with the key 'prompt'")
    return pl.DataFrame(rows, infer_schema_length=None)


def _of_frame(frame: pl.DataFrame, subject: str) -> list[PromptEntry]:
    text_column = next((name for name in ("text", *TEXT_COLUMNS) if _is_text(frame, name)), None)
    if text_column is None:
        columns = ", ".join(frame.columns) or "none"
        raise FaultsError(subject, [f"a column 'prompt' (or 'text', 'caption') is expected; found: {columns}"])
    style_column = next((name for name in STYLE_COLUMNS if name in frame.columns), None)
    texts = [(text or "").strip() for text in frame[text_column]]
    styles = frame[style_column].cast(pl.String).to_list() if style_column else [None] * len(texts)
    faults = [f"row {number}: the prompt is blank" for number, text in enumerate(texts) if not text]
    if not texts:
        faults.append("no prompts")
    clashes = Counter(text for text, _ in {(text, style) for text, style in zip(texts, styles, strict=True)})
    faults += [f"'{text}' has several styles" for text, count in clashes.items() if count > 1 and text]
    if faults:
        raise FaultsError(subject, faults)
    return [PromptEntry(prompt_id(text), text, style or None) for text, style in zip(texts, styles, strict=True)]


def _is_text(frame: pl.DataFrame, name: str) -> bool:
    return name in frame.columns and frame.schema[name] == pl.String


def _of_study(folder: Path) -> list[PromptEntry]:
    """Return the prompts of a study's images, with the styles of these."""
    store = Store(folder)
    images = store.read_or_empty("images")
    styles = dict(images.filter(pl.col("prompt").is_not_null()).select("prompt", "style").iter_rows())
    return [
        PromptEntry(prompt, text, styles.get(prompt))
        for prompt, text in store.read("prompts").select("prompt", "text").iter_rows()
    ]
