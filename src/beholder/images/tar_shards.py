"""Images as tar files of some thousand each, in WebDataset's layout, and back to loose files.

Object storage and network disks take few large files much faster than many small ones.
"""

import csv
import json
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from itertools import islice
from pathlib import Path, PurePosixPath

from beholder.errors import ImageError
from beholder.images.decode import opened
from beholder.images.folders import PROMPTS_FILE
from beholder.images.formats import FORMATS, SUFFIXES, UndecodableError
from beholder.images.parquet_images import ParquetImage
from beholder.images.sources import ImageSource, captions, read_pixels
from beholder.images.tar_images import ABOUT, CAPTION, TarImage
from beholder.tables.atomic import write_atomically

AN_ARRAY = ".png"
"""How pixels that were no file are written."""


SUFFIX_OF = {"JPEG": ".jpg", "MPO": ".jpg", **{name: f".{name.lower()}" for name in FORMATS if name != "JPEG"}}
"""How a file is called whose content is all that is known of it: by what Pillow takes it for."""


@dataclass(frozen=True, slots=True)
class Sample:
    """An image, its prompt, and what else is to be known of it."""

    image: str
    source: ImageSource
    prompt: str | None = None
    about: Mapping[str, str] = field(default_factory=dict)


def write_shards(samples: Sequence[Sample], folder: Path, size: int) -> list[Path]:
    """Write tar files of ``size`` images each, and return their paths; all images that cannot be read are named.

    Equal images in equal order make equal bytes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rest, paths, faults = iter(enumerate(samples)), list[Path](), list[str]()
    while some := list(islice(rest, size)):
        paths.append(folder / f"{len(paths):06d}.tar")
        with write_atomically(paths[-1]) as file, tarfile.open(fileobj=file, mode="w") as tar:
            for number, sample in some:
                try:
                    content, suffix = _content(sample.source)
                except OSError as error:
                    faults.append(f"{sample.image}: cannot be read ({error.strerror or error})")
                    continue
                for member, part in _members(f"{number:09d}", sample, content, suffix):
                    _add(tar, member, part)
    if faults:
        for path in paths:
            path.unlink()
        raise ImageError("images", faults)
    return paths


def unpack(images: Sequence[ImageSource], folder: Path) -> int:
    """Write images of tar or Parquet files as loose ones, with their prompts in ``prompts.csv``; return how many.

    All that cannot be read are named, after the others were written.
    """
    names = [_file_name(image) for image in images]
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if twice:
        raise ImageError("images", [f"{name}: more than one image has this name" for name in twice])
    prompts, faults = list[tuple[str, str]](), list[str]()
    for name, image, prompt in zip(names, images, captions(images), strict=True):
        try:
            content, suffix = _content(image)
        except (OSError, UndecodableError) as error:
            faults.append(f"{image.name}: cannot be read ({error})")
            continue
        if PurePosixPath(name).suffix.lower() not in SUFFIXES:
            name += suffix
        with write_atomically(folder / name) as file:
            file.write(content)
        if prompt:
            prompts.append((name, prompt))
    if prompts:
        with (folder / PROMPTS_FILE).open("w", newline="", encoding="utf-8") as listing:
            csv.writer(listing).writerows([("file", "prompt"), *prompts])
    if faults:
        raise ImageError("images", faults)
    return len(names)


def _content(source: ImageSource) -> tuple[bytes, str]:
    """The bytes of the file and its suffix; pixels are written as a file first."""
    content = source.load()[1]
    if isinstance(source, ParquetImage) and isinstance(content, bytes):
        with opened(content) as image:
            return content, SUFFIX_OF.get(image.format or "", AN_ARRAY)
    if isinstance(content, bytes):
        suffix = source.suffix if isinstance(source, TarImage) else PurePosixPath(source.name).suffix.lower()
        return content, suffix if suffix in SUFFIXES else AN_ARRAY
    written = BytesIO()
    read_pixels(content).save(written, "png")
    return written.getvalue(), AN_ARRAY


def _members(key: str, sample: Sample, content: bytes, suffix: str) -> Iterator[tuple[str, bytes]]:
    prompt = {} if sample.prompt is None else {"prompt": sample.prompt}
    about = {"image": sample.image, **prompt, **sample.about}
    yield f"{key}{suffix}", content
    if sample.prompt is not None:
        yield f"{key}{CAPTION}", sample.prompt.encode()
    yield f"{key}{ABOUT}", json.dumps(about, ensure_ascii=False).encode()


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    tar.addfile(member, BytesIO(content))


def _file_name(image: ImageSource) -> str:
    """Where a loose image goes below its folder: its own name, with no way out of the folder."""
    own_suffix = "" if isinstance(image, ParquetImage) else PurePosixPath(image.name).suffix
    suffix = image.suffix if isinstance(image, TarImage) else own_suffix
    path = PurePosixPath(image.name)
    if isinstance(image, TarImage) and image.name.startswith(str(image.path)):
        path = PurePosixPath(image.name.removeprefix(f"{image.path}/"))
    if isinstance(image, ParquetImage) and image.name.startswith(str(image.place.path)):
        path = PurePosixPath(f"{image.place.path.stem}-{image.row:09d}")
    parts = [part for part in path.parts if part not in ("/", "..", ".")]
    name = PurePosixPath(*parts or ["image"])
    return str(name if name.suffix.lower() == suffix else name.with_name(name.name + suffix))
