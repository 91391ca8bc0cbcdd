import contextlib
import io

import numpy as np
import prdc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from scipy.spatial.distance import cdist

from beholder.distances import screening
from beholder.distances.authenticity import authenticity
from beholder.distances.density_coverage import coverage, density
from beholder.distances.neighbours import Neighbours, neighbours
from beholder.distances.precision_recall import precision, recall
from beholder.errors import StatisticsError

Floats = NDArray[np.float64] | NDArray[np.float32]


def five_values(searched: Neighbours) -> list[float]:
    return [each(searched).value for each in (precision, recall, density, coverage, authenticity)]


def by_definition(real: Floats, generated: Floats, k: int) -> list[float]:
    x, y = real.astype(np.float64), generated.astype(np.float64)
    within_real, within_generated, across = cdist(x, x), cdist(y, y), cdist(x, y)
    real_radius, generated_radius = np.sort(within_real, axis=1)[:, k], np.sort(within_generated, axis=1)[:, k]
    np.fill_diagonal(within_real, np.inf)
    inside = across < real_radius[:, None]
    copied = across.min(axis=0) <= within_real.min(axis=1)[across.argmin(axis=0)]
    hits = [
        inside.any(axis=0),
        (across < generated_radius).any(axis=1),
        inside.sum(axis=0) / k,
        inside.any(axis=1),
    ]
    return [float(each.mean()) for each in (*hits, ~copied)]


def by_prdc(real: Floats, generated: Floats, k: int) -> list[float]:
    with contextlib.redirect_stdout(io.StringIO()):
        values = prdc.compute_prdc(real, generated, nearest_k=k)
    return [float(values[name]) for name in ("precision", "recall", "density", "coverage")]


def test_by_hand() -> None:
    # k = 1 on a line. Real 0, 1, 3, 7: radii 1, 1, 2, 4. Generated 0.5, 4, 20: radii 3.5, 3.5, 16.
    # 0.5 lies in the balls of 0 and 1, and not in that of 3; 4 in those of 3 (1 < 2) and 7 (3 < 4); 20 in none.
    # All four real images lie in a ball of 0.5 or 4 (7 is 3 from 4).
    # 0.5 is ½ from 0, whose nearest is 1 away: a copy; so is 4, 1 from 3, whose nearest is 2 away; 20 is not.
    searched = neighbours([[0.0], [1.0], [3.0], [7.0]], [[0.5], [4.0], [20.0]], k=1)
    assert np.sqrt(searched.real_radius) == pytest.approx([1, 1, 2, 4])
    assert np.sqrt(searched.generated_radius) == pytest.approx([3.5, 3.5, 16])
    assert searched.balls.tolist() == [2, 2, 0]
    assert searched.closest[1:].tolist() == [2, 3]
    assert five_values(searched) == pytest.approx([2 / 3, 1, 4 / 3, 1, 1 / 3])


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("shift", [0.0, 0.3, 1000.0])
def test_against_prdc(single: bool, shift: float) -> None:
    rng = np.random.default_rng(int(shift))
    real: Floats = rng.normal(size=(500, 16))
    generated: Floats = rng.normal(shift, 0.9, (400, 16))
    if single:
        real, generated = real.astype(np.float32), generated.astype(np.float32)
    values = five_values(neighbours(real, generated))
    assert values == pytest.approx(by_definition(real, generated, 5), abs=1e-12)
    assert values[:4] == pytest.approx(by_prdc(real, generated, 5), abs=1e-12)


def test_many_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screening, "BLOCK", 40)
    monkeypatch.setattr(screening.even_blocks, "__defaults__", (40,))
    rng = np.random.default_rng(5)
    real, generated = rng.normal(size=(333, 12)), rng.normal(0.1, 1, (281, 12))
    assert five_values(neighbours(real, generated, k=3)) == pytest.approx(
        by_definition(real, generated, 3), abs=1e-12
    )


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_ties_and_copies(seed: int) -> None:
    # whole numbers: many equal distances, many equal images, on which strict comparison turns
    rng = np.random.default_rng(seed)
    real = rng.integers(0, 4, (60, 3)).astype(np.float64)
    generated = rng.integers(0, 5, (50, 3)).astype(np.float64)
    generated[:20] = real[:20]
    searched = neighbours(real, generated, k=3)
    theirs = by_definition(real, generated, 3)
    assert five_values(searched)[:4] == pytest.approx(theirs[:4], abs=1e-12)
    # where several real images are equally near, either may be named
    across = cdist(generated, real)
    assert np.sqrt(searched.closest_distance) == pytest.approx(across.min(axis=1))
    assert across[np.arange(50), searched.closest] == pytest.approx(across.min(axis=1))


def test_near_ties_beyond_single_precision() -> None:
    # a tight cluster far from the rest: distances within it are below what single precision can tell
    rng = np.random.default_rng(0)
    real = np.concatenate([rng.normal(size=(60, 8)), 50 + 1e-7 * rng.normal(size=(60, 8))])
    generated = np.concatenate([rng.normal(size=(60, 8)), 50 + 1e-7 * rng.normal(size=(60, 8))])
    assert five_values(neighbours(real, generated)) == pytest.approx(by_definition(real, generated, 5), abs=1e-12)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=15)
def test_laws(seed: int) -> None:
    rng = np.random.default_rng(seed)
    real, generated = rng.normal(size=(70, 4)), rng.normal(0.2, 1, (60, 4))
    values = five_values(neighbours(real, generated))
    rotation = stats.ortho_group.rvs(4, random_state=rng)
    moved = neighbours(3 * real[::-1] @ rotation + 2, 3 * generated[rng.permutation(60)] @ rotation + 2)
    assert five_values(moved) == pytest.approx(values, abs=1e-12)
    assert five_values(neighbours(real, real)) == pytest.approx(
        [1, 1, five_values(neighbours(real, real))[2], 1, 0]
    )
    assert five_values(neighbours(real, generated + 100)) == [0, 0, 0, 0, 1]
    mirrored = neighbours(generated, real)
    assert precision(mirrored).value == pytest.approx(values[1])  # recall is precision with the sets exchanged
    for each in (precision, recall, density, coverage, authenticity):
        distance = each(neighbours(real, generated))
        assert 0 <= distance.low <= distance.value <= distance.high


def test_intervals() -> None:
    searched = neighbours([[0.0], [1.0], [3.0], [7.0]], [[0.5], [4.0], [20.0]], k=1)
    wide = precision(searched)
    assert (wide.low, wide.high) == pytest.approx((0.2077, 0.9385), abs=1e-4)  # Wilson, 2 of 3
    assert wide.method == "Wilson over generated images, the others held fixed"
    counts = np.array([2, 2, 0])
    reach = 1.959964 * counts.std(ddof=1) / np.sqrt(3)
    assert density(searched).high == pytest.approx(4 / 3 + reach, rel=1e-6)


def test_all_images_alike() -> None:
    # radii of 0, and nothing is nearer than 0
    assert five_values(neighbours(np.ones((9, 2)), np.ones((8, 2)))) == [0, 0, 0, 0, 0]


def test_what_is_not_defined() -> None:
    with pytest.raises(
        StatisticsError, match="5 real images; needed are at least 6 for k = 5 neighbours; 2 generated"
    ):
        neighbours(np.ones((5, 2)), np.ones((2, 2)))
    with pytest.raises(StatisticsError, match="k has to be at least 1; found 0"):
        neighbours(np.ones((5, 2)), np.ones((5, 2)), k=0)
    with pytest.raises(StatisticsError, match="NaN or infinite"):
        neighbours(np.full((9, 2), np.inf), np.ones((9, 2)))
