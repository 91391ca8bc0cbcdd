"""Every reader gets the same pixels: rater's page, scorer, encoder, training and report, at a named background."""

import base64
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from beholder.design.intake import Sources, gather_images
from beholder.images import decode as decoding
from beholder.images.background import DEFAULT_BACKGROUND
from beholder.images.display import encode as encode_for_display
from beholder.images.sources import find_images
from beholder.images.thumbnail import thumbnail
from beholder.learn.data_loader import ImageCache
from beholder.models.encoders.encode import encode, encode_by
from beholder.models.encoders.encoder import Encoder
from beholder.models.encoders.preprocessing import Preprocessing
from beholder.scorers.score import score
from beholder.scorers.scorer import Scorer, ScorerInput
from beholder.study.study import ImageSettings

SIDE = 32
BACKGROUND = "#2040c0"
KINDS = ("transparent.png", "rotated.jpg", "deep.png", "palette.png")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Smooth squares whose corners differ: half transparent, turned by EXIF, of 16 bits, and of a palette."""
    across, down = np.meshgrid(np.linspace(0, 255, SIDE), np.linspace(0, 255, SIDE))
    colour = np.stack([across, down, 255 - across], 2).astype(np.uint8)
    clear = np.dstack([colour, np.where(across < 128, 0, 255).astype(np.uint8)])
    Image.fromarray(clear).save(tmp_path / "transparent.png")
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(colour).save(tmp_path / "rotated.jpg", exif=exif, quality=98, subsampling=0)
    Image.fromarray((down * 257).astype(np.uint16)).save(tmp_path / "deep.png")
    palette = Image.new("P", (SIDE, SIDE), 1)
    palette.putpalette([255, 255, 0, 200, 100, 50])
    palette.paste(0, (0, 0, SIDE // 2, SIDE))
    palette.save(tmp_path / "palette.png", transparency=0)
    return tmp_path


def expected(name: str) -> NDArray[np.float64]:
    """The four corners' pixels, worked out by hand: (top left, top right, bottom left, bottom right)."""
    ground = [0x20, 0x40, 0xC0]
    return np.array(
        {
            "transparent.png": [ground, [255, 0, 0], ground, [255, 255, 0]],
            # 6: the left column is shown as the top row, its lower end first
            "rotated.jpg": [[0, 255, 255], [0, 0, 255], [255, 255, 0], [255, 0, 0]],
            "deep.png": [[0] * 3, [0] * 3, [255] * 3, [255] * 3],
            "palette.png": [ground, [200, 100, 50], ground, [200, 100, 50]],
        }[name],
        float,
    )


def corners(pixels: NDArray[np.generic]) -> NDArray[np.float64]:
    """Of an image (height, width, 3)."""
    return np.asarray(pixels[[0, 0, -1, -1], [0, -1, 0, -1]], float)


def opened(content: bytes) -> NDArray[np.uint8]:
    with Image.open(io.BytesIO(content)) as image:
        return np.asarray(image.convert("RGB"))


def as_rater(path: Path) -> NDArray[np.float64]:
    return corners(opened(encode_for_display(path, SIDE, 100, BACKGROUND)))


def as_report(path: Path) -> NDArray[np.float64]:
    uri = thumbnail(path, BACKGROUND)
    assert uri is not None
    return corners(opened(base64.b64decode(uri.partition(",")[2])))


def as_scorer(path: Path) -> NDArray[np.float64]:
    scored_corners: list[NDArray[np.float64]] = []

    def judge(images: Sequence[ScorerInput]) -> NDArray[np.float64]:
        scored_corners.extend(corners(np.asarray(shown_image.image)) for shown_image in images)
        return np.zeros(len(images))

    score(find_images(path), [None], [Scorer("eye", "eye", judge)], background=BACKGROUND)
    return scored_corners[0]


def whole_image(name: str = "whole") -> Encoder:
    """An encoder whose vectors are the pixels themselves."""
    as_they_are = Preprocessing("exact", SIDE, "box", scale=1.0)
    return Encoder(name, "none", 3 * SIDE * SIDE, as_they_are, lambda images: images.reshape(len(images), -1))


def as_encoder(path: Path) -> NDArray[np.float64]:
    vectors = encode(find_images(path), whole_image(), background=BACKGROUND).vectors
    return corners(vectors[0].reshape(3, SIDE, SIDE).transpose(1, 2, 0))


def as_trainer(path: Path) -> NDArray[np.float64]:
    return corners(np.asarray(ImageCache({"image": str(path)}, BACKGROUND).get("image")))


EXACT, LOSSY = 3.0, 45.0
"""Largest difference of a channel: JPEG alone, or WebP, which halves the resolution of colour, as well."""


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(
    ("reader", "tolerance"),
    [(as_scorer, EXACT), (as_encoder, EXACT), (as_trainer, EXACT), (as_rater, LOSSY), (as_report, LOSSY)],
)
def test_all_readers_get_the_same_pixels(files: Path, name: str, reader: object, tolerance: float) -> None:
    assert callable(reader)
    difference = np.abs(reader(files / name) - expected(name))
    assert difference.max() <= tolerance, difference


def test_scorer_encoder_and_trainer_agree_to_the_last_bit(files: Path) -> None:
    for name in KINDS:
        np.testing.assert_array_equal(as_scorer(files / name), as_encoder(files / name))
        np.testing.assert_array_equal(as_scorer(files / name), as_trainer(files / name))


def test_the_intake_takes_what_can_be_shown(files: Path, tmp_path: Path) -> None:
    intake = gather_images(Sources(generated=(("g", files),)), tmp_path / "study")
    assert not intake.faults
    assert intake.images["width"].to_list() == [SIDE] * len(KINDS)


def test_the_study_has_the_default_of_everyone_else() -> None:
    assert ImageSettings().background == DEFAULT_BACKGROUND


class TestDecodedOnce:
    @pytest.fixture
    def decodes(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """One entry for each image that is decoded."""
        counted: list[str] = []
        flatten = decoding.flatten

        def counting(image: Image.Image, background: str) -> Image.Image:
            counted.append(background)
            return flatten(image, background)

        monkeypatch.setattr(decoding, "flatten", counting)
        return counted

    def test_for_all_scorers_and_encoders_of_a_run(self, photographs: Path, decodes: list[str]) -> None:
        def scorer(name: str) -> Scorer:
            return Scorer(
                name, name, lambda images: np.array([float(np.mean(np.asarray(s.image))) for s in images])
            )

        sources = find_images(photographs)
        scored = score(
            sources,
            ["a cat", None] * 12,
            [scorer("one"), scorer("two"), scorer("reader")],
            prompted=["reader"],
            encoders=[whole_image("first"), whole_image("second")],
        )
        assert len(decodes) == len(sources) == 24
        np.testing.assert_array_equal(scored.values["one"], scored.values["two"])
        assert np.isnan(scored.values["reader"]).tolist() == [False, True] * 12
        assert [features.vectors.shape for features in scored.features] == [(24, 3 * SIDE * SIDE)] * 2

    def test_by_several_encoders_and_not_at_all_when_all_is_there(
        self, photographs: Path, tmp_path: Path, decodes: list[str]
    ) -> None:
        sources, encoders = find_images(photographs), [whole_image("first"), whole_image("second")]
        first = encode_by(sources, encoders, folder=tmp_path)
        assert len(decodes) == 24
        again = encode_by(sources, encoders[::-1], folder=tmp_path)
        assert len(decodes) == 24
        np.testing.assert_array_equal(first.features[0].vectors, again.features[1].vectors)

    def test_again_on_another_background(self, files: Path, tmp_path: Path, decodes: list[str]) -> None:
        sources = find_images(files / "transparent.png")
        grey = encode(sources, whole_image(), folder=tmp_path / "features")
        blue = encode(sources, whole_image(), folder=tmp_path / "features", background=BACKGROUND)
        assert decodes == [DEFAULT_BACKGROUND, BACKGROUND]
        assert grey.file != blue.file
        assert (np.asarray(grey.vectors) != np.asarray(blue.vectors)).any()
        encode(sources, whole_image(), folder=tmp_path / "features")
        assert len(decodes) == 2
