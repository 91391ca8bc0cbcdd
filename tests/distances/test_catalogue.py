import re
from pathlib import Path

import numpy as np
import pytest

from beholder.distances.aliases import ALIASES
from beholder.distances.catalogue import DISTANCES, Sets, compute_distances
from beholder.errors import StatisticsError

ROOT = Path(__file__).parents[2]


def some_sets(shift: float = 0.0, seed: int = 0, generated: int = 300) -> Sets:
    rng = np.random.default_rng(1)
    real, train = rng.normal(size=(300, 6)), rng.normal(size=(300, 6))
    generated_features = rng.normal(shift, 1, (generated, 6))
    return Sets(real, generated_features, train=train, logits=generated_features, seed=seed)


@pytest.mark.parametrize("name", DISTANCES)
def test_every_distance(name: str) -> None:
    sets = some_sets()
    distance = compute_distances([name], sets)[name]
    assert distance.name == name
    assert distance.low <= distance.value <= distance.high
    assert distance.level == 0.95
    assert distance.method
    assert (distance.generated, distance.dims) == (300, 6)
    assert distance.real == (300 if "real" in DISTANCES[name].needs else 0)
    assert distance == compute_distances([name], some_sets())[name]  # the seed reproduces it
    assert DISTANCES[name].compute(Sets(**(vars(some_sets()) | {"level": 0.5}))).level == 0.5


@pytest.mark.parametrize("name", [name for name, each in DISTANCES.items() if "real" in each.needs])
def test_worse_when_further(name: str) -> None:
    near, far = (DISTANCES[name].compute(some_sets(shift)).value for shift in (0.3, 4.0))
    if name == "authenticity":  # it depends on whether an image is a copy, not on how far it is from the real ones
        assert far >= near
    elif DISTANCES[name].better == "higher":
        assert far < near
    else:
        assert abs(far) > abs(near)


@pytest.mark.parametrize("name", DISTANCES)
def test_faults_are_reported(name: str) -> None:
    sets = some_sets()
    spoiled = sets.generated.copy()
    spoiled[7, 2] = np.nan
    for bad, message in [
        (spoiled, "1 of 300 generated images have NaN or infinite features, the first is row 7"),
        (spoiled[:0], "0 generated images; needed are at least"),
        (spoiled[:1], "1 generated images; needed are at least"),
    ]:
        with pytest.raises(StatisticsError, match=message):
            DISTANCES[name].compute(Sets(sets.real, bad, train=sets.train, logits=bad))


IDENTICAL = {
    **dict.fromkeys(("frechet", "cmmd", "sliced_wasserstein", "authenticity"), 0.0),
    **dict.fromkeys(("precision", "recall", "density", "coverage"), 1.0),
    "realism": np.inf,  # half of the images lie in the middle of a narrow ball, at no distance from it
}
"""The distance of a set to itself. Unbiased estimates are a little below 0, and C_T has nothing to compare."""


@pytest.mark.parametrize("name", DISTANCES)
def test_identical_sets(name: str) -> None:
    real = some_sets().real
    distance = DISTANCES[name].compute(Sets(real, real.copy(), train=real.copy(), logits=real))
    if name in IDENTICAL:
        assert distance.value == pytest.approx(IDENTICAL[name], abs=1e-12)
    elif DISTANCES[name].better == "lower":
        assert -0.1 < distance.value < 0
    elif name == "ct":
        assert abs(distance.value) < 0.01
    else:
        assert {"real"}.isdisjoint(DISTANCES[name].needs)  # looks at generated images alone


@pytest.mark.parametrize("name", DISTANCES)
def test_two_images_have_a_value_or_a_message(name: str) -> None:
    x = some_sets().real
    sets = Sets(x[:2], x[2:4], train=x[4:6], logits=x[2:4])
    if name in ("frechet", "kernel", "kernel_subsets", "cmmd", "inception_score", "vendi", "sliced_wasserstein"):
        assert np.isfinite(DISTANCES[name].compute(sets).value)
    else:
        with pytest.raises(StatisticsError, match="2 generated images; needed are at least"):
            DISTANCES[name].compute(sets)


def test_neighbours_are_searched_once() -> None:
    sets = some_sets()
    compute_distances(["precision"], sets)
    assert sets.neighbours is sets.neighbours
    assert compute_distances(["recall"], sets)["recall"].settings == {"k": 5}


def test_unknown_names_and_missing_sets() -> None:
    sets = Sets(np.ones((3, 2)), np.ones((3, 2)))
    with pytest.raises(
        StatisticsError, match=r"'fid' is not known; known: frechet, .*; 'ct' needs train features"
    ):
        compute_distances(["fid", "ct", "frechet"], sets)
    with pytest.raises(StatisticsError, match="'inception_score' needs logits"):
        compute_distances(["inception_score"], sets)


def test_every_distance_is_documented() -> None:
    text = (ROOT / "docs/reference/measure.md").read_text(encoding="utf-8")
    page = text.partition("### Confidence intervals")[0]
    rows = re.findall(r"^\| `(\w+)` \|", page, re.M)
    assert [name for name in rows if name not in ALIASES] == list(DISTANCES)
