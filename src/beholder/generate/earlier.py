"""What earlier runs generated: which rows are there, and whether a new plan still fits them."""

from collections import Counter
from collections.abc import Mapping, Sequence

from beholder.generate.attempt import planned_row
from beholder.generate.journal import Generation, Row
from beholder.generate.plan import Job, Key
from beholder.tables.schemas.generate import DONE
from beholder.tables.store import Store

REQUESTED = ("sent", "seed", "width", "height", "kind")
"""What a request consists of; the prompt itself is in the key."""


def earlier_generations(store: Store) -> dict[Key, Generation]:
    """Return the rows of both tables by their key."""
    costs = {_key(row): row for row in store.read_or_empty("generation_costs").to_dicts()}
    rows = store.read_or_empty("generations").to_dicts()
    return {_key(row): Generation(row, costs.get(_key(row), _free(row))) for row in rows}


def changed_requests(jobs: Sequence[Job], rows: Mapping[Key, Generation]) -> list[str]:
    """Say for which generators images exist that were requested otherwise: they are not replaced silently."""
    changed: Counter[tuple[str, str]] = Counter()
    for job in jobs:
        earlier = rows.get(job.key)
        if earlier is None or earlier.row["status"] != DONE:
            continue
        planned = planned_row(job, None)
        differing = next((name for name in REQUESTED if planned[name] != earlier.row[name]), None)
        if differing:
            changed[job.generator.name, differing] += 1
    return [
        f"{count:,} images of '{name}' are there already, with another {_WORDS[column]}. Generate them again with "
        "--force, or give the generator another name"
        for (name, column), count in changed.items()
    ]


def identity_fault(name: str, identity: Row, rows: Mapping[Key, Generation]) -> str | None:
    """Say whether a generator is another than the one that made its earlier images."""
    for generation in rows.values():
        row = generation.row
        if row["generator"] != name or row["status"] != DONE:
            continue
        for column, word in (("model", "name"), ("weights", "hash of the weights"), ("settings", "settings")):
            if row[column] != identity[column]:
                return (
                    f"'{name}' is not what it was: its earlier images have the {word} {row[column]}, now "
                    f"{identity[column]}. No image of it was generated. Generate all of them again with --force, "
                    "or give it another name"
                )
    return None


_WORDS = {
    "sent": "prompt as sent",
    "seed": "seed",
    "width": "width",
    "height": "height",
    "kind": "kind of generator",
}


def _key(row: Row) -> Key:
    return str(row["generator"]), str(row["prompt"]), int(str(row["sample"]))


def _free(row: Row) -> Row:
    """Return a row of costs for an image whose costs were lost."""
    return {name: row[name] for name in ("generator", "prompt", "sample")} | {"seconds": 0.0}
