"""Prompts to generate from: a file of the user's, the prompts that were curated, or those of a study's images."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from beholder.errors import PromptsError, StageError
from beholder.prompts.sets.own_file import read_own_file
from beholder.tables.prompt_id import prompt_id
from beholder.tables.store import Store


@dataclass(frozen=True, slots=True)
class PromptEntry:
    """A prompt, and the slice of results that it belongs to."""

    prompt: str
    """Its id."""
    text: str
    style: str | None = None


def load_prompts(path: Path | None, folder: Path) -> list[PromptEntry]:
    """Return the prompts of a file, or else those curated in ``folder``, or else those of its study's images.

    A text that occurs several times counts once.
    """
    store = Store(folder)
    if path is not None:
        entries = _of_file(path)
    elif store.has("curated_prompts"):
        rows = store.read("curated_prompts").select("prompt", "text", "category").iter_rows()
        entries = [PromptEntry(*row) for row in rows]
    elif store.has("prompts"):
        entries = _of_study(store)
    else:
        raise StageError(
            f"{folder} has no prompts. Name a file of them, --prompts FILE (one per line, or CSV or JSON with "
            f"'prompt'), or choose some from published sets: beholder curate {folder} …"
        )
    return list({entry.prompt: entry for entry in entries}.values())


def _of_file(path: Path) -> list[PromptEntry]:
    prompts = read_own_file(path).prompts
    styles = Counter(text for text, _ in {(prompt.text, prompt.category) for prompt in prompts})
    clashes = [f"'{text}' has several categories" for text, count in styles.items() if count > 1]
    if clashes:
        raise PromptsError(str(path), clashes)
    return [PromptEntry(prompt_id(prompt.text), prompt.text, prompt.category) for prompt in prompts]


def _of_study(store: Store) -> list[PromptEntry]:
    """Return the prompts of a study's images, with the styles of these."""
    images = store.read_or_empty("images")
    styles = dict(images.filter(pl.col("prompt").is_not_null()).select("prompt", "style").iter_rows())
    return [
        PromptEntry(prompt, text, styles.get(prompt))
        for prompt, text in store.read("prompts").select("prompt", "text").iter_rows()
    ]
