import numpy as np
import pytest
from PIL import Image

from beholder.models.rich_feedback.augment import Augmentation, augment

NOTHING = Augmentation(crop=0, light=0, colour=0, jpeg=0, grey=0)


def spotted(size: int = 64) -> tuple[Image.Image, np.ndarray[tuple[int, ...], np.dtype[np.float32]]]:
    """A red spot on blue, and a map of where it is."""
    spot = np.zeros((size, size), np.float32)
    spot[20:40, 8:28] = 1
    pixels = np.where(spot[..., None] > 0, [200, 30, 30], [30, 30, 200]).astype(np.uint8)
    return Image.fromarray(pixels), np.stack([spot, np.full_like(spot, np.nan)])


@pytest.mark.parametrize("settings", [{"crop": 1}, {"mirror": 1}, {"crop": 1, "mirror": 1}])
def test_the_map_follows_the_image(settings: dict[str, float]) -> None:
    image, maps = spotted()
    for seed in range(20):
        changed, moved = augment(image, maps, NOTHING.model_copy(update=settings), np.random.default_rng(seed))
        red = np.asarray(changed)[..., 0] > 100
        assert (red == (moved[0] > 0)).all()
        assert np.isnan(moved[1]).all()
        assert 0.8 * 64 - 1 <= changed.width <= 64
        assert red.any()


def test_maps_of_another_size_follow_too() -> None:
    image, maps = spotted()
    small = maps[:, ::4, ::4]
    changed, moved = augment(image, small, NOTHING.model_copy(update={"crop": 1}), np.random.default_rng(3))
    red = np.asarray(changed.resize(moved.shape[:0:-1], Image.Resampling.BOX))[..., 0] > 115
    assert (red == (moved[0] > 0)).mean() > 0.9


def test_only_crops_and_mirrors_touch_maps() -> None:
    image, maps = spotted()
    for name in ("light", "colour", "jpeg", "grey"):
        changed, augmented_maps = augment(
            image, maps, NOTHING.model_copy(update={name: 1}), np.random.default_rng(1)
        )
        assert (np.nan_to_num(augmented_maps) == np.nan_to_num(maps)).all()
        assert changed.size == image.size
        assert (np.asarray(changed) != np.asarray(image)).any()


def test_the_same_seed_changes_alike_and_nothing_changes_nothing() -> None:
    image, maps = spotted()
    first, second = (
        augment(image, maps, Augmentation(crop=1, jpeg=1), np.random.default_rng(9)) for _ in range(2)
    )
    assert (np.asarray(first[0]) == np.asarray(second[0])).all()
    same, augmented_maps = augment(image, maps, NOTHING, np.random.default_rng(0))
    assert (np.asarray(same) == np.asarray(image)).all()
    assert np.array_equal(augmented_maps, maps, equal_nan=True)


def test_one_pixel_can_be_cropped() -> None:
    image, maps = Image.new("RGB", (1, 1)), np.zeros((2, 1, 1), np.float32)
    for seed in range(5):
        changed, moved = augment(image, maps, Augmentation(crop=1), np.random.default_rng(seed))
        assert changed.size == (1, 1)
        assert moved.shape == (2, 1, 1)
