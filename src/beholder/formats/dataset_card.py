"""The card of a dataset on the Hugging Face hub: ``README.md`` with YAML before the text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from beholder import __version__
from beholder.formats.format import Tables
from beholder.study.study import Study

CARD = "README.md"
NO_LICENCE = "unknown"
"""How the hub spells a licence that is not stated."""

SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
LARGEST = "1M<n<10M"

TYPES: Mapping[type[pl.DataType], str] = {
    pl.String: "string",
    pl.Int64: "int64",
    pl.Float64: "float64",
    pl.Boolean: "bool",
    pl.Struct: "image",
}

ABOUT = {
    "images": "One row per image: the file itself, and who made it for which prompt.",
    "answers": "One row per answer of one rater to one aspect of a question; `image_ids` as shown, left to right.",
    "labels": "One row per label: what all answers about an image, a pair or a word come to, with its confidence "
    "interval.",
}

USE = """```python
from datasets import load_dataset

images = load_dataset("{name}", "images", split="train")
```"""


@dataclass(frozen=True, slots=True)
class Configuration:
    """A configuration of the dataset: its files, rows and columns."""

    name: str
    files: tuple[Path, ...]
    rows: int
    schema: Mapping[str, pl.DataType]


def write_card(
    folder: Path, study: Study, tables: Tables, configurations: Sequence[Configuration], licence: str | None
) -> None:
    """Write ``README.md``: what the hub and ``datasets`` read of it, and what people read."""
    head = yaml.safe_dump(
        _metadata(study, configurations, licence), sort_keys=False, allow_unicode=True, width=10_000
    )
    text = f"---\n{head}---\n\n{_text(study, tables, configurations)}"
    (folder / CARD).write_text(text, encoding="utf-8")


def _metadata(study: Study, configurations: Sequence[Configuration], licence: str | None) -> dict[str, Any]:
    rows = max(configuration.rows for configuration in configurations)
    return {
        "pretty_name": study.title,
        "license": licence or NO_LICENCE,
        "task_categories": ["text-to-image"],
        "tags": ["human-evaluation", "beholder"],
        "size_categories": [next((name for most, name in SIZES if rows < most), LARGEST)],
        "configs": [
            {
                "config_name": configuration.name,
                "data_files": [{"split": "train", "path": f"{configuration.name}/train-*.parquet"}],
            }
            | ({"default": True} if number == 0 else {})
            for number, configuration in enumerate(configurations)
        ],
        "dataset_info": [_info(configuration) for configuration in configurations],
    }


def _info(configuration: Configuration) -> dict[str, Any]:
    size = sum(file.stat().st_size for file in configuration.files)
    return {
        "config_name": configuration.name,
        "features": [{"name": name} | _feature(kind) for name, kind in configuration.schema.items()],
        "splits": [{"name": "train", "num_bytes": size, "num_examples": configuration.rows}],
        "download_size": size,
        "dataset_size": size,
    }


def _feature(kind: pl.DataType) -> dict[str, str]:
    """A column as the card's YAML names its feature."""
    if isinstance(kind, pl.List):
        return {"list": TYPES[type(kind.inner)]}  # type: ignore[index]
    if isinstance(kind, pl.Datetime):
        return {"dtype": f"timestamp[{kind.time_unit}, tz={kind.time_zone}]"}
    return {"dtype": TYPES[type(kind)]}


def _text(study: Study, tables: Tables, configurations: Sequence[Configuration]) -> str:
    """What people read."""
    parts = [f"# {study.title}"]
    parts += [study.description] if study.description else []
    parts += [USE.format(name=study.name), "## Configurations"]
    parts += [
        "\n".join(
            ["| name | rows | holds |", "|---|---|---|"]
            + [f"| `{part.name}` | {part.rows:,} | {ABOUT[part.name]} |" for part in configurations]
        )
    ]
    parts += ["## How it was collected", _collected(study, tables)]
    return "\n\n".join(parts) + "\n"


def _collected(study: Study, tables: Tables) -> str:
    sessions = tables["sessions"]
    raters, simulated = sessions["rater"].n_unique(), sessions.filter("simulated")["rater"].n_unique()
    questions = "\n".join(f"- {question.name} ({question.kind}): {question.text}" for question in study.questions)
    if simulated == raters and raters:
        people = f"All {raters:,} raters are simulated: **these are not judgements of people.**"
    elif simulated:
        people = f"{raters:,} raters took part, of whom {simulated:,} are simulated."
    elif raters:
        people = f"{raters:,} raters took part; they are numbered, and nothing else about them is here."
    else:
        people = "The labels are as published; single answers are not known."
    return f"{people}\n\n{questions}\n\nWritten by beholder {__version__}."
