"""Decoding: every kind of image file ends as upright, flat RGB bytes, by rules that are written down."""

import io
import struct
import warnings
import zlib
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from beholder.images.decode import decode, quiet_pillow
from beholder.images.formats import UndecodableError


def content(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def decoded(image: Image.Image, kind: str = "PNG", **options: object) -> NDArray[np.uint8]:
    """On white, so that the arithmetic is easy."""
    return np.asarray(decode(content(image, kind, **options), "#ffffff"))


def smooth(width: int = 40, height: int = 30) -> Image.Image:
    across, down = np.meshgrid(np.linspace(0, 255, width), np.linspace(0, 255, height))
    return Image.fromarray(np.stack([across, down, 255 - across], 2).astype(np.uint8))


class TestFormats:
    @pytest.mark.parametrize("kind", ["PNG", "BMP", "TIFF"])
    def test_without_loss(self, kind: str) -> None:
        np.testing.assert_array_equal(decoded(smooth(), kind), np.asarray(smooth()))

    @pytest.mark.parametrize("kind", ["WEBP", "AVIF"])
    def test_without_loss_if_asked(self, kind: str) -> None:
        options = {"lossless": True} if kind == "WEBP" else {"quality": 100, "subsampling": "4:4:4"}
        pixels = decoded(smooth(), kind, **options).astype(int)
        assert np.abs(pixels - np.asarray(smooth())).max() <= (0 if kind == "WEBP" else 4)

    def test_jpeg_is_decoded_in_full(self) -> None:
        encoded = content(smooth(640, 480), "JPEG", quality=90)
        with Image.open(io.BytesIO(encoded)) as plain:
            np.testing.assert_array_equal(np.asarray(decode(encoded)), np.asarray(plain))
        with Image.open(io.BytesIO(encoded)) as quick:
            quick.draft("RGB", (80, 60))
            assert quick.size == (80, 60)  # what the quicker way would have given
        assert decode(encoded).size == (640, 480)

    def test_a_suffix_does_not_matter(self) -> None:
        assert decode(content(smooth(), "GIF")).size == (40, 30)


class TestModes:
    def test_grey(self) -> None:
        pixels = decoded(Image.fromarray(np.array([[0, 100, 255]], np.uint8)))
        assert pixels.tolist() == [[[0] * 3, [100] * 3, [255] * 3]]

    def test_black_and_white(self) -> None:
        assert decoded(Image.fromarray(np.array([[0, 255]], np.uint8)).convert("1")).tolist() == [
            [[0] * 3, [255] * 3]
        ]

    def test_palette(self) -> None:
        image = Image.new("P", (2, 1))
        image.putpalette([10, 20, 30, 200, 100, 50])
        image.putpixel((1, 0), 1)
        assert decoded(image).tolist() == [[[10, 20, 30], [200, 100, 50]]]

    def test_transparent_is_middle_grey_unless_named_otherwise(self) -> None:
        image = Image.fromarray(np.array([[[200, 0, 100, 255], [200, 0, 100, 0]]], np.uint8))
        assert np.asarray(decode(content(image))).tolist() == [[[200, 0, 100], [127, 127, 127]]]
        assert np.asarray(decode(content(image), "#102030")).tolist() == [[[200, 0, 100], [16, 32, 48]]]

    def test_transparent_is_the_background(self) -> None:
        image = Image.fromarray(np.array([[[200, 0, 100, 255], [200, 0, 100, 0], [200, 0, 100, 51]]], np.uint8))
        # 51/255 = .2: 200·.2 + 255·.8 = 244, 0·.2 + 204 = 204, 100·.2 + 204 = 224
        assert decoded(image).tolist() == [[[200, 0, 100], [255, 255, 255], [244, 204, 224]]]

    def test_a_transparent_grey(self) -> None:
        image = Image.fromarray(np.array([[[100, 255], [100, 51]]], np.uint8), "LA")
        assert decoded(image).tolist() == [[[100] * 3, [224] * 3]]

    def test_a_transparent_colour_of_a_palette(self) -> None:
        image = Image.new("P", (2, 1))
        image.putpalette([10, 20, 30, 200, 100, 50])
        image.putpixel((1, 0), 1)
        assert decoded(image, transparency=0).tolist() == [[[255, 255, 255], [200, 100, 50]]]

    def test_a_transparent_colour_of_an_rgb_image(self) -> None:
        image = Image.fromarray(np.array([[[1, 2, 3], [4, 5, 6]]], np.uint8))
        assert decoded(image, transparency=(1, 2, 3)).tolist() == [[[255, 255, 255], [4, 5, 6]]]

    def test_16_bits_of_grey_keep_the_upper_8(self) -> None:
        image = Image.fromarray(np.array([[0, 255, 256, 0x80FF, 0xFFFF]], np.uint16))
        assert decoded(image)[0, :, 0].tolist() == [0, 0, 1, 0x80, 255]

    def test_16_bits_of_colour_keep_the_upper_8(self) -> None:
        rows = b"\x00" + struct.pack(">6H", 0x00FF, 0x0100, 0x80FF, 0xFFFF, 0, 0x7FFF)
        encoded = _png(width=2, height=1, depth=16, colour=2, rows=rows)
        assert np.asarray(decode(encoded)).tolist() == [[[0, 1, 0x80], [255, 0, 0x7F]]]

    def test_cmyk(self) -> None:
        image = Image.new("CMYK", (8, 8), (255, 0, 0, 0))
        pixels = decoded(image, "TIFF")
        assert pixels[0, 0].tolist() == [0, 255, 255]  # cyan takes the red away
        assert np.abs(decoded(image, "JPEG", quality=100).astype(int) - [0, 255, 255]).max() <= 3

    def test_floats_have_no_range(self) -> None:
        with pytest.raises(UndecodableError, match="floating-point"):
            decoded(Image.fromarray(np.ones((2, 2), np.float32)), "TIFF")

    def test_32_bits_have_no_range(self) -> None:
        with pytest.raises(UndecodableError, match="32-bit"):
            decoded(Image.fromarray(np.array([[1 << 20]], np.int32)), "TIFF")


class TestRotation:
    @pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
    @pytest.mark.parametrize("orientation", range(1, 9))
    def test_as_exif_asks(self, kind: str, orientation: int) -> None:
        pixels = np.asarray(smooth(64, 48))
        turned = {
            1: pixels,
            2: pixels[:, ::-1],
            3: pixels[::-1, ::-1],
            4: pixels[::-1],
            5: pixels.transpose(1, 0, 2),
            6: np.rot90(pixels, -1),
            7: pixels[::-1, ::-1].transpose(1, 0, 2),
            8: np.rot90(pixels),
        }[orientation]
        exif = Image.Exif()
        exif[0x0112] = orientation
        pixels = decoded(smooth(64, 48), kind, exif=exif, quality=95)
        assert pixels.shape == turned.shape
        assert np.abs(pixels.astype(int) - turned).mean() < 3

    def test_a_damaged_exif_block_is_passed_over(self) -> None:
        with quiet_pillow():
            pixels = decoded(smooth(), "JPEG", exif=b"Exif\x00\x00MM\x00*\xff\xff\xff\xff")
        assert pixels.shape == (30, 40, 3)


class TestBroken:
    def test_empty(self) -> None:
        with pytest.raises(UndecodableError, match="empty"):
            decode(b"")

    def test_not_an_image(self) -> None:
        with pytest.raises(UndecodableError, match="not an image that can be read; known: PNG"):
            decode(b"plain text")

    @pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "AVIF", "GIF", "BMP", "TIFF"])
    def test_cut_short(self, kind: str) -> None:
        noisy = Image.fromarray(np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8))
        encoded = content(noisy, kind)
        with pytest.raises(UndecodableError):
            decode(encoded[: len(encoded) // 2])

    def test_animations(self) -> None:
        frames = [smooth(), smooth().rotate(90)]
        with pytest.raises(UndecodableError, match="2 frames"):
            decoded(frames[0], "GIF", save_all=True, append_images=frames[1:])

    def test_too_large(self) -> None:
        encoded = _png(width=20_000, height=6_000, depth=8, colour=2, rows=b"")
        with quiet_pillow(), pytest.raises(UndecodableError, match="larger than 100 megapixels"):
            decode(encoded)
        encoded = _png(width=90_000, height=90_000, depth=8, colour=2, rows=b"")
        with pytest.raises(UndecodableError, match="larger than 100 megapixels"):
            decode(encoded)


def test_pillow_is_quiet_only_within() -> None:
    with quiet_pillow():
        warnings.warn_explicit("odd", UserWarning, "PIL/PngImagePlugin.py", 1, module="PIL.PngImagePlugin")
        with pytest.warns(UserWarning, match="ours"):
            warnings.warn("ours", stacklevel=1)
    with pytest.warns(UserWarning, match="odd"):
        warnings.warn_explicit("odd", UserWarning, "PIL/PngImagePlugin.py", 1, module="PIL.PngImagePlugin")


def _png(*, width: int, height: int, depth: int, colour: int, rows: bytes) -> bytes:
    """A PNG by hand: Pillow itself writes no 16-bit colour."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">2I5B", width, height, depth, colour, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def test_files_of_the_fixture(photographs: Path) -> None:
    assert {decode(file.read_bytes()).mode for file in photographs.iterdir()} == {"RGB"}
