"""Batches: always the same for the same step, and every example once per epoch."""

from pathlib import Path

import numpy as np
import pytest
import torch
from tests.conftest import SmallWorld

from beholder.errors import ImageError
from beholder.learn.data_loader import (
    DataLoader,
    ImageCache,
    augmentation_rng,
    collate,
    example_indices,
    steps_per_epoch,
)
from beholder.learn.examples import Example, LabelledPair, Scale
from beholder.models.preference.two_tower import build, configure
from beholder.models.trainable import Batch, Trainable
from beholder.tables.provenance import Plain

SIZES: dict[str, Plain] = {
    **{"image_size": 16, "patch_size": 8, "image_width": 16, "image_layers": 1, "image_heads": 2},
    **{"text_width": 16, "text_layers": 1, "text_heads": 2, "embedding": 8},
}


@pytest.fixture(scope="module")
def model() -> Trainable[Batch]:
    torch.manual_seed(0)
    return build(configure({"sizes": SIZES, "context": 8}, ["a b", "c"], ["preference"]), fresh=True)


@pytest.fixture
def image_cache(small_world: SmallWorld) -> ImageCache:
    return ImageCache(
        {painted.image: str(small_world.folder / "images" / painted.file) for painted in small_world.painted}
    )


EXAMPLES = [
    Example(f"prompt {n}", (f"aurora/{n:04d}", f"dune/{n:04d}"), (LabelledPair(0, 1, 1.0, 0.5),))
    for n in range(10)
]


def loader(
    model: Trainable[Batch], image_cache: ImageCache, *, batch: int = 4, parts: int = 1, seed: int = 0
) -> DataLoader:
    return DataLoader(model, image_cache, EXAMPLES, (), batch, parts, seed, {})


def test_a_batch_by_hand(model: Trainable[Batch], image_cache: ImageCache) -> None:
    examples = [
        Example("p", ("aurora/0000", "dune/0000"), (LabelledPair(0, 1, 0.75, 0.5),), {"q": (2.0, None)}),
        Example("r", ("ember/0001",), ratings={"q": (5.0,)}, answers={"q": (4,)}),
        Example("p", ("dune/0000", "ember/0000"), (LabelledPair(1, 0, 1.0),)),
    ]
    batch = collate(examples, model, image_cache, ("q",), {"q": Scale(3.0, 2.0)}, None)
    # images: aurora 0, dune 0, ember 1, ember 0; dune is there once
    assert batch.prompts == ("p", "r")
    assert batch.prompt_of.tolist() == [0, 0, 1, 0]
    assert batch.pairs.tolist() == [[0, 1], [3, 1]]
    assert batch.soft_labels.tolist() == [0.75, 1.0]
    assert batch.pair_weights.tolist() == [0.5, 1.0]
    assert batch.ratings[:, 0].tolist() == pytest.approx([-0.5, np.nan, 1.0, np.nan], nan_ok=True)
    assert batch.answers[:, 0].tolist() == [0, 0, 4, 0]
    assert batch.to(torch.device("meta")).answers.is_meta
    assert batch.pixels.shape == (4, 3, 16, 16)


def test_without_pairs_or_ratings_the_shapes_stay(model: Trainable[Batch], image_cache: ImageCache) -> None:
    batch = collate([Example("p", ("aurora/0000",))], model, image_cache, (), {}, None)
    assert (batch.pairs.shape, batch.soft_labels.shape, batch.ratings.shape) == ((0, 2), (0,), (1, 0))


def test_a_step_always_gives_the_same_batch(model: Trainable[Batch], image_cache: ImageCache) -> None:
    first, second = loader(model, image_cache)(5, 0), loader(model, image_cache)(5, 0)
    assert first.prompts == second.prompts
    assert torch.equal(first.pixels, second.pixels)
    other = loader(model, image_cache, seed=1)(5, 0)
    assert other.prompts != first.prompts


def test_an_image_is_augmented_differently_in_each_epoch(model: Trainable[Batch], image_cache: ImageCache) -> None:
    alone = DataLoader(model, image_cache, EXAMPLES[:1], (), 1, 1, 0, {})
    assert not torch.equal(alone(0, 0).pixels, alone(1, 0).pixels)


def test_every_example_once_per_epoch(model: Trainable[Batch], image_cache: ImageCache) -> None:
    training = loader(model, image_cache, batch=5)
    assert training.steps_per_epoch == 2
    for epoch in range(2):
        prompts = [prompt for step in (0, 1) for prompt in training(2 * epoch + step, 0).prompts]
        assert sorted(prompts) == sorted(example.prompt for example in EXAMPLES)


def test_parts_make_up_the_batch(model: Trainable[Batch], image_cache: ImageCache) -> None:
    batch = loader(model, image_cache)(3, 0)
    halves = [loader(model, image_cache, parts=2)(3, part) for part in (0, 1)]
    assert sorted(batch.prompts) == sorted(prompt for half in halves for prompt in half.prompts)
    assert [len(half.prompts) for half in halves] == [2, 2]
    images = {tuple(image.flatten().tolist()) for image in batch.pixels}
    assert images == {tuple(image.flatten().tolist()) for half in halves for image in half.pixels}


def test_fewer_examples_than_parts(model: Trainable[Batch], image_cache: ImageCache) -> None:
    alone = DataLoader(model, image_cache, EXAMPLES[:1], (), 2, 2, 0, {})
    assert alone(0, 1).prompts == ("prompt 0",)


def test_broken_images_are_all_named(tmp_path: Path, image_cache: ImageCache) -> None:
    (tmp_path / "cut.png").write_bytes(b"\x89PNG\r\n")
    broken = ImageCache({"gone": str(tmp_path / "gone.png"), "cut": str(tmp_path / "cut.png")})
    with pytest.raises(ImageError, match="2 faults"):
        broken.check(["gone", "cut"])
    image_cache.check(["aurora/0000"])


def test_images_beyond_the_cache_are_read_again(small_world: SmallWorld) -> None:
    paths = {painted.image: str(small_world.folder / "images" / painted.file) for painted in small_world.painted}
    small, large = ImageCache(paths, cache_bytes=0), ImageCache(paths)
    for _ in range(2):
        assert np.array_equal(np.asarray(small.get("aurora/0000")), np.asarray(large.get("aurora/0000")))


def test_the_indices_of_an_epoch_are_all_examples_once() -> None:
    assert steps_per_epoch(12, 4) == 3
    for epoch in range(2):
        steps = range(3 * epoch, 3 * epoch + 3)
        indices = [example_indices(step, examples=12, batch=4, parts=2, seed=5) for step in steps]
        assert sorted(np.concatenate(indices)) == list(range(12))
    first, second = (example_indices(step, examples=12, batch=12, parts=1, seed=5) for step in (0, 1))
    assert first.tolist() != second.tolist()


def test_an_incomplete_batch_is_dropped_and_no_part_is_empty() -> None:
    assert steps_per_epoch(11, 4) == 2
    assert steps_per_epoch(3, 4) == 1
    indices = example_indices(0, examples=3, batch=4, parts=5, seed=0)
    assert all(len(indices[part::5]) == 1 for part in range(5))


def test_each_image_of_a_step_has_its_own_random_generator() -> None:
    drawn = {augmentation_rng(step, number, 3).integers(2**63) for step in range(3) for number in range(2)}
    assert len(drawn) == 6
    assert augmentation_rng(1, 1, 3).integers(2**63) in drawn
