"""Images as raters see them: what is opened, and what is refused with its reason."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from beholder.images.background import DEFAULT_BACKGROUND
from beholder.images.display import encode, is_whole
from beholder.images.formats import FORMATS, UndecodableError
from beholder.images.inspection import UnusableFile, inspect_file


def noise(side: int = 24) -> Image.Image:
    return Image.fromarray(np.random.default_rng(1).integers(0, 255, (side, side, 3), dtype=np.uint8))


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_of_the_intake_is_shown(tmp_path: Path, name: str) -> None:
    path = tmp_path / "image"
    noise().save(path, name)
    content = encode(path, 16, 92, DEFAULT_BACKGROUND)
    assert is_whole(content)
    with Image.open(io.BytesIO(content)) as image:
        assert (image.format, image.size) == ("WEBP", (16, 16))


@pytest.mark.parametrize("name", ["PPM", "EPS", "ICNS", "TGA", "PDF"])
def test_no_other_format_is_opened_whatever_its_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / "image.png"
    noise(32).save(path, name)
    assert isinstance(inspect_file(path), UnusableFile)
    with pytest.raises(UndecodableError, match="not an image that can be read; known: PNG"):
        encode(path, 16, 92, DEFAULT_BACKGROUND)


def test_the_reason_is_said(tmp_path: Path) -> None:
    with pytest.raises(UndecodableError, match="no such file"):
        encode(tmp_path / "absent.png", 16, 92, DEFAULT_BACKGROUND)
    path = tmp_path / "cut.png"
    noise(200).save(path)
    path.write_bytes(path.read_bytes()[:20_000])
    with pytest.raises(UndecodableError, match="damaged or cut short"):
        encode(path, 16, 92, DEFAULT_BACKGROUND)


def test_a_part_of_an_encoded_image_is_not_whole(tmp_path: Path) -> None:
    noise().save(tmp_path / "a.png")
    content = encode(tmp_path / "a.png", 16, 92, DEFAULT_BACKGROUND)
    for part in (b"", content[:10], content[:-1], content + b"\0"):
        assert not is_whole(part)
