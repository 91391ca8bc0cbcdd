"""Distances of sets in shards equal those of the whole sets."""

import weakref
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray

from beholder.distances.frechet import frechet
from beholder.distances.frechet_infinity import frechet_infinity
from beholder.distances.kernel import kernel_distance, kernel_subsets
from beholder.distances.neighbours import neighbours
from beholder.distances.result import Distance
from beholder.distances.shards.frechet import frechet_infinity_of_shards, frechet_of_shards
from beholder.distances.shards.kernel import kernel_of_shards, kernel_subsets_of_shards
from beholder.distances.shards.moments import merge, shard_moments
from beholder.distances.shards.neighbours import neighbours_of_shards
from beholder.distances.shards.shard import FeatureFile, FileRows, Held, rows_of_file
from beholder.errors import StatisticsError, UserError

Part = TypeVar("Part")
Answer = TypeVar("Answer")
Vectors = NDArray[Any]


def vectors(images: int, dims: int, seed: int, shift: float = 0.0) -> Vectors:
    rng = np.random.default_rng(seed)
    return np.asarray(rng.normal(shift, 1, (images, dims)) @ rng.normal(0, 1, (dims, dims)) + 50, np.float64)


def cut(features: Vectors, *edges: int) -> list[Held]:
    return [Held(part) for part in np.split(features, sorted(edges))]


def assert_close(first: Distance, second: Distance) -> None:
    assert (first.value, first.low, first.high) == pytest.approx((second.value, second.low, second.high), rel=1e-9)
    assert (first.name, first.method, first.real, first.generated, first.dims, dict(first.settings)) == (
        second.name,
        second.method,
        second.real,
        second.generated,
        second.dims,
        dict(second.settings),
    )


SETS: dict[str, tuple[Vectors, Vectors]] = {
    "more images than dims": (vectors(600, 12, 1), vectors(700, 12, 2, 0.3)),
    "fewer images than dims": (vectors(60, 80, 1), vectors(150, 80, 2, 0.3)),
    "single precision": (
        vectors(400, 10, 3).astype(np.float32),
        vectors(500, 10, 4, 0.2).astype(np.float32),
    ),
}


UNEQUAL: dict[str, tuple[Vectors, Vectors]] = {
    "fewer real images than dims": (vectors(15, 20, 1), vectors(1300, 20, 2, 0.3)),
    "fewer generated images than dims": (vectors(6700, 110, 1), vectors(105, 110, 2, 0.3)),
}
"""Sets of which the larger one is several shards, even joined."""


@pytest.mark.parametrize("name", [*SETS, *UNEQUAL])
def test_frechet(name: str) -> None:
    real, generated = (SETS | UNEQUAL)[name]
    shards = cut(real, 7, 7, 40, len(real) // 2), cut(generated, 99, 130, len(generated) // 2)
    assert_close(frechet_of_shards(*shards), frechet(real, generated))
    assert_close(
        frechet_infinity_of_shards(*shards, rng=np.random.default_rng(5)),
        frechet_infinity(real, generated, rng=np.random.default_rng(5)),
    )


@pytest.mark.parametrize("name", SETS)
def test_kernel(name: str) -> None:
    real, generated = SETS[name]
    shards = cut(real, 9, 40), cut(generated, 99, 130)
    assert_close(kernel_of_shards(*shards), kernel_distance(real, generated))
    assert_close(
        kernel_subsets_of_shards(*shards, rng=np.random.default_rng(5), subsets=4, size=30),
        kernel_subsets(real, generated, rng=np.random.default_rng(5), subsets=4, size=30),
    )


@pytest.mark.parametrize("name", SETS)
def test_neighbours_are_exact(name: str) -> None:
    real, generated = (np.round(each, 1) for each in SETS[name])  # rounded: some distances tie
    generated[3] = real[5]
    direct = neighbours(real, generated, k=3)
    sharded = neighbours_of_shards(cut(real, 2, 40), cut(generated, 1, 99), k=3)
    for field in ("balls", "covered", "recalled"):
        assert np.array_equal(getattr(sharded, field), getattr(direct, field)), field
    for field in ("real_radius", "generated_radius", "real_nearest", "closest_distance"):
        assert getattr(sharded, field) == pytest.approx(getattr(direct, field), rel=1e-12), field
    gap = ((generated - real[sharded.closest]) ** 2).sum(axis=1)
    assert gap == pytest.approx(direct.closest_distance, rel=1e-5 if real.dtype == np.float32 else 1e-12)


def test_moments_merge_in_any_grouping() -> None:
    features = vectors(90, 5, 0)
    parts = [shard_moments(part) for part in np.split(features, [1, 30, 30, 77])]
    merged = merge([parts[4], merge([parts[2], parts[0]]), merge([parts[1], parts[3]])])
    assert merged.images == 90
    assert merged.mean == pytest.approx(features.mean(axis=0), rel=1e-13)
    assert merged.products / 89 == pytest.approx(np.cov(features, rowvar=False), rel=1e-12)


class Counted:
    """Applies functions as ``map`` does, and counts the answers that are still in memory."""

    def __init__(self) -> None:
        self.most = self.answers = 0

    def __call__(self, function: Callable[[Part], Answer], parts: Iterable[Part], /) -> Iterator[Answer]:
        alive: list[weakref.ref[object]] = []
        for part in parts:
            answer = function(part)
            if not isinstance(answer, int | tuple | np.ndarray):  # of which none has matrices of dims × dims
                alive.append(weakref.ref(answer))
                self.answers += 1
            self.most = max(self.most, sum(reference() is not None for reference in alive))
            yield answer


@pytest.mark.parametrize("shards", [5, 20])
def test_few_answers_are_held_whatever_the_number_of_shards(shards: int) -> None:
    real, generated = np.split(vectors(8 * shards, 4, 1), shards), np.split(vectors(120 * shards, 4, 2), shards)
    sets = [Held(part) for part in real], [Held(part) for part in generated]
    plain, infinite = Counted(), Counted()
    frechet_of_shards(*sets, each=plain)
    assert plain.answers == 2 * shards
    assert plain.most <= 3  # the sum, the answer before, and the one that comes
    frechet_infinity_of_shards(*sets, rng=np.random.default_rng(0), each=infinite)
    assert infinite.answers == 4 * shards
    assert infinite.most <= 3


def test_small_shards_are_joined_for_moments() -> None:
    real, generated = SETS["more images than dims"]  # 12 dims: an answer is as large as 24 images
    counted = Counted()
    shards = [[Held(part) for part in np.split(features, 100)] for features in (real, generated)]  # of 6 and 7
    assert_close(frechet_of_shards(*shards, each=counted), frechet(real, generated))
    assert counted.answers == 25 + 25


def test_rows_of_a_file(tmp_path: Path) -> None:
    real, generated = (features.astype(np.float32) for features in SETS["more images than dims"])
    np.save(tmp_path / "both.npy", np.concatenate([generated, real]))
    rows = np.arange(700, 1300)
    shards = rows_of_file(tmp_path / "both.npy", rows, 12, 250)
    assert [shard.rows for shard in shards] == [range(700, 950), range(950, 1200), range(1200, 1300)]
    order = np.random.default_rng(0).permutation(700)
    mixed = rows_of_file(tmp_path / "both.npy", order, 12, 300)
    assert [shard.shape for shard in mixed] == [(300, 12), (300, 12), (100, 12)]
    assert np.concatenate([shard() for shard in mixed]).tobytes() == generated[order].tobytes()
    assert_close(frechet_of_shards(shards, mixed), frechet(real, generated))


def test_a_file_that_a_machine_does_not_reach(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="one that all machines reach"):
        FileRows(tmp_path / "absent.npy", range(3), 2)()


def test_shards_in_files(tmp_path: Path) -> None:
    real, generated = SETS["more images than dims"]
    for number, part in enumerate(np.split(real, 3)):
        np.save(tmp_path / f"{number}.npy", part)
    files = [FeatureFile(tmp_path / f"{number}.npy") for number in range(3)]
    assert_close(frechet_of_shards(files, [Held(generated)]), frechet(real, generated))


def test_too_few_images() -> None:
    one, many = [Held(np.zeros((1, 3))), Held(np.zeros((0, 3)))], [Held(np.ones((9, 3)))] * 2
    with pytest.raises(StatisticsError, match="1 real images; needed are at least 2; 1 generated images"):
        frechet_of_shards(one, one)
    with pytest.raises(StatisticsError, match="1 images in all shards"):
        frechet_of_shards(many, one)
    with pytest.raises(StatisticsError, match="1 real and 18 generated images; needed are at least 2 of each"):
        kernel_of_shards(one, many)
    with pytest.raises(StatisticsError, match="found 5, 1 and 1"):
        neighbours_of_shards(one, one)
