"""What a user waits for, each task as it is done now and as it was done at first, on the same inputs.

The first ways are written out here: every pixel statistic from its own planes, agreement of pairs from a table of
all items, P.910 answer by answer, Kendall's τ of each replicate by sorting.
"""

from collections.abc import Callable, Iterator

import numpy as np
from harness import Comparison
from numpy.typing import NDArray
from PIL import Image
from scipy import sparse, stats

from beholder.scorers.catalogue import PIXELS, SCORERS, load_scorer
from beholder.scorers.planes import Planes
from beholder.scorers.scorer import ScorerInput
from beholder.stats.agreement.answers import long_answers
from beholder.stats.agreement.pair_agreement import beyond_chance, on_pairs
from beholder.stats.correlation.bootstrap import correlation_replicates
from beholder.stats.intervals.bootstrap import rater_weights
from beholder.stats.truth.p910 import p910

Numbers = NDArray[np.float64]
PACKAGE = "beholder"
"""The peer is beholder itself, as it was at first."""


def comparisons() -> Iterator[Comparison]:
    """Return one row per task."""
    yield _pixel_statistics()
    yield _gwet()
    yield _p910()
    yield _kendall()


def _pixel_statistics() -> Comparison:
    pixels = np.random.default_rng(0).integers(0, 256, (512, 512, 3), np.uint8)
    image = Image.fromarray(pixels)
    names = [name for name in PIXELS if "image" in SCORERS[name].needs]
    scorers = [load_scorer(name) for name in names]

    def shared() -> list[float]:
        planes = Planes(pixels)
        return [scorer.of_planes(planes) for scorer in scorers if scorer.of_planes]

    def alone() -> list[float]:
        return [float(scorer.score([ScorerInput(image)])[0]) for scorer in scorers]

    assert shared() == alone()
    return Comparison(
        "nine pixel statistics of an image of 512 × 512 px: shared planes, each alone", shared, alone, PACKAGE
    )


def _gwet() -> Comparison:
    rng = np.random.default_rng(1)
    raters, items = 400, 60_000
    who = np.repeat(np.arange(raters), 250)
    what = np.concatenate([rng.permutation(items)[:250] for _ in range(raters)])
    category = rng.integers(0, 3, len(who))
    answers = long_answers(who, what, category, rater_count=raters)
    weights = rater_weights(np.zeros(raters, np.int64), 1000, rng).astype(np.float64)
    now = on_pairs(answers, category, np.eye(3), _ac1)
    _, item = np.unique(what, return_inverse=True)
    gave = sparse.csr_array((np.ones(len(item)), (item * 3 + category, who)), shape=((item.max() + 1) * 3, raters))

    def before() -> Numbers:
        values = []
        for begin in range(0, len(weights), 16):
            drawn = np.ascontiguousarray(weights[begin : begin + 16].T)
            sums, squares = (np.asarray(gave @ w).reshape(-1, 3, drawn.shape[1]) for w in (drawn, drawn**2))
            values.append(_ac1(*_pair_agreement(sums, squares)))
        return np.concatenate(values)

    np.testing.assert_allclose(now(weights), before(), atol=1e-12)
    return Comparison(
        "Gwet's AC1 of 100,000 votes on pairs, 1,000 replicates", lambda: now(weights), before, PACKAGE, 3
    )


def _ac1(observed: Numbers, proportions: Numbers) -> Numbers:
    return beyond_chance(observed, (proportions * (1 - proportions)).sum(axis=0) / 2)


def _pair_agreement(sums: Numbers, squares: Numbers) -> tuple[Numbers, Numbers]:
    size, copies = sums.sum(axis=1), squares.sum(axis=1)
    pairs = size**2 - copies
    agree = np.einsum("icd,icd->id", sums, sums) - copies
    proportions = np.divide(sums, size[:, None], out=np.zeros_like(sums), where=size[:, None] > 0)
    each = np.divide(agree, pairs, out=np.zeros_like(pairs), where=pairs > 0)
    paired, judged = (pairs > 0).sum(axis=0), (size > 0).sum(axis=0)
    return each.sum(axis=0) / np.maximum(paired, 1), proportions.sum(axis=0) / np.maximum(judged, 1)


def _p910() -> Comparison:
    rng = np.random.default_rng(2)
    raters, items, each, turns = 1600, 20_000, 250, 100
    who = np.repeat(np.arange(raters), each)
    what = np.concatenate([(rng.integers(items) + np.arange(each)) % items for _ in range(raters)])
    score = np.clip(np.rint(rng.uniform(1, 5, items)[what] + rng.normal(0, 0.7, len(what))), 1, 5)

    def now() -> Numbers:
        return p910(who, what, score, iterations=turns, tolerance=1e-300).opinion

    def before() -> Numbers:
        by_item, by_rater = np.bincount(what), np.bincount(who)
        opinion = np.bincount(what, score) / by_item
        bias = np.bincount(who, score - opinion[what]) / by_rater
        for _ in range(turns):
            residual = score - opinion[what] - bias[who]
            off = residual - (np.bincount(who, residual) / by_rater)[who]
            weight = 1 / (np.bincount(who, off**2) / by_rater + 1e-8)
            opinion = np.bincount(what, weight[who] * (score - bias[who])) / np.bincount(what, weight[who])
            bias = np.bincount(who, score - opinion[what]) / by_rater
        return np.asarray(opinion + bias.mean(), np.float64)

    np.testing.assert_allclose(now(), before(), atol=1e-9)
    return Comparison("P.910 of 400,000 ratings, 100 iterations", now, before, PACKAGE, 3)


def _kendall() -> Comparison:
    rng = np.random.default_rng(3)
    points, prompts = 2400, 300
    prompt = rng.integers(0, prompts, points)
    prompt[:prompts] = np.arange(prompts)
    x = rng.normal(size=points)
    y = x + rng.normal(size=points)
    left = 1 - np.eye(prompts, dtype=np.int32)

    def before() -> Numbers:
        kept = (np.flatnonzero(row[prompt]) for row in left)
        return np.array([stats.kendalltau(x[rows], y[rows], method="asymptotic").statistic for rows in kept])

    now: Callable[[], Numbers] = lambda: correlation_replicates(x, y, left, kind="kendall", clusters=prompt)  # noqa: E731
    np.testing.assert_allclose(now(), before(), atol=1e-12)
    return Comparison("Kendall's τ of 2,400 images, each of 300 prompts left out", now, before, PACKAGE, 3)
