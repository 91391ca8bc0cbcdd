"""Scores and features by an engine, in the files of a study: whoever works, the tables are the same."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.engines.pickling import PicklingEngine

from beholder.images.sources import ImageSource, find_images
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.named import NamedEncoder
from beholder.scorers.catalogue import load_scorer
from beholder.scorers.score import Scores, score
from beholder.scorers.shards.in_shards import SHARD, Judges
from beholder.scorers.shards.stored import Measures, store_in_shards

SCORERS = ("sharpness", "prompt-length")
MEASURES = Measures(Judges(SCORERS), prompted=("prompt-length",), encoder=NamedEncoder("pixel"))
NUMBER = SHARD + 20


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> list[ImageSource]:
    """More than a shard: one is broken, and two are equal."""
    folder, rng = tmp_path_factory.mktemp("images"), np.random.default_rng(0)
    for number in range(NUMBER):
        Image.fromarray(rng.integers(0, 256, (16, 12, 3), np.uint8)).save(folder / f"{number:04d}.png")
    (folder / "0003.png").write_bytes(b"no image")
    (folder / "0005.png").write_bytes((folder / "0004.png").read_bytes())
    return list(find_images(folder))


@pytest.fixture(scope="module")
def prompts() -> list[str | None]:
    return [None if number % 7 == 0 else f"a cat {'and a dog ' * (number % 3)}" for number in range(NUMBER)]


def measured(images: list[ImageSource], prompts: list[str | None], folder: Path | None = None) -> Scores:
    return score(
        images,
        prompts,
        [load_scorer(name) for name in SCORERS],
        prompted=MEASURES.prompted,
        encoders=[load_encoder("pixel")],
        features=folder and folder / "features",
        cache=folder and folder / "scores",
        skip_broken=True,
    )


def assert_equal(first: Scores, second: Scores) -> None:
    assert first.names == second.names
    assert first.broken == second.broken
    for name in SCORERS:
        assert first.values[name].tobytes() == second.values[name].tobytes()
    assert np.asarray(first.features[0].vectors).tobytes() == np.asarray(second.features[0].vectors).tobytes()


def store(engine: PicklingEngine, images: list[ImageSource], prompts: list[str | None], folder: Path) -> None:
    store_in_shards(engine, images, prompts, MEASURES, features=folder / "features", cache=folder / "scores")


def test_what_an_engine_stored_is_what_one_process_computes(
    images: list[ImageSource], prompts: list[str | None], tmp_path: Path
) -> None:
    direct = measured(images, prompts)
    engine = PicklingEngine()
    store(engine, images, prompts, tmp_path)
    assert engine.done == 3  # the hashes of all, and two shards
    assert_equal(measured(images, prompts, tmp_path), direct)


def test_a_stopped_run_goes_on_and_a_finished_one_does_nothing(
    images: list[ImageSource], prompts: list[str | None], tmp_path: Path
) -> None:
    stopping = PicklingEngine(most=2)
    with pytest.raises(KeyboardInterrupt):
        store(stopping, images, prompts, tmp_path)
    resumed = PicklingEngine()
    store(resumed, images, prompts, tmp_path)
    assert resumed.done == 2  # the hashes; and what is left, with the broken image, which may have been mended
    assert_equal(measured(images, prompts, tmp_path), measured(images, prompts))
    sound = [place for place in range(NUMBER) if place != 3]
    idle = PicklingEngine()
    store(idle, [images[place] for place in sound], [prompts[place] for place in sound], tmp_path)
    assert idle.done == 1  # the hashes: the files are too new for the index


def test_progress_counts_images(images: list[ImageSource], prompts: list[str | None], tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    store_in_shards(
        PicklingEngine(),
        images,
        prompts,
        MEASURES,
        features=tmp_path / "features",
        cache=tmp_path / "scores",
        progress=lambda done, total: calls.append((done, total)),
    )
    assert calls[-1] == (NUMBER, NUMBER)
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)
