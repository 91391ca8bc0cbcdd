"""Where images come from: files, folders, globs, manifests, tar or Parquet files and arrays, all as one list."""

import glob
import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray
from PIL import Image

from beholder.errors import ImageError
from beholder.images.arrays import SourceFault, open_arrays
from beholder.images.background import DEFAULT_BACKGROUND
from beholder.images.decode import decode, flatten
from beholder.images.formats import SUFFIXES
from beholder.images.lazy import Chained, Lazy
from beholder.images.packed import Packed
from beholder.images.parquet_images import ParquetImage, images_in_parquet, parquet_files
from beholder.images.tar_images import TarImage, images_in_tar
from beholder.tables.catalogue import TABLES
from beholder.tables.csv_text import unescape_texts

MANIFESTS = (".csv", ".parquet")
ARRAYS = (".npy", ".npz")


class ImageSource(Protocol):
    """An image that was found, and not read yet."""

    @property
    def name(self) -> str:
        """What to call it in results and messages."""
        ...

    def load(self) -> tuple[bytes, NDArray[np.uint8] | bytes]:
        """Hash of the content (SHA-256), and the content: the bytes of a file, or pixels."""
        ...


@dataclass(frozen=True, slots=True)
class ImageFile:
    """An image file."""

    name: str
    path: Path

    def load(self) -> tuple[bytes, bytes]:
        """The file's bytes and their hash."""
        content = self.path.read_bytes()
        return hashlib.sha256(content).digest(), content


@dataclass(frozen=True, slots=True)
class ArrayImage:
    """One image of an array."""

    name: str
    pixels: NDArray[np.uint8] = field(repr=False)

    def load(self) -> tuple[bytes, NDArray[np.uint8]]:
        """The pixels, and the hash of their shape and values."""
        pixels = np.ascontiguousarray(self.pixels)
        return hashlib.sha256(repr(pixels.shape).encode() + pixels.tobytes()).digest(), pixels


def read_pixels(content: NDArray[np.uint8] | bytes, background: str = DEFAULT_BACKGROUND) -> Image.Image:
    """Decode what :meth:`ImageSource.load` returned to opaque RGB."""
    if isinstance(content, bytes):
        return decode(content, background)
    grey = content.ndim == 3 and content.shape[2] == 1
    return flatten(Image.fromarray(content[..., 0] if grey else content), background)


def find_images(*places: str | Path) -> Sequence[ImageSource]:
    """Return all images at the places, in a fixed order; an error lists every place that is wrong.

    A place is an image file, a folder (searched with its subfolders; where it has no loose images, its tar files,
    and where it has none of these either, Parquet files with images), a glob (``out/**/*.png``), a manifest (CSV
    or Parquet with the column ``path``, relative to the manifest, and maybe ``image`` for the names), a tar file,
    a Parquet file with a column of images, or an array of bytes (npy, npz) with the shape (images, height, width,
    channels). Images of folders, tar and Parquet files become objects when they are looked at: a listing takes few
    bytes per image.
    """
    sources: list[Sequence[ImageSource]] = []
    faults: list[str] = []
    for place in places:
        try:
            here = Chained(_at(place))
        except SourceFault as fault:
            faults.append(f"{place}: {fault}")
            continue
        sources.append(here)
        faults += [] if here else [f"{place}: no images here; looked for {' '.join(SUFFIXES)}"]
    if not places:
        faults.append("no place was named: give files, folders, globs, manifests, tar or Parquet files, or arrays")
    if faults:
        raise ImageError("images", faults)
    return Chained(sources)


class _Files(Lazy[ImageFile]):
    """Image files that are called by their paths."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self._paths = Packed(map(str, paths))

    def __len__(self) -> int:
        return len(self._paths)

    def at(self, place: int) -> ImageFile:
        """Return the file at a place."""
        name = self._paths[place]
        return ImageFile(name, Path(name))


def _at(place: str | Path) -> Iterator[Sequence[ImageSource]]:
    path = Path(place)
    if path.is_dir():
        files = _Files(_files_below(path))
        yield files
        tars = [] if files else sorted(path.glob("*.tar"))
        for file in tars:
            yield images_in_tar(file)
        if not files and not tars:
            yield from parquet_files(path)
    elif path.is_file():
        yield _in_file(path)
    elif glob.has_magic(str(place)):
        for name in sorted(glob.glob(str(place), recursive=True)):  # noqa: PTH207 - Path.glob takes no whole path
            if Path(name).is_file():
                yield _in_file(Path(name))
    else:
        raise SourceFault("no such file or folder")


def _files_below(folder: Path) -> Iterator[Path]:
    """Image files of a folder and its subfolders, by name; names that begin with a dot are ignored."""
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if not name.startswith(".") and Path(name).suffix.lower() in SUFFIXES:
                yield Path(root, name)


def _in_file(path: Path) -> Sequence[ImageSource]:
    suffix = path.suffix.lower()
    if suffix in SUFFIXES:
        return [ImageFile(str(path), path)]
    if suffix == ".parquet" and (images := images_in_parquet(path)) is not None:
        return images
    if suffix in MANIFESTS:
        return list(_in_manifest(path))
    if suffix == ".tar":
        return images_in_tar(path)
    if suffix in ARRAYS:
        return [
            ArrayImage(f"{name}[{row}]", images[row])
            for name, images in open_arrays(path)
            for row in range(len(images))
        ]
    readable = " ".join((*SUFFIXES, *MANIFESTS, *ARRAYS, ".tar"))
    raise SourceFault(f"'{suffix}' is not taken; known: {readable}")


def _in_manifest(path: Path) -> Iterator[ImageSource]:
    try:
        as_text = path.suffix.lower() == ".csv"
        table = pl.read_csv(path, infer_schema=False) if as_text else pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise SourceFault(f"cannot be read as a table ({error})") from error
    if "path" not in table.columns:
        images = "" if as_text else ", or a column 'image' with the bytes of images"
        raise SourceFault(f"a column 'path' is expected{images}; found: {', '.join(table.columns)}")
    if as_text and table.columns == TABLES["images"].empty().columns:  # our own export
        table = unescape_texts(table)
    paths = table["path"].cast(pl.String)
    empty = [str(row + 1) for row, relative in enumerate(paths) if not relative]
    if empty:
        raise SourceFault(f"rows without a path: {', '.join(empty)}")
    names = table["image"].cast(pl.String) if "image" in table.columns else paths
    for name, relative in zip(names, paths, strict=True):
        yield ImageFile(name or relative, path.parent / relative)


def captions(images: Sequence[ImageSource]) -> Sequence[str | None]:
    """Return the prompt of each image that its own source knows, as tar and Parquet files do; else ``None``."""
    return Packed(image.prompt if isinstance(image, TarImage | ParquetImage) else None for image in images)


def named_files(names: Sequence[str], paths: Sequence[Path]) -> list[ImageSource]:
    """Return image files under given names, such as the images of a study."""
    return [ImageFile(name, path) for name, path in zip(names, paths, strict=True)]
