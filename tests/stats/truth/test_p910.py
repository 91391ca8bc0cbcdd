from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from sureal.subjective_model import SubjectMLEModelProjectionSolver, SubjectMLEModelProjectionSolver2

from beholder.errors import StatisticsError
from beholder.stats.truth.p910 import p910

Columns = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]


def long(matrix: NDArray[np.float64]) -> Columns:
    """Columns of ``matrix`` (items, raters)."""
    what, who = np.nonzero(~np.isnan(matrix))
    return who, what, matrix[what, who]


def simulate(rng: np.random.Generator, items: int = 60, raters: int = 25) -> NDArray[np.float64]:
    noise = rng.uniform(0.4, 1.5, raters) * rng.normal(size=(items, raters))
    matrix = np.asarray(rng.uniform(1, 5, (items, 1)) + rng.normal(0, 0.3, raters) + noise)
    matrix[rng.random((items, raters)) < 0.2] = np.nan
    return matrix


def test_two_raters_by_hand() -> None:
    # scores 1 3 | 2 6 | 3 3 (raters 0, 1): means 2 4 3; biases −1, +1; residuals 0 −1 1 and 0 1 −1: υ² = 2/3 both,
    # so weights are even: ψ is the mean of scores less bias, 2 4 3 again: nothing moves
    fit = p910([0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 2, 2], [1, 3, 2, 6, 3, 3])
    assert fit.opinion == pytest.approx([2, 4, 3])
    assert fit.bias == pytest.approx([-1, 1])
    assert fit.inconsistency == pytest.approx(np.sqrt([2 / 3, 2 / 3]))
    assert fit.standard_error == pytest.approx(np.full(3, np.sqrt(1 / 3)))  # 1/√(3/2 + 3/2)
    assert fit.residual_error == pytest.approx([0, np.sqrt(1 / 2), np.sqrt(1 / 2)])
    # three residuals each, half of the weight: υ̃² = 2/3 · 3/2 / ½ = 2; V = 1/(½ + ½) · (1 + 4 · 2 · ¼/2) = 2, with
    # 1/(2 · ¼/2) = 4 degrees of freedom, for which t is 2.776445
    assert fit.high - fit.opinion == pytest.approx(np.full(3, 2.776445 * np.sqrt(2)), rel=1e-6)
    assert (fit.iterations, fit.converged) == (1, True)


def test_the_vectors_of_itu() -> None:
    # the sample of ITU-T P.910's reference code (in sureal's repository, Apache-2.0), with the results it prints
    rows = (Path(__file__).parent / "itu_p910_sample.csv").read_text().split()
    fit = p910(*long(np.array([[np.nan if score == "n" else float(score) for score in row] for row in rows])))
    bias = [
        -0.189852445792812, -0.20251067364091327, 0.24052730104263095, 0.11394502256161833, 0.30381844028313737,
        -0.07592839515990071, -0.189852445792812, 0.22732380304814973, -0.31643472427382474, 0.8101475542071879,
        -0.037953711615596894, 0.3291348959793399, 0.4683754023084537, -0.05061193946369816, -0.03795371161559687,
        -0.0379537116155969, 0.0379956554730107, -0.3417511799700272, -0.41770054705863474, -0.1012448508561032,
        -0.012637255919394364, -0.25314358503331835, -0.3037764964257234, -0.4809916862991414, 0.43040071876414987,
        0.08862856686541574,
    ]  # fmt: skip
    inconsistency = [
        1.8339364220090855, 1.792802362622858, 1.605246371617004, 1.7278966070151194, 1.6895604729228137,
        0.786059296814264, 0.8613886077228371, 0.524848660820412, 0.6970790169197443, 0.6017693000691853,
        0.5873782932391999, 0.44599274299540687, 0.6313887803150662, 0.7595221581562296, 0.5730648402836974,
        0.6043549053479051, 0.45920504283107344, 0.5931245873480071, 0.5999448879567825, 0.5536617186771643,
        0.5180284438856356, 0.49438681572660886, 0.47280600362498404, 0.6515047349212039, 0.4837623985925504,
        0.4806602532869842,
    ]  # fmt: skip
    np.testing.assert_allclose(fit.bias, bias, atol=1e-9)
    np.testing.assert_allclose(fit.inconsistency, inconsistency, atol=1e-9)
    first = [4.926232195563247, 4.871884030934237, 4.660024317825715, 4.678210498440895, 4.8068815198945805]
    last = [3.253465182385141, 3.295944878183191, 4.257000295518623, 4.5726059728251345]
    np.testing.assert_allclose(fit.opinion[:5], first, atol=1e-9)
    np.testing.assert_allclose(fit.opinion[-4:], last, atol=1e-9)
    np.testing.assert_allclose(
        fit.residual_error[:3], [0.1548785178603921, 0.19724755984636633, 0.1232903501245844], atol=1e-9
    )


def test_against_sureal(capsys: pytest.CaptureFixture[str]) -> None:
    for seed in range(4):
        matrix = simulate(np.random.default_rng(seed))
        source = SimpleNamespace(opinion_score_3darray=matrix[:, :, None])
        theirs = SubjectMLEModelProjectionSolver._run_modeling(source)
        fit = p910(*long(matrix))
        np.testing.assert_allclose(fit.opinion, theirs["quality_scores"], atol=1e-9)
        np.testing.assert_allclose(fit.standard_error, theirs["quality_scores_std"], atol=1e-9)
        np.testing.assert_allclose(fit.bias, theirs["observer_bias"], atol=1e-9)
        np.testing.assert_allclose(fit.inconsistency, theirs["observer_inconsistency"], atol=1e-9)
        assert fit.iterations == theirs["num_iter"]
        second = SubjectMLEModelProjectionSolver2._run_modeling(source)
        np.testing.assert_allclose(fit.residual_error, second["quality_scores_std"], atol=1e-9)
    capsys.readouterr()  # it prints every iteration


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=15, deadline=None)
def test_laws(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = simulate(rng)
    fit = p910(*long(matrix))
    assert fit.converged
    assert fit.bias.mean() == pytest.approx(0, abs=1e-9)
    lenient = matrix.copy()
    lenient[:, 3] += 2  # a bias moves everyone's zero, but no order and no inconsistency
    other = p910(*long(lenient))
    np.testing.assert_allclose(other.inconsistency, fit.inconsistency, atol=1e-5)
    np.testing.assert_allclose(np.diff(other.opinion), np.diff(fit.opinion), atol=1e-5)


def test_a_careless_rater_weighs_little() -> None:
    rng = np.random.default_rng(8)
    truth = rng.uniform(1, 5, 80)
    matrix = truth[:, None] + rng.normal(0, 0.5, (80, 20))
    matrix[:, 15:] = rng.uniform(1, 5, (80, 5))
    fit = p910(*long(matrix))
    assert not fit.collapsed
    assert np.all(fit.inconsistency[15:] > 2 * fit.inconsistency[:15].max())
    error, plain = (np.std(opinion - truth) for opinion in (fit.opinion, matrix.mean(axis=1)))
    assert error < 0.6 * plain


def test_a_collapse_is_told() -> None:
    rng = np.random.default_rng(0)
    matrix = rng.uniform(1, 5, (60, 1)) + rng.normal(0, [0.2, 1, 1, 1], (60, 4))
    fit = p910(*long(matrix))
    assert fit.collapsed
    np.testing.assert_allclose(fit.opinion - matrix[:, 0], (fit.opinion - matrix[:, 0])[0], atol=1e-3)


def test_degenerate_scores() -> None:
    same = p910([0, 1, 2] * 2, [0, 0, 0, 1, 1, 1], [3.0] * 6)  # everyone agrees
    assert same.opinion == pytest.approx([3, 3])
    assert same.inconsistency == pytest.approx([0, 0, 0])
    assert np.all(same.standard_error < 1e-3)
    gap = p910([0, 2, 0, 2], [0, 0, 2, 2], [1, 2, 3, 5])  # nobody judged item 1, rater 1 judged nothing
    assert np.isnan([gap.opinion[1], gap.standard_error[1], gap.bias[1], gap.inconsistency[1]]).all()
    assert np.isfinite(gap.opinion[[0, 2]]).all()
    with pytest.raises(StatisticsError, match="two answers"):
        p910([0, 0], [0, 1], [1, 2])  # one rater
    with pytest.raises(StatisticsError, match="finite"):
        p910([0, 1], [0, 0], [1, np.nan])
    with pytest.raises(StatisticsError, match="one iteration"):
        p910([0, 1], [0, 0], [1, 2], iterations=0)
    single = p910([0, 1], [0, 0], [1, 2])  # one item: all difference is bias
    assert single.opinion == pytest.approx([1.5])
    assert single.bias == pytest.approx([-0.5, 0.5])


def test_one_score_weighs_nothing() -> None:
    # a bias of their own explains it wholly: the others' opinions are as without them
    rng = np.random.default_rng(7)
    who, what, score = long(rng.uniform(1, 5, (30, 1)) + rng.normal(0, 0.6, (30, 18)))
    before = p910(who, what, score)
    after = p910([*who, 18], [*what, 4], [*score, 5.0])
    assert not after.collapsed
    assert np.isnan(after.inconsistency[18])
    shift = after.opinion - before.opinion
    np.testing.assert_allclose(shift, shift[0], atol=1e-6)  # biases have another mean
    assert after.bias[18] == pytest.approx(5.0 - after.opinion[4])
    np.testing.assert_allclose(after.standard_error, before.standard_error, atol=1e-6)
    lone = p910([*who, 18], [*what, 30], [*score, 5.0])  # nobody else judged item 30
    assert lone.opinion[30] == 5
    assert np.isnan(lone.standard_error[30])


def test_interval_by_a_loop() -> None:
    rng = np.random.default_rng(8)
    matrix = rng.uniform(1, 5, (25, 1)) + rng.normal(0, rng.uniform(0.3, 1, 15), (25, 15))
    who, what, score = long(matrix)
    rows = rng.random(len(who)) < 0.7
    who, what, score = who[rows], what[rows], score[rows]
    fit = p910(who, what, score)
    assert not fit.collapsed
    weight = 1 / (fit.inconsistency**2 + 1e-8)
    of_item = {j: weight[who[what == j]].sum() for j in range(25)}
    true, spare = np.empty(15), np.empty(15)
    for i in range(15):
        proportions = [weight[i] / of_item[j] for j in what[who == i]]
        n = len(proportions)
        spare[i] = n - 1
        true[i] = fit.inconsistency[i] ** 2 * n / (n - 1) / np.mean([1 - h for h in proportions])
    for j in range(25):
        raters = who[what == j]
        h = (1 / true[raters]) / np.sum(1 / true[raters])
        variance = (1 + 4 * np.sum(h * (1 - h) / spare[raters])) / np.sum(1 / true[raters])
        t = stats.t.ppf(0.975, 1 / np.sum(h**2 / spare[raters]))
        assert fit.high[j] - fit.opinion[j] == pytest.approx(t * np.sqrt(variance), rel=1e-6)
        assert fit.opinion[j] - fit.low[j] == pytest.approx(t * np.sqrt(variance), rel=1e-6)


def test_interval_holds_the_truth() -> None:
    rng = np.random.default_rng(9)
    held, plain = [], []
    who, what = (index.ravel() for index in np.indices((30, 40)))
    for _ in range(60):
        truth, bias = rng.uniform(1, 5, 40), rng.normal(0, 0.5, 30)
        noise = rng.uniform(0.3, 1.2, (30, 1)) * rng.normal(size=(30, 40))
        fit = p910(who, what, (truth + bias[:, None] + noise).ravel())
        off = np.abs(fit.opinion - truth - bias.mean())
        held.append(np.mean(off <= fit.high - fit.opinion))
        plain.append(np.mean(off <= 1.96 * fit.standard_error))
    assert 0.93 <= np.mean(held) <= 0.96  # 2,400 items: ± .5 %
    assert np.mean(plain) < 0.93


def ring(raters: int, each: int, items: int, seed: int) -> Columns:
    """Raters who judged ``each`` neighbours on a ring of items: biases spread along it slowly."""
    rng = np.random.default_rng(seed)
    start = np.sort(rng.integers(0, items, raters))
    who, what = np.repeat(np.arange(raters), each), (start[:, None] + np.arange(each)).ravel() % items
    lean, noise = rng.normal(0, 0.3, raters)[who], rng.normal(0, 1, len(who))
    return who, what, np.clip(np.round(3 + np.sin(what) + lean + noise), 1, 5)


def test_a_fit_that_would_not_converge_is_given_up() -> None:
    scores = ring(400, 10, 400, seed=0)
    stubborn, given_up = p910(*scores), p910(*scores, give_up=True)
    assert (stubborn.iterations, stubborn.converged) == (1000, False)
    assert not given_up.converged
    assert given_up.iterations <= 300


@pytest.mark.parametrize("items", [20, 40, 60, 80, 120, 160, 200, 280])
def test_a_fit_that_converges_is_never_given_up(items: int) -> None:
    scores = ring(items, 10, items, seed=items)  # the longer the ring, the slower: from some 50 turns to 1,000
    patient, hasty = p910(*scores), p910(*scores, give_up=True)
    assert hasty.converged == patient.converged
    if patient.converged:
        assert hasty.iterations == patient.iterations
        np.testing.assert_array_equal(hasty.opinion, patient.opinion)
