"""Images in tar files, as WebDataset lays them out: ``KEY.jpg`` with ``KEY.txt`` and ``KEY.json`` beside it."""

import hashlib
import json
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from beholder.images.arrays import SourceFault
from beholder.images.formats import SUFFIXES

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


def images_in_tar(path: Path) -> Iterator[TarImage]:
    """Yield the images of a tar file in their order, with their names and prompts where it has them."""
    members: list[tarfile.TarInfo] = []
    notes: dict[str, _Notes] = {}
    try:
        with tarfile.open(path, "r:") as archive:
            for member in archive:
                if not member.isfile() or PurePosixPath(member.name).name.startswith("."):
                    continue
                suffix = _suffix(member)
                if suffix in SUFFIXES:
                    members.append(member)
                elif suffix in (CAPTION, ABOUT) and member.size <= LARGEST_NOTE:
                    opened = archive.extractfile(member)
                    if opened is not None:
                        _note(notes.setdefault(_key(member), _Notes()), suffix, opened.read())
    except tarfile.TarError as error:
        raise SourceFault(f"not a plain tar file ({error}); unpack one that is compressed") from error
    for member in members:
        own = notes.get(_key(member), _Notes())
        yield TarImage(
            own.image or f"{path}/{member.name}",
            path,
            member.offset_data,
            member.size,
            own.prompt if own.caption is None else own.caption,
            _suffix(member),
        )


def _key(member: tarfile.TarInfo) -> str:
    """What comes before the first dot of the name, with the folders: WebDataset's key."""
    path = PurePosixPath(member.name)
    return str(path.with_name(path.name.partition(".")[0]))


def _suffix(member: tarfile.TarInfo) -> str:
    return PurePosixPath(member.name).suffix.lower()


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
