"""Where a table comes from: the record that every Parquet file carries."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from beholder import __version__

METADATA_KEY = "beholder"

Plain = str | int | float | bool | None | list["Plain"] | dict[str, "Plain"]
"""What JSON can hold: settings are recorded so."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Stage, settings, seed, version and the hashes of the inputs from which a table was made."""

    stage: str
    settings: Mapping[str, Plain]
    seed: int
    inputs: Mapping[str, str]
    version: str = __version__

    def to_json(self) -> str:
        """One line of JSON, the same for the same record: keys are sorted, no time is kept."""
        return json.dumps(asdict(self), sort_keys=True, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> "Provenance":
        """The record that ``to_json`` wrote."""
        return cls(**json.loads(text))

    def same_work(self, other: "Provenance", *, heed_version: bool) -> bool:
        """Whether both came from the same work (and, if heeded, the same version of the package)."""
        this, that = asdict(self), asdict(other)
        if not heed_version:
            this.pop("version")
            that.pop("version")
        return json.dumps(this, sort_keys=True) == json.dumps(that, sort_keys=True)


def file_hash(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
