"""Images in tar files, as WebDataset lays them out: ``KEY.jpg`` with ``KEY.txt`` and ``KEY.json`` beside it."""

import hashlib
import json
import posixpath
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from beholder.images.arrays import SourceFault
from beholder.images.formats import SUFFIXES
from beholder.images.lazy import Lazy
from beholder.images.packed import Packed

CAPTION, ABOUT = ".txt", ".json"
"""Suffixes of what belongs to an image: its prompt, and a JSON object with ``image``, ``prompt`` and more."""

CAPTION_FIELDS = ("prompt", "caption", "text")
"""Fields of such an object that hold the prompt, the first of them first."""

LARGEST_NOTE = 1 << 20
"""Bytes of a text beside an image; what is larger is something else."""


@dataclass(frozen=True, slots=True)
class TarImage:
    """An image file inside an uncompressed tar file: read in place, without the rest."""

    name: str
    path: Path
    offset: int
    size: int
    prompt: str | None = None
    """From the text or the JSON object beside it."""
    suffix: str = ""

    def load(self) -> tuple[bytes, bytes]:
        """The member's bytes and their hash."""
        with self.path.open("rb") as file:
            file.seek(self.offset)
            content = file.read(self.size)
        return hashlib.sha256(content).digest(), content


@dataclass(slots=True)
class _Notes:
    """What stands beside the images of one key."""

    caption: str | None = None
    image: str | None = None
    prompt: str | None = None


class _TarImages(Lazy[TarImage]):
    """The images of a tar file: their names, places and sizes, and the notes of those that have any."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._notes: dict[str, _Notes] = {}
        with tarfile.open(path, "r:") as archive:
            self._members = Packed(self._read(archive))

    def _read(self, archive: tarfile.TarFile) -> Iterator[tuple[str, int, int]]:
        """Yield name, place and size of every image; note what stands beside them."""
        for member in archive:
            archive.members = []  # type: ignore[attr-defined]  # else it keeps all of them
            if not member.isfile() or posixpath.basename(member.name).startswith("."):
                continue
            suffix = _suffix(member.name)
            if suffix in SUFFIXES:
                yield member.name, member.offset_data, member.size
            elif suffix in (CAPTION, ABOUT) and member.size <= LARGEST_NOTE:
                opened = archive.extractfile(member)
                if opened is not None:
                    _note(self._notes.setdefault(_key(member.name), _Notes()), suffix, opened.read())

    def __len__(self) -> int:
        return len(self._members)

    def at(self, place: int) -> TarImage:
        """Return the image at a place."""
        member, offset, size = self._members[place]
        own = (self._notes and self._notes.get(_key(member))) or _Notes()
        return TarImage(
            own.image or f"{self._path}/{member}",
            self._path,
            offset,
            size,
            own.prompt if own.caption is None else own.caption,
            _suffix(member),
        )


def images_in_tar(path: Path) -> Sequence[TarImage]:
    """Return the images of a tar file in their order, with their names and prompts where it has them."""
    try:
        return _TarImages(path)
    except tarfile.TarError as error:
        raise SourceFault(f"not a plain tar file ({error}); unpack one that is compressed") from error


def _key(member: str) -> str:
    """What comes before the first dot of the name, with the folders: WebDataset's key."""
    path = PurePosixPath(member)
    return str(path.with_name(path.name.partition(".")[0]))


def _suffix(member: str) -> str:
    """Without an object of pathlib, which keeps the parts of every path in a table of the interpreter."""
    return posixpath.splitext(member)[1].lower()


def _note(notes: _Notes, suffix: str, content: bytes) -> None:
    """Add what a text says; one that is no text, or no object, says nothing."""
    try:
        text = content.decode()
        if suffix == CAPTION:
            notes.caption = text.strip()
            return
        about = json.loads(text)
    except ValueError:
        return
    if isinstance(about, dict):
        image = about.get("image")
        notes.image = image if isinstance(image, str) and image else None
        notes.prompt = next((about[name] for name in CAPTION_FIELDS if isinstance(about.get(name), str)), None)
