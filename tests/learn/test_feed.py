"""Batches: the same for a step whenever it is asked for, and every example once an epoch."""

from pathlib import Path

import numpy as np
import pytest
import torch
from tests.conftest import SmallWorld

from beholder.errors import ImageError
from beholder.learn.examples import Compared, Example, Scale
from beholder.learn.feed import Feed, Pictures, collated
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
def pictures(small_world: SmallWorld) -> Pictures:
    return Pictures({one.image: str(small_world.folder / "images" / one.file) for one in small_world.painted})


EXAMPLES = [
    Example(f"prompt {n}", (f"aurora/{n:04d}", f"dune/{n:04d}"), (Compared(0, 1, 1.0, 0.5),)) for n in range(10)
]


def feed(model: Trainable[Batch], pictures: Pictures, *, batch: int = 4, parts: int = 1, seed: int = 0) -> Feed:
    return Feed(model, pictures, EXAMPLES, (), batch, parts, seed, {})


def test_a_batch_by_hand(model: Trainable[Batch], pictures: Pictures) -> None:
    portion = [
        Example("p", ("aurora/0000", "dune/0000"), (Compared(0, 1, 0.75, 0.5),), {"q": (2.0, None)}),
        Example("r", ("ember/0001",), ratings={"q": (5.0,)}, answers={"q": (4,)}),
        Example("p", ("dune/0000", "ember/0000"), (Compared(1, 0, 1.0),)),
    ]
    found = collated(portion, model, pictures, ("q",), {"q": Scale(3.0, 2.0)}, None)
    # images: aurora 0, dune 0, ember 1, ember 0; dune is there once
    assert found.prompts == ("p", "r")
    assert found.prompt_of.tolist() == [0, 0, 1, 0]
    assert found.pairs.tolist() == [[0, 1], [3, 1]]
    assert found.soft_labels.tolist() == [0.75, 1.0]
    assert found.pair_weights.tolist() == [0.5, 1.0]
    assert found.ratings[:, 0].tolist() == pytest.approx([-0.5, np.nan, 1.0, np.nan], nan_ok=True)
    assert found.answers[:, 0].tolist() == [0, 0, 4, 0]
    assert found.to(torch.device("meta")).answers.is_meta
    assert found.pixels.shape == (4, 3, 16, 16)


def test_without_pairs_or_ratings_the_shapes_stay(model: Trainable[Batch], pictures: Pictures) -> None:
    found = collated([Example("p", ("aurora/0000",))], model, pictures, (), {}, None)
    assert (found.pairs.shape, found.soft_labels.shape, found.ratings.shape) == ((0, 2), (0,), (1, 0))


def test_a_step_is_the_same_whenever_it_is_asked_for(model: Trainable[Batch], pictures: Pictures) -> None:
    one, two = feed(model, pictures)(5, 0), feed(model, pictures)(5, 0)
    assert one.prompts == two.prompts
    assert torch.equal(one.pixels, two.pixels)
    other = feed(model, pictures, seed=1)(5, 0)
    assert other.prompts != one.prompts


def test_an_image_is_augmented_anew_in_each_epoch(model: Trainable[Batch], pictures: Pictures) -> None:
    alone = Feed(model, pictures, EXAMPLES[:1], (), 1, 1, 0, {})
    assert not torch.equal(alone(0, 0).pixels, alone(1, 0).pixels)


def test_every_example_once_an_epoch(model: Trainable[Batch], pictures: Pictures) -> None:
    whole = feed(model, pictures, batch=5)
    assert whole.steps_an_epoch == 2
    for epoch in range(2):
        seen = [prompt for step in (0, 1) for prompt in whole(2 * epoch + step, 0).prompts]
        assert sorted(seen) == sorted(one.prompt for one in EXAMPLES)


def test_parts_make_up_the_batch(model: Trainable[Batch], pictures: Pictures) -> None:
    whole = feed(model, pictures)(3, 0)
    halves = [feed(model, pictures, parts=2)(3, part) for part in (0, 1)]
    assert sorted(whole.prompts) == sorted(prompt for half in halves for prompt in half.prompts)
    assert [len(half.prompts) for half in halves] == [2, 2]


def test_fewer_examples_than_parts(model: Trainable[Batch], pictures: Pictures) -> None:
    alone = Feed(model, pictures, EXAMPLES[:1], (), 2, 2, 0, {})
    assert alone(0, 1).prompts == ("prompt 0",)


def test_broken_images_are_all_named(tmp_path: Path, pictures: Pictures) -> None:
    (tmp_path / "cut.png").write_bytes(b"\x89PNG\r\n")
    broken = Pictures({"gone": str(tmp_path / "gone.png"), "cut": str(tmp_path / "cut.png")})
    with pytest.raises(ImageError, match="2 faults"):
        broken.check(["gone", "cut"])
    pictures.check(["aurora/0000"])


def test_what_does_not_fit_is_read_again(small_world: SmallWorld) -> None:
    paths = {one.image: str(small_world.folder / "images" / one.file) for one in small_world.painted}
    small, large = Pictures(paths, cache_bytes=0), Pictures(paths)
    for _ in range(2):
        assert np.array_equal(np.asarray(small.get("aurora/0000")), np.asarray(large.get("aurora/0000")))
