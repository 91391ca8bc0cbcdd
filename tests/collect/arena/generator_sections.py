"""Generators of a study that make the images of voters' own prompts."""

from collections.abc import Iterable
from pathlib import Path


def add_generators(folder: Path, entries: Iterable[str]) -> None:
    """Add a painter for every entry to the study's file, unless it has generators."""
    file = folder / "study.toml"
    content = file.read_text(encoding="utf-8")
    if "[[generators]]" not in content:
        sections = [
            f'\n[[generators]]\nname = "{name}"\nkind = "painter"\npolicy = "{name}"\n' for name in entries
        ]
        file.write_text(content + "".join(sections), encoding="utf-8")
