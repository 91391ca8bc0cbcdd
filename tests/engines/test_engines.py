"""Engines: equal bytes, killed workers, and work that goes on where it was stopped."""

import gc
import sys
import weakref
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from tests.engines import gpu_driver
from tests.engines.pickling import PicklingEngine

from beholder.distances.frechet import frechet
from beholder.distances.shards.encode import encode_in_shards
from beholder.distances.shards.frechet import frechet_of_shards
from beholder.distances.shards.shard import FeatureFile
from beholder.engines.engine import Engine, LocalEngine, open_engine
from beholder.errors import ImageError, UserError
from beholder.images.sources import ImageFile, find_images
from beholder.models.encoders import pixel
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.encode import encode
from beholder.models.encoders.named import NamedEncoder, load_once
from beholder.scorers.catalogue import load_scorer
from beholder.scorers.score import score
from beholder.scorers.shards.in_shards import SHARD, Judges, score_in_shards
from beholder.scorers.shards.stored import Measures, store_in_shards
from beholder.stats.agreement.gwet import gwet_ac
from beholder.stats.agreement.krippendorff import Scale, krippendorff_alpha
from beholder.stats.intervals.bootstrap import rater_weights

SCORERS = ("sharpness", "colourfulness")
ENCODER = "pixel"


@pytest.fixture(scope="module")
def ray_engine() -> Iterator[Engine]:
    ray = pytest.importorskip("ray", reason="ray is not installed: pip install 'beholder[ray]'")
    for module in (gpu_driver, sys.modules[__name__]):  # workers cannot import tests
        ray.cloudpickle.register_pickle_by_value(module)
    with open_engine("ray", workers=2) as engine:
        yield engine


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, rng = tmp_path_factory.mktemp("pictures"), np.random.default_rng(0)
    for number in range(2 * SHARD + 5):
        Image.fromarray(rng.integers(0, 256, (24, 20, 3), np.uint8)).save(folder / f"{number:04d}.png")
    return folder


def refuse(number: int) -> int:
    if number == 2:
        raise UserError("two is not allowed")
    return number


def test_a_killed_worker_loses_nothing(ray_engine: Engine, tmp_path: Path) -> None:
    squares = list(ray_engine.map(partial(gpu_driver.killed_once, tmp_path), range(9)))
    assert squares == [n * n for n in range(9)]
    assert len(list(tmp_path.iterdir())) == 3


def test_errors_are_ours(ray_engine: Engine) -> None:
    with pytest.raises(UserError, match="two is not allowed"):
        list(ray_engine.map(refuse, range(4)))


def test_parts_are_taken_as_answers_are(ray_engine: Engine) -> None:
    drawn = 0

    def parts() -> Iterator[int]:
        nonlocal drawn
        for number in range(50):
            drawn += 1
            yield number

    answers = ray_engine.map(abs, parts())
    assert next(answers) == 0
    assert drawn <= 4


def test_equal_scores(ray_engine: Engine, pictures: Path) -> None:
    images = find_images(str(pictures))
    prompts = [None] * len(images)
    direct = score(images, prompts, [load_scorer(name) for name in SCORERS])
    for engine in (LocalEngine(), ray_engine):
        sharded = score_in_shards(engine, images, prompts, Judges(scorers=SCORERS))
        assert sharded.names == direct.names
        for name in SCORERS:
            assert sharded.values[name].tobytes() == direct.values[name].tobytes()


def test_equal_features_and_distance(ray_engine: Engine, pictures: Path, tmp_path: Path) -> None:
    images = find_images(str(pictures))
    direct = encode(images, load_encoder(ENCODER)).vectors
    values = []
    for name, engine in (("local", LocalEngine()), ("ray", ray_engine)):
        encoded = encode_in_shards(engine, images, NamedEncoder(ENCODER), tmp_path / name)
        assert np.concatenate([shard() for shard in encoded.shards]).tobytes() == direct.tobytes()
        shards = [FeatureFile(tmp_path / name / f"few-{number}.npy") for number in range(len(encoded.shards))]
        for shard, whole_shard in zip(shards, encoded.shards, strict=True):
            np.save(shard.path, whole_shard()[:, :8])
        values.append(frechet_of_shards(shards, shards[:2], each=engine.map).value)
    whole = frechet(direct[:, :8], direct[: 2 * SHARD, :8]).value
    assert values == pytest.approx([whole, whole], rel=1e-9, abs=1e-12)


class BatchesMatter:
    """Features that depend on how many images a network sees together, as the last digits of real ones do."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.original = pixel._flatten
        monkeypatch.setattr(pixel, "_flatten", self)

    def __call__(self, images: NDArray[np.float32]) -> NDArray[np.float32]:
        return self.original(images) + np.float32(len(images))


def test_copies_are_encoded_once_as_in_one_process(
    pictures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    BatchesMatter(monkeypatch)
    load_once.cache_clear()
    request.addfinalizer(load_once.cache_clear)
    (tmp_path / "broken.png").write_bytes(b"no image")
    good, bad = list(find_images(str(pictures))), find_images(str(tmp_path))[0]
    gone = ImageFile("gone.png", tmp_path / "gone.png")
    images = [*good[:40], good[3], bad, *good[40:150], good[140], gone, good[141], bad, *good[150:], *good[:9]]
    direct = encode(images, load_encoder(ENCODER), skip_broken=True, workers=1)
    engine = PicklingEngine()
    encoded = encode_in_shards(engine, images, NamedEncoder(ENCODER), tmp_path / "shards", skip_broken=True)
    vectors = np.concatenate([shard() for shard in encoded.shards])
    assert vectors.tobytes() == np.asarray(direct.vectors).tobytes()
    assert [shard.shape[0] for shard in encoded.shards] == [SHARD, SHARD, encoded.images - 2 * SHARD]
    assert encoded.broken == tuple(f"{image.name}: {image.reason}" for image in direct.broken)
    assert len(encoded.broken) == 3
    with pytest.raises(ImageError, match=r"gone\.png: no such file"):
        encode_in_shards(PicklingEngine(), images, NamedEncoder(ENCODER), tmp_path / "shards")


def test_a_stopped_run_goes_on(pictures: Path, tmp_path: Path) -> None:
    class Stopping(LocalEngine):
        def map(self, function, parts, /):  # type: ignore[no-untyped-def]
            for place, part in enumerate(parts):
                if place == 1:
                    raise KeyboardInterrupt
                yield function(part)

    class Counting(LocalEngine):
        done = 0

        def map(self, function, parts, /):  # type: ignore[no-untyped-def]
            for part in parts:
                self.done += 1
                yield function(part)

    images = find_images(str(pictures))
    prompts, judges = [None] * len(images), Judges(scorers=SCORERS[:1])
    with pytest.raises(KeyboardInterrupt):
        score_in_shards(Stopping(), images, prompts, judges, folder=tmp_path)
    counting = Counting()
    resumed = score_in_shards(counting, images, prompts, judges, folder=tmp_path)
    assert counting.done == 3  # the hashes of all, and two of three shards
    direct = score_in_shards(LocalEngine(), images, prompts, judges)
    assert resumed.values["sharpness"].tobytes() == direct.values["sharpness"].tobytes()


def test_broken_images_are_all_named(pictures: Path, tmp_path: Path) -> None:
    for name in ("a.png", "b.png"):
        (tmp_path / name).write_bytes(b"no image")
    images = [*find_images(str(pictures)), *find_images(str(tmp_path))]
    prompts, judges = [None] * len(images), Judges(scorers=SCORERS[:1])
    with pytest.raises(ImageError, match=r"a\.png(.|\n)*b\.png"):
        score_in_shards(LocalEngine(), images, prompts, judges)
    assert len(score_in_shards(LocalEngine(), images, prompts, judges, skip_broken=True).broken) == 2


def test_unknown_engines() -> None:
    with pytest.raises(UserError, match="engine 'spark' is not known; known: local, ray"):
        open_engine("spark")
    with pytest.raises(UserError, match="address"):
        open_engine("local", address="auto")
    with pytest.raises(UserError, match="GPUs are those of Ray's workers"):
        open_engine("local", gpus=1)


@pytest.mark.parametrize("each_rates", [800, 4000])  # sparse products, and dense ones
def test_equal_replicates(ray_engine: Engine, each_rates: int) -> None:
    rng = np.random.default_rng(3)
    what = np.concatenate([rng.permutation(4000)[:each_rates] for _ in range(20)])
    who, values = np.repeat(np.arange(20), each_rates), rng.integers(1, 6, 20 * each_rates)
    weights = rater_weights(np.zeros(20, np.int64), 200, rng)
    for scale in get_args(Scale):
        local, by_ray = (
            krippendorff_alpha(who, what, values, weights, scale=scale, each=each)
            for each in (map, ray_engine.map)
        )
        assert by_ray == local
    local, by_ray = (gwet_ac(who, what, values, weights, each=each) for each in (map, ray_engine.map))
    assert by_ray == local


def test_equal_files_of_scores_and_features(ray_engine: Engine, pictures: Path, tmp_path: Path) -> None:
    images = find_images(str(pictures))
    prompts, measures = [None] * len(images), Measures(Judges(scorers=SCORERS), encoder=NamedEncoder(ENCODER))
    for name, engine in (("local", LocalEngine()), ("ray", ray_engine)):
        folder = tmp_path / name
        store_in_shards(engine, images, prompts, measures, features=folder / "features", cache=folder / "scores")
    written = [path for path in sorted((tmp_path / "local").rglob("*")) if path.is_file()]
    assert {path.name for path in written} >= {"vectors.npy", "hashes.bin", "about.json"}
    for path in written:
        assert (tmp_path / "ray" / path.relative_to(tmp_path / "local")).read_bytes() == path.read_bytes()


class Zipped(LocalEngine):
    """Answers in the memory of one message each, as Ray's are: an array of it holds on to all of it."""

    def __init__(self) -> None:
        self.messages: list[weakref.ref[np.ndarray]] = []

    def held(self) -> int:
        """Return how many messages are still in memory."""
        gc.collect()
        return sum(message() is not None for message in self.messages)

    def map(self, function, parts, /):  # type: ignore[no-untyped-def]
        for part in parts:
            answer, message = function(part), np.zeros(8 * SHARD, np.uint8)
            self.messages.append(weakref.ref(message))
            for name, array in answer.items():
                if array.dtype == np.float64:
                    view = message[: array.nbytes].view(np.float64)
                    view[:] = array
                    answer[name] = view
            yield answer


def test_scores_hold_on_to_numbers_only(pictures: Path) -> None:
    images = find_images(str(pictures))
    prompts, judges, engine = [None] * len(images), Judges(scorers=("brightness",)), Zipped()
    held = list[int]()
    scores = score_in_shards(engine, images, prompts, judges, progress=lambda *_: held.append(engine.held()))
    assert len(engine.messages) == len(held) == 3
    assert max(held) <= 2  # the answer that has come, and the one before
    direct = score_in_shards(LocalEngine(), images, prompts, judges)
    assert scores.values["brightness"].tobytes() == direct.values["brightness"].tobytes()


def test_names_are_those_of_the_images_that_are_left(pictures: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.png").write_bytes(b"no image")
    good = list(find_images(str(pictures)))
    bad = find_images(str(tmp_path))[0]
    images = [bad, *good[:130], bad, *good[130:], bad]
    judges = Judges(scorers=SCORERS[:1])
    scores = score_in_shards(LocalEngine(), images, [None] * len(images), judges, skip_broken=True)
    assert scores.names == [image.name for image in good]
    assert scores.values[SCORERS[0]].shape == scores.prompted.shape == (len(good),)
    assert len(scores.broken) == 3
