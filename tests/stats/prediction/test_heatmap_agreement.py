import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import pearsonr
from sklearn.metrics import roc_auc_score

from beholder.errors import StatisticsError
from beholder.stats.prediction.heatmap_agreement import MEASURES, auc_judd, heatmap_agreement

Maps = NDArray[np.float64]

PYSALIENCY = (
    (-0.0591330790195173, 2.57756350245863, 0.123812636784518, -0.281484775475802, 0.42183908045977),
    (0.000554076933181012, 3.65670412833182, 0.185714285714286, -0.00545031971661559, 0.497384273937857),
    (-0.0444499630173815, 9.50271402855282, 0.0928709700417533, -0.107884164338684, 0.411602209944751),
    (-0.00242802960481051, 2.30937914173254, 0.149938620765728, 0.0368586428718306, 0.525574712643678),
    (-0.107182120797127, 4.07098258878036, 0.121681415929204, -0.205096920576967, 0.429586038961039),
    (-0.0251914322692461, 6.89376549082111, 0.129004435442343, -0.0874157760991458, 0.504873294346979),
)
"""CC, MIT_KLDiv, SIM, mean NSS and AUC with thresholds at fixations of pysaliency 0.2.22 for ``golden_maps``."""


def golden_maps(case: int) -> tuple[Maps, Maps]:
    rng = np.random.default_rng(case)
    predicted = rng.random((12, 17))
    marked = (rng.random((12, 17)) < 0.15) * rng.integers(1, 4, (12, 17)) / 3
    if case % 3 == 1:
        predicted = np.round(predicted * 4) / 4  # many ties
    if case % 3 == 2:
        predicted = predicted**6
    return predicted, marked


def test_golden_table() -> None:
    predicted, marked = (np.stack(maps) for maps in zip(*map(golden_maps, range(6)), strict=True))
    agreement = heatmap_agreement(predicted, marked)
    for column, name in enumerate(("cc", "kld", "sim", "nss", "auc-judd")):
        assert agreement.values[name] == pytest.approx([row[column] for row in PYSALIENCY], rel=1e-9)


def test_by_hand() -> None:
    predicted = np.array([[[0.4, 0.3], [0.2, 0.1]]])
    marked = np.array([[[1.0, 0.0], [1.0, 0.0]]])
    agreement = heatmap_agreement(predicted, marked)
    assert agreement.values["mse"][0] == pytest.approx((0.36 + 0.09 + 0.64 + 0.01) / 4)
    assert agreement.values["cc"][0] == pytest.approx(0.1 / np.sqrt(0.05))
    assert agreement.values["sim"][0] == pytest.approx(0.4 + 0.2)
    assert agreement.values["kld"][0] == pytest.approx(0.5 * np.log(0.5 / 0.4) + 0.5 * np.log(0.5 / 0.2))
    assert agreement.values["nss"][0] == pytest.approx(0.05 / np.sqrt(0.05 / 4))
    # (0, 0) → (0, ½) at .4 → (½, 1) at .2 → (1, 1)
    assert agreement.values["auc-judd"][0] == pytest.approx(0.5 * 0.75 + 0.5)


@given(st.integers(0, 2**32 - 1))
def test_oracles_and_laws(seed: int) -> None:
    rng = np.random.default_rng(seed)
    predicted = rng.random((2, 40, 40))
    marked = (rng.random((2, 40, 40)) < 0.3) * rng.integers(1, 4, (2, 40, 40)) / 3
    agreement = heatmap_agreement(predicted, marked)
    for image in range(2):
        p, g = predicted[image].ravel(), marked[image].ravel()
        assert agreement.values["cc"][image] == pytest.approx(pearsonr(p, g).statistic, abs=1e-9)
        fixated = g > 0
        half_a_step = 0.5001 / fixated.sum()  # thresholds at fixations alone cut the corners of the curve
        assert agreement.values["auc-judd"][image] == pytest.approx(roc_auc_score(fixated, p), abs=half_a_step)
        # NSS weighted by intensity is CC · sd(G) / mean(G)
        weighted = float((g * (p - p.mean())).sum() / g.sum() / p.std())
        assert weighted == pytest.approx(agreement.values["cc"][image] * g.std() / g.mean(), rel=1e-9)
    stretched = heatmap_agreement(7 * predicted, marked)
    for name in ("cc", "kld", "sim", "nss", "auc-judd"):
        assert stretched.values[name] == pytest.approx(agreement.values[name], rel=1e-9)
    bent = heatmap_agreement(predicted**3, marked)
    assert bent.values["auc-judd"] == pytest.approx(agreement.values["auc-judd"], rel=1e-12)
    perfect = heatmap_agreement(marked, marked)
    assert perfect.values["mse"].tolist() == [0, 0]
    for name, best in (("cc", 1), ("sim", 1), ("kld", 0), ("auc-judd", 1)):
        assert perfect.values[name] == pytest.approx(best, abs=1e-12)


def test_scikit_learn_at_the_size_of_a_picture() -> None:
    rng = np.random.default_rng(4)
    y, x = np.mgrid[:256, :256] / 256
    marked = ((y - 0.4) ** 2 + (x - 0.6) ** 2 < 0.05).astype(np.float64)
    predicted = np.exp(-((y - 0.5) ** 2 + (x - 0.5) ** 2) / 0.1) + 0.2 * rng.random((256, 256))
    auc = heatmap_agreement(predicted[None], marked[None]).values["auc-judd"][0]
    assert auc == pytest.approx(roc_auc_score(marked.ravel() > 0, predicted.ravel()), abs=1e-4)


def test_degenerate_maps_are_defined() -> None:
    flat, zero = np.full((1, 4, 4), 0.3), np.zeros((1, 4, 4))
    marked = np.zeros((1, 4, 4))
    marked[0, :2] = 1 / 3
    for constant in (flat, zero):
        measures = {name: column[0] for name, column in heatmap_agreement(constant, marked).values.items()}
        assert (measures["cc"], measures["nss"], measures["auc-judd"]) == (0, 0, 0.5)
        assert (measures["sim"], measures["kld"]) == pytest.approx((0.5, np.log(2)))
    nothing = heatmap_agreement(flat, zero)
    assert nothing.empty.tolist() == [True]
    assert nothing.values["mse"][0] == pytest.approx(0.09)
    assert np.isnan([nothing.values[name][0] for name in MEASURES[1:]]).all()
    everything = heatmap_agreement(np.arange(16.0).reshape(1, 4, 4), np.ones((1, 4, 4)))
    assert np.isnan([everything.values[name][0] for name in ("cc", "auc-judd")]).all()
    no_majority = heatmap_agreement(np.arange(16.0).reshape(1, 4, 4), marked, rule="majority")
    assert np.isnan([no_majority.values[name][0] for name in ("nss", "auc-judd")]).all()
    assert not np.isnan(no_majority.values["cc"][0])


def test_means_take_each_measure_where_it_is_defined() -> None:
    predicted = np.array([[[0.0, 0.5]], [[0.5, 0.5]], [[1.0, 0.0]]])
    marked = np.array([[[0.0, 1.0]], [[0.0, 0.0]], [[0.0, 1.0]]])
    means = heatmap_agreement(predicted, marked).means()
    assert means["mse"] == pytest.approx((0.125 + 0.25 + 1) / 3)
    assert means["mse-empty"] == pytest.approx(0.25)
    assert means["cc"] == pytest.approx(0)  # +1 and −1
    assert list(means) == ["mse", "mse-empty", "cc", "kld", "sim", "nss", "auc-judd"]


def test_rules_of_fixation() -> None:
    rng = np.random.default_rng(2)
    predicted, marked = rng.random((1, 9, 9)), rng.integers(0, 4, (1, 9, 9)) / 3
    points = marked == 1
    assert heatmap_agreement(predicted, marked, rule="points", points=points).values["nss"] == pytest.approx(
        (predicted[points].mean() - predicted.mean()) / predicted.std()
    )
    majority = heatmap_agreement(predicted, marked, rule="majority")
    assert majority.values["nss"] == pytest.approx(
        (predicted[marked > 0.5].mean() - predicted.mean()) / predicted.std()
    )
    assert majority.rule == "majority"


def test_single_precision_keeps_the_order() -> None:
    rng = np.random.default_rng(5)
    predicted, marked = rng.random((1, 30, 30), np.float32), (rng.random((1, 30, 30)) < 0.2).astype(np.float32)
    single = heatmap_agreement(predicted, marked)
    double = heatmap_agreement(predicted.astype(np.float64), marked.astype(np.float64))
    for name in MEASURES:
        assert single.values[name] == pytest.approx(double.values[name], rel=1e-12)


def test_area_of_few_fixations() -> None:
    assert auc_judd([3.0], [1.0, 2.0, 3.0]) == 1
    assert auc_judd([1.0], [1.0, 2.0, 3.0]) == pytest.approx(0.5)  # (0, 0) → (1, 1): one corner, cut
    assert np.isnan(auc_judd([], [1.0, 2.0]))
    assert np.isnan(auc_judd([1.0, 2.0], [1.0, 2.0]))


@pytest.mark.parametrize(
    ("predicted", "marked", "more", "says"),
    [
        (np.zeros((2, 3)), np.zeros((2, 3)), {}, r"\(images, height, width\)"),
        (np.zeros((1, 2, 3)), np.zeros((1, 3, 2)), {}, r"found \(1, 2, 3\) and \(1, 3, 2\)"),
        (np.full((1, 2, 2), np.nan), np.zeros((1, 2, 2)), {}, "predicted heatmaps need finite"),
        (np.zeros((1, 2, 2)), np.full((1, 2, 2), -0.5), {}, "0 or more; found -0.5"),
        (np.zeros((1, 2, 2)), np.zeros((1, 2, 2)), {"rule": "clicks"}, "any, majority or points; found 'clicks'"),
        (np.zeros((1, 2, 2)), np.zeros((1, 2, 2)), {"rule": "points"}, "needs points of shape"),
        (np.zeros((1, 2, 2)), np.zeros((1, 2, 2)), {"points": np.ones((1, 2, 2))}, "belong to the rule"),
    ],
)
def test_refused(predicted: Maps, marked: Maps, more: dict[str, object], says: str) -> None:
    with pytest.raises(StatisticsError, match=says):
        heatmap_agreement(predicted, marked, **more)  # type: ignore[arg-type]
