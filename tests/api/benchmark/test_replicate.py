"""A study is reproduced from its lock, replicated with fresh raters and against another study."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.board.tables import judgement, write
from tests.cli.conftest import Ran

from beholder.api.benchmark.lock import lock_study
from beholder.api.replication.effects import contrast_effect, study_effects
from beholder.api.replication.replicate import replicate
from beholder.errors import UserError
from beholder.stats.intervals.crossed_t import crossed_means
from beholder.study.kinds.rating import RatingQuestion


def rate(folder: Path, lead: float, seed: int) -> None:
    """Eight raters judge two generators on 30 prompts; a is better by ``lead``."""
    rng = np.random.default_rng(seed)
    hard = np.random.default_rng(99).normal(0, 0.5, 30)
    judged = [
        judgement(r, f"{g}/{p:02d}", 3 + lead * (g == "a") + hard[p] + rng.normal(0, 0.4))
        for r in range(8)
        for p in range(30)
        for g in "ab"
    ]
    write(folder, judgements=judged)


@pytest.fixture
def make_rated(bare_study: Callable[..., Path]) -> Callable[[str, float, int], Path]:
    def make(name: str, lead: float, seed: int) -> Path:
        question = RatingQuestion(name="opinion", text="How good?")
        folder = bare_study(question, prompts=30, generators=("a", "b"), reals=0, name=name)
        rate(folder, lead, seed)
        lock_study(folder)
        return folder

    return make


def test_with_the_same_prompts_the_error_is_that_over_raters() -> None:
    # differences of three raters over the same two prompts: 1, 2 and 0, mean 1, s²/n = 1/3, two degrees
    raters, prompts = np.divmod(np.arange(6), 2)
    lead = np.array([1.0, 1.0, 2.0, 2.0, 0.0, 0.0])
    cells = crossed_means(
        np.tile(raters, 2), np.tile(prompts, 2), np.repeat([0, 1], 6), np.concatenate([lead, 0 * lead])
    )
    effect = contrast_effect(cells, np.array([1.0, -1.0]), "raters")
    assert effect is not None
    assert (effect.estimate, effect.standard_error**2, effect.degrees) == pytest.approx((1.0, 1 / 3, 2.0))


def test_another_study_replicates_or_contradicts(make_rated: Callable[[str, float, int], Path]) -> None:
    original, same, opposite = make_rated("one", 0.5, 1), make_rated("two", 0.5, 2), make_rated("three", -0.5, 3)
    replicated = replicate(original / "study.lock", other=same)
    assert replicated.scope == "raters"
    (claim,) = replicated.claims
    assert claim.claim.words == "a is better than b (opinion: quality)"
    assert claim.comparison is not None
    assert claim.comparison.verdict == "replicated"
    contrary = replicate(original, other=opposite).claims[0].comparison
    assert contrary is not None
    assert contrary.verdict == "contradicted"


def test_a_study_that_changed_is_not_compared(make_rated: Callable[[str, float, int], Path]) -> None:
    original, other = make_rated("one", 0.5, 1), make_rated("two", 0.5, 2)
    rate(original, 0.5, 4)
    with pytest.raises(UserError, match="not as it was locked"):
        replicate(original, other=other)


def test_people_are_not_simulated_again(make_rated: Callable[[str, float, int], Path]) -> None:
    with pytest.raises(UserError, match="people cannot be simulated again"):
        replicate(make_rated("one", 0.5, 1), fresh=8)


def test_a_benchmark_is_reproduced_and_replicated_with_fresh_raters(
    locked: Path, tmp_path: Path, run: Callable[..., Ran]
) -> None:
    folder = tmp_path / "small"
    shutil.copytree(locked, folder)
    before = sorted(path.name for path in tmp_path.iterdir())
    ran = run("replicate", str(folder / "study.lock"))
    assert (ran.code, "reproduced bit for bit" in ran.out) == (0, True)
    fresh = json.loads(run("replicate", str(folder), "--fresh", "12", "--seed", "5", "--json").out)
    assert fresh["scope"] == "raters"
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert run("replicate", str(folder), "--fresh", "12", "--with", str(folder)).code == 2


def test_a_plan_needs_more_raters_for_the_cautious_effect(
    make_rated: Callable[[str, float, int], Path], run: Callable[..., Ran]
) -> None:
    folder = make_rated("one", 0.2, 1)
    assert "2.5 ×" in run("plan", "--replicate", str(folder)).out
    (plan,) = json.loads(run("plan", "--replicate", str(folder), "--json").out)["claims"]
    assert plan["raters"] <= plan["safeguard_raters"]
    assert 0 < plan["safeguard_effect"] < plan["effect"]
    assert plan["telescopes_raters"] == 20
    assert study_effects(folder).raters(next(iter(replicate(folder, other=folder).claims)).claim) == 8
