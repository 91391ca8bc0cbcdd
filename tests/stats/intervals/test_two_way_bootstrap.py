import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import special, stats

from beholder.errors import StatisticsError
from beholder.stats.intervals import two_way_bootstrap
from beholder.stats.intervals.bootstrap import clustered_ratio, rater_weights
from beholder.stats.intervals.two_way_bootstrap import METHOD, two_way_ratio, two_way_replicates

# raters 0 and 1 judged images 0 and 1; the answers of rater 0 were 1 and 0, those of rater 1 both 1
WHO, WHAT, ANSWER = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([1, 0, 1, 1])
ONES, CELL = np.ones(4), np.zeros(4, np.int64)


def weights(
    rater_count: int, images: int, replicates: int, rng: np.random.Generator
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    return (
        rater_weights(np.zeros(rater_count, np.int64), replicates, rng),
        rater_weights(np.zeros(images, np.int64), replicates, rng),
    )


def study(
    rng: np.random.Generator,
    rater_count: int,
    images: int,
    *,
    taste: float = 0.7,
    looks: float = 0.7,
    coverage: float = 1.0,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return raters, images and answers of 0 or 1; ``taste`` and ``looks`` are standard deviations in logits."""
    logit = rng.normal(0, taste, rater_count)[:, None] + rng.normal(0, looks, images)
    answers = rng.random((rater_count, images)) < special.expit(logit)
    who, what = np.nonzero(rng.random((rater_count, images)) < coverage)
    return who, what, answers[who, what].astype(np.float64)


def test_replicates_by_hand() -> None:
    # rater 0 twice: (1 + 0)/2; image 0 twice: (1 + 1)/2; rater 0 twice, image 1 twice: 0; all once: 3/4
    u = np.array([[2, 0], [1, 1], [2, 0], [1, 1]])
    v = np.array([[1, 1], [2, 0], [0, 2], [1, 1]])
    ratios = two_way_replicates(WHO, WHAT, ANSWER, ONES, CELL, u, v)
    np.testing.assert_allclose(ratios[:, 0], [0.5, 1, 0, 0.75])


def test_interval_by_hand() -> None:
    # value .75, l = ¼ −¾; ¼ ¼. Raters −½, ½: P = ½; images ½, −½: Q = ½; R = 3/16 + 9/16 = ¾; P + Q + R = 1.75
    # two raters and two images: (2/1)² = 4, P′ = Q′ = 2; four pairs: R′ = ¾ · (4/3)² = 4/3; V = 8/3
    # ν = (8/3)²/(4 + 4) = .889, at least 1; at level .5, t.75,1 = 1, reach √(8/3 / 1.75) = 1.234427
    # cubes cancel, and half the replicates .5, .75, 1 lie below: Φ(−1.234427) = .108521, × 2 places × ¼ = .054261
    u, v = np.array([[2, 0], [1, 1], [0, 2]]), np.ones((3, 2), np.int64)
    ratio = two_way_ratio(WHO, WHAT, ANSWER, ONES, CELL, u, v, level=0.5)[0]
    assert ratio.value == 0.75
    assert (ratio.low, ratio.high) == pytest.approx((0.554261, 0.945739), abs=2e-6)
    assert (ratio.raters, ratio.items, ratio.answers, ratio.replicates) == (2, 2, 4, 3)
    assert ratio.method == METHOD


def explicit(
    who: NDArray[np.int64],
    what: NDArray[np.int64],
    answer: NDArray[np.float64],
    u: NDArray[np.int32],
    v: NDArray[np.int32],
) -> tuple[float, float]:
    """The confidence interval of one cell as the docstrings state it, answer by answer."""
    value = answer.mean()
    replicates = []
    for rater, image in zip(u, v, strict=True):
        above = sum(rater[i] * image[j] * y for i, j, y in zip(who, what, answer, strict=True))
        below = sum(rater[i] * image[j] for i, j in zip(who, what, strict=True))
        replicates.append(above / below)
    pull = answer - value
    by_rater = np.array([pull[who == i].sum() for i in np.unique(who)])
    images = np.array([pull[what == j].sum() for j in np.unique(what)])
    squares = [(by_rater**2).sum(), (images**2).sum(), (pull**2).sum()]
    loads = [np.unique(who, return_counts=True)[1], np.unique(what, return_counts=True)[1], np.ones(len(who))]
    kish = [load.sum() ** 2 / (load**2).sum() for load in loads]
    p, q, r = (square * (m / (m - 1)) ** 2 for square, m in zip(squares, kish, strict=True))
    variance = max(p + q - r, p, q)
    fewer = len(by_rater) - 1, len(images) - 1
    degrees = min(max(variance**2 / (p**2 / fewer[0] + q**2 / fewer[1]), min(fewer)), max(fewer))
    reach = stats.t.ppf(0.975, degrees) * (variance / sum(squares)) ** 0.5
    bend = ((by_rater**3).sum() + (images**3).sum()) / (6 * (squares[0] + squares[1]) ** 1.5)
    bias = stats.norm.ppf(np.mean(np.array(replicates) < value) + np.mean(np.array(replicates) == value) / 2)
    places = [stats.norm.cdf(bias + z / (1 - bend * z)) for z in (bias - reach, bias + reach)]
    return float(np.quantile(replicates, places[0])), float(np.quantile(replicates, places[1]))


@pytest.mark.parametrize("coverage", [1.0, 0.6])
def test_against_an_explicit_loop(coverage: float) -> None:
    rng = np.random.default_rng(0)
    who, what, answer = study(rng, 8, 12, coverage=coverage)
    u, v = weights(8, 12, 200, rng)
    ratio = two_way_ratio(who, what, answer, np.ones(len(who)), np.zeros(len(who), np.int64), u, v)[0]
    assert (ratio.low, ratio.high) == pytest.approx(explicit(who, what, answer, u, v), abs=1e-9)


def test_cells_are_as_if_alone() -> None:
    rng = np.random.default_rng(1)
    who, what, answer = study(rng, 9, 20, coverage=0.7)
    u, v = weights(9, 20, 300, rng)
    cell = what % 2
    both = two_way_ratio(who, what, answer, np.ones(len(who)), cell, u, v)
    for index in (0, 1):
        of = cell == index
        part = np.zeros(of.sum(), np.int64)
        alone = two_way_ratio(who[of], what[of], answer[of], np.ones(of.sum()), part, u, v)[0]
        assert (both.low[index], both.high[index]) == pytest.approx((alone.low, alone.high))
        assert (both[index].raters, both[index].items, both[index].answers) == (9, 10, of.sum())


def test_sparse_answers_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    who, what, answer = study(rng, 40, 60, coverage=0.06)
    arguments = (who, what, answer, np.ones(len(who)), what % 3, *weights(40, 60, 50, rng))
    dense = two_way_replicates(*arguments)
    monkeypatch.setattr(two_way_bootstrap, "_BLOCK", 100)  # sparse products, a replicate or two at a time
    np.testing.assert_allclose(two_way_replicates(*arguments), dense, atol=1e-12)


def test_without_an_image_effect_the_width_is_that_over_raters() -> None:
    rng = np.random.default_rng(3)
    ratios = []
    for _ in range(12):
        who, what, answer = study(rng, 30, 150, looks=0.0)
        u, v = weights(30, 150, 1000, rng)
        both = two_way_ratio(who, what, answer, np.ones(len(who)), np.zeros(len(who), np.int64), u, v)[0]
        above = np.bincount(who, answer)[:, None]
        over_raters = clustered_ratio(above, np.bincount(who)[:, None], u)[0]
        ratios.append((both.high - both.low) / (over_raters.high - over_raters.low))
    assert np.mean(ratios) == pytest.approx(1, abs=0.06)


def test_an_image_effect_widens() -> None:
    rng = np.random.default_rng(4)
    who, what, answer = study(rng, 40, 30, taste=0.2, looks=1.5)
    u, v = weights(40, 30, 1000, rng)
    both = two_way_ratio(who, what, answer, np.ones(len(who)), np.zeros(len(who), np.int64), u, v)[0]
    over_raters = clustered_ratio(np.bincount(who, answer)[:, None], np.bincount(who)[:, None], u)[0]
    assert both.high - both.low > 2 * (over_raters.high - over_raters.low)


@given(st.integers(3, 12), st.integers(3, 15), st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_laws(rater_count: int, images: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    who, what, answer = study(rng, rater_count, images)
    u, v = weights(rater_count, images, 200, rng)
    ones, cell = np.ones(len(who)), np.zeros(len(who), np.int64)
    ratio = two_way_ratio(who, what, answer, ones, cell, u, v)[0]
    shuffled = rng.permutation(len(who))
    again = two_way_ratio(who[shuffled], what[shuffled], answer[shuffled], ones, cell, u, v)[0]
    assert (again.low, again.high) == pytest.approx((ratio.low, ratio.high), abs=1e-9)
    swapped = two_way_ratio(what, who, answer, ones, cell, v, u)[0]  # images take the part of raters
    assert (swapped.low, swapped.high) == pytest.approx((ratio.low, ratio.high), abs=1e-9)
    turned = two_way_ratio(who, what, 1 - answer, ones, cell, u, v)[0]
    assert (turned.low, turned.high) == pytest.approx((1 - ratio.high, 1 - ratio.low), abs=1e-9)
    wide = two_way_ratio(who, what, answer, ones, cell, u, v, level=0.99)[0]
    assert wide.low <= ratio.low <= ratio.high <= wide.high


def test_answers_all_alike_give_a_point() -> None:
    rng = np.random.default_rng(5)
    who, what, answer = study(rng, 6, 8)
    u, v = weights(6, 8, 200, rng)
    ratio = two_way_ratio(who, what, np.full(len(answer), 0.3), np.ones(48), np.zeros(48, np.int64), u, v)[0]
    assert [ratio.low, ratio.value, ratio.high] == pytest.approx([0.3] * 3)


def test_one_rater_or_one_image_gives_no_interval() -> None:
    rng = np.random.default_rng(6)
    for rater_count, images in ((1, 9), (9, 1), (1, 1)):
        who, what, answer = study(rng, rater_count, images)
        u, v = weights(rater_count, images, 50, rng)
        ratio = two_way_ratio(who, what, answer, np.ones(len(who)), np.zeros(len(who), np.int64), u, v)[0]
        assert ratio.value == pytest.approx(answer.mean())
        assert np.isnan([ratio.low, ratio.high]).all()


def test_coverage() -> None:
    # 150 studies; benchmarks/coverage_two_way.py does this at length
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(150):
        who, what, answer = study(rng, 20, 40)
        u, v = weights(20, 40, 600, rng)
        ratio = two_way_ratio(who, what, answer, np.ones(len(who)), np.zeros(len(who), np.int64), u, v)[0]
        held += ratio.low <= 0.5 <= ratio.high
    assert 0.9 <= held / 150 <= 0.99


def test_nonsense_is_refused() -> None:
    u, v = np.ones((3, 2), np.int64), np.ones((3, 2), np.int64)
    with pytest.raises(StatisticsError, match="of one length"):
        two_way_ratio(WHO, WHAT[:3], ANSWER, ONES, CELL, u, v)
    with pytest.raises(StatisticsError, match="of one length"):
        two_way_ratio(WHO.astype(float), WHAT, ANSWER, ONES, CELL, u, v)
    with pytest.raises(StatisticsError, match="at least one row"):
        two_way_ratio(WHO[:0], WHAT[:0], ANSWER[:0], ONES[:0], CELL[:0], u, v)
    with pytest.raises(StatisticsError, match="finite"):
        two_way_ratio(WHO, WHAT, ANSWER, -ONES, CELL, u, v)
    with pytest.raises(StatisticsError, match="found none for 0, 1"):
        two_way_ratio(WHO, WHAT, ANSWER, ONES, CELL + 2, u, v)
    with pytest.raises(StatisticsError, match="as many replicates"):
        two_way_ratio(WHO, WHAT, ANSWER, ONES, CELL, u, v[:2])
    with pytest.raises(StatisticsError, match="2 raters and 2 images"):
        two_way_ratio(WHO, WHAT, ANSWER, ONES, CELL, u[:, :1], v)
    with pytest.raises(StatisticsError, match="level"):
        two_way_ratio(WHO, WHAT, ANSWER, ONES, CELL, u, v, level=95)
