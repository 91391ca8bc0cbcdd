"""The user's own prompts: a CSV, TSV, JSON, JSON lines or text file."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from beholder.errors import PromptsError
from beholder.prompts.prompt import MAIN, Prompt, PromptSet
from beholder.prompts.sets.files import hash_start, read_json, read_json_lines, read_rows, read_text

TEXT_COLUMNS = ("prompt", "text", "caption", "Prompt", "Prompts")
KEY_COLUMNS = ("id", "key", "prompt_id")
CATEGORY_COLUMNS = ("category", "style", "Category", "tag")
SUFFIXES = (".csv", ".tsv", ".json", ".jsonl", ".txt")


def read_own_file(path: Path, name: str | None = None, licence: str = "not stated") -> PromptSet:
    """Read prompts from a file of the user's.

    A table has a column ``prompt`` (or ``text``, ``caption``) and may have ``id``, ``category`` (or ``style``) and
    ``group``; other columns become labels. JSON is a list of texts or of objects with these names; a text file
    has one prompt per line. An error lists all faults.

    Args:
        path: the file; its suffix says how it is read.
        name: what the set is called; by default the file's name.
        licence: the licence of the prompts, for the record.

    Returns:
        The prompts in the order of the file.
    """
    if not path.is_file():
        raise PromptsError(str(path), ["no such file"])
    prompts = tuple(_prompts(path))
    faults = [f"prompt {prompt.key}: no text" for prompt in prompts if not prompt.text.strip()]
    keys = [prompt.key for prompt in prompts]
    if len(set(keys)) < len(keys):
        twice = sorted({key for key in keys if keys.count(key) > 1})
        faults.append(f"each prompt needs an id of its own; used more than once: {', '.join(twice[:5])}")
    if not prompts:
        faults.append("no prompts")
    if faults:
        raise PromptsError(str(path), faults)
    return PromptSet(name or path.stem, MAIN, f"sha256 {hash_start(path)}", licence, path.name, prompts)


def _prompts(path: Path) -> Iterator[Prompt]:
    suffix = path.suffix.lower()
    if suffix == ".txt":
        for number, line in enumerate(read_text(path).splitlines(), start=1):
            if line.strip():
                yield Prompt(str(number), line.strip())
        return
    if suffix not in SUFFIXES:
        raise PromptsError(str(path), [f"suffix '{suffix}' is not one of {', '.join(SUFFIXES)}"])
    rows: list[Mapping[str, Any]]
    if suffix == ".jsonl":
        rows = read_json_lines(path)
    elif suffix == ".json":
        content = read_json(path)
        if not isinstance(content, list):
            raise PromptsError(str(path), ["a list of texts or of objects is expected"])
        rows = [{"prompt": row} if isinstance(row, str) else row for row in content]
        odd = [
            f"entry {number}: a text or an object is expected"
            for number, row in enumerate(rows)
            if not isinstance(row, dict)
        ]
        if odd:
            raise PromptsError(str(path), odd)
    else:
        rows = list(read_rows(path, delimiter="\t" if suffix == ".tsv" else ","))
    yield from _from_rows(path, rows)


def _from_rows(path: Path, rows: list[Mapping[str, Any]]) -> Iterator[Prompt]:
    names = dict.fromkeys(name for row in rows for name in row)
    text_column, key_column, category_column = (
        next((name for name in columns if name in names), None)
        for columns in (TEXT_COLUMNS, KEY_COLUMNS, CATEGORY_COLUMNS)
    )
    if text_column is None:
        columns = ", ".join(map(str, names)) or "none"
        raise PromptsError(str(path), [f"no column 'prompt' (or 'text', 'caption'); columns: {columns}"])
    special = {text_column, key_column, category_column, "group"}
    for number, row in enumerate(rows, start=1):
        yield Prompt(
            str(row[key_column]) if key_column is not None and row.get(key_column) is not None else str(number),
            str(row.get(text_column) or "").strip(),
            _text(row.get(category_column or "")),
            _text(row.get("group")),
            {str(name): str(row[name]) for name in row if name not in special and row[name] not in (None, "")},
        )


def _text(entry: object) -> str | None:
    return str(entry) if entry not in (None, "") else None
