import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

from beholder.distances.cells import cell_centres, cells_of, principal_components
from beholder.distances.ct import copying_test, ct
from beholder.errors import StatisticsError

Floats = NDArray[np.float64]


def blobs(seed: int, count: int, dims: int = 6) -> Floats:
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(10 * place, 1, (count, dims)) for place in range(3)])


def test_by_hand() -> None:
    # held-out 2, 4; generated 1, 3, 5: pairs in which the generated one is further: 3 > 2, 5 > 2, 5 > 4: U = 3
    # Z = (3 − (3 − ½)) / √(6 · 6/12) = ½/√3
    test = copying_test(np.array([2.0, 4]), np.array([1.0, 3, 5]))
    assert test.z == pytest.approx(0.5 / np.sqrt(3))
    # proportion of held-out below: 0, ½, 1, variance ¼; of generated below: 1/3, 2/3, variance 1/18
    assert test.error == pytest.approx(6 * np.sqrt(0.25 / 3 + (1 / 18) / 2) / np.sqrt(3))


def test_against_scipy() -> None:
    rng = np.random.default_rng(0)
    held_out, generated = rng.integers(0, 9, 40).astype(float), rng.integers(1, 9, 30).astype(float)  # with ties
    u = stats.mannwhitneyu(generated, held_out, alternative="less").statistic
    theirs = (u - (40 * 30 / 2 - 0.5)) / np.sqrt(40 * 30 * 71 / 12)
    assert copying_test(held_out, generated).z == pytest.approx(theirs)


def test_cells_and_components() -> None:
    train = blobs(0, 50)
    space = principal_components(train, 3)
    theirs = PCA(3).fit(train)
    assert np.abs(np.sum(space.axes.T * theirs.components_, axis=1)) == pytest.approx(1)
    few = principal_components(train[:5], 3)
    assert np.abs(np.sum(few.axes.T * PCA(3).fit(train[:5]).components_, axis=1)) == pytest.approx(1)
    points = space.project(train)
    cells = cells_of(points, cell_centres(points, 3, np.random.default_rng(1)))
    reference = KMeans(3, n_init=10, random_state=0).fit_predict(points)
    assert len(set(zip(cells.tolist(), reference.tolist(), strict=True))) == 3  # the same cells, other names
    assert len(cell_centres(np.ones((5, 2)), 3, np.random.default_rng(0))) == 3


def test_cells_add_up() -> None:
    train, held_out, generated = blobs(0, 60), blobs(1, 40), blobs(2, 30)
    distance = ct(held_out, generated, train, rng=np.random.default_rng(0))
    # the blobs are the cells, each with a third of the held-out images
    single = []
    for place in range(3):
        near = [
            np.linalg.norm(each[:, None] - train[60 * place : 60 * place + 60], axis=2).min(axis=1)
            for each in (held_out[40 * place : 40 * place + 40], generated[30 * place : 30 * place + 30])
        ]
        single.append(copying_test(*near))
    assert distance.value == pytest.approx(np.mean([each.z for each in single]))
    assert distance.high - distance.value == pytest.approx(
        1.959964 / 3 * np.linalg.norm([each.error for each in single])
    )
    assert distance.settings["cells_used"] == 3
    assert distance == ct(held_out, generated, train, rng=np.random.default_rng(0))


def test_sees_copies_and_misfits() -> None:
    train, held_out, rng = blobs(0, 100), blobs(1, 60), np.random.default_rng(3)
    copies = train[rng.choice(300, 120)] + 0.05 * rng.normal(size=(120, 6))
    assert ct(held_out, copies, train, rng=rng).high < -3
    assert abs(ct(held_out, blobs(9, 40), train, rng=rng).value) < 2.5
    assert ct(held_out, blobs(9, 40) * 1.5, train, rng=rng).low > 3


def test_what_is_not_defined() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(
        StatisticsError, match=r"no cell has 20 generated images beside held-out.*found 9 generated"
    ):
        ct(blobs(0, 9), blobs(1, 3), blobs(2, 9), rng=rng)
    with pytest.raises(StatisticsError, match="held-out and training images: the real features have 6 dims"):
        ct(blobs(0, 9), blobs(1, 9), blobs(2, 9, dims=5), rng=rng)
    with pytest.raises(StatisticsError, match="0 generated images"):
        ct(blobs(0, 9), np.empty((0, 6)), blobs(2, 9), rng=rng)
