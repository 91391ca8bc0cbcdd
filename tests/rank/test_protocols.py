"""Every protocol from its design to its report, with simulated raters: the true order is recovered."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from scipy.stats import kendalltau

from beholder.collect.stage import run as run_simulated
from beholder.consolidate.stage import run as consolidate
from beholder.design.stage import run as design
from beholder.rank.stage import run as rank
from beholder.report.stage import run as report
from beholder.simulate import expectation
from beholder.simulate.policies import GENERATORS
from beholder.study.kinds.catalogue import KINDS, AnyQuestion
from beholder.study.kinds.choice import ChoiceQuestion
from beholder.study.kinds.sweep import SweepQuestion
from beholder.study.protocols.catalogue import PROTOCOLS
from beholder.study.question import Design
from beholder.tables.store import Store

FEWER: dict[str, dict[str, object]] = {
    "hype-time": {"raters": 40, "trials": 40, "blocks": 2, "qualification": 0},
    "hype-infinity": {"raters": 40, "trials": 40, "qualification": 20},
    "layer6-realism": {"raters": 40, "trials": 40},
    "hpd-pairs": {"raters": 16, "trials": 40, "repeats": 4, "attention_every": 20},
    "hpd-ranking": {"raters": 12, "trials": 12, "raters_per_item": None, "attention_every": 6},
    "mos": {"raters": 16, "trials": 30, "attention_every": 15, "raters_per_item": None},
    "rich-feedback": {"raters": 12, "trials": 30, "attention_every": 15, "raters_per_item": None},
    "side-by-side": {"raters": 16, "trials": 40, "repeats": 4, "attention_every": 20},
}
HEADLINES = {
    "hype-time": "modal-exposure",
    "hype-infinity": "error-rate",
    "layer6-realism": "error-rate",
    "hpd-pairs": "bradley-terry",
    "hpd-ranking": "plackett-luce",
    "mos": "mean-opinion",
    "rich-feedback": "mean-opinion",
    "side-by-side": "mean-preference",
    "sweep": "pass-rate",
    "choice": "option-share",
}

UNRANKED = {"write-prompt"}
"""Kinds whose answers are claims, and rate no generator."""


def questions(protocol: str) -> list[AnyQuestion]:
    if protocol == "sweep":  # a kind without a protocol
        return [SweepQuestion(name="sweep", images=20, design=Design(raters=16, trials=4))]
    if protocol == "choice":
        return [ChoiceQuestion(name="choice", design=Design(raters=16, trials=40))]
    smaller = []
    for question in PROTOCOLS[protocol].questions():
        changed: dict[str, object] = {"design": question.design.model_copy(update=FEWER[protocol])}
        if protocol == "hpd-ranking":
            changed["images"] = 5
        smaller.append(question.model_copy(update=changed))
    return smaller


def test_every_protocol_and_kind_is_here() -> None:
    assert set(FEWER) == set(PROTOCOLS)
    assert {question.kind for name in HEADLINES for question in questions(name)} == set(KINDS) - UNRANKED


@pytest.mark.parametrize("protocol", HEADLINES)
def test_the_true_order_is_recovered(
    painted_study: Callable[..., Path], protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expectation, "HONEST_RATERS", 50)  # for speed: true values are compared elsewhere
    folder = painted_study(*questions(protocol), seed=3, draws=200)
    design(folder)
    run_simulated(folder, people=60)
    consolidate(folder)
    rank(folder)
    report(folder)
    store = Store(folder)
    ratings = store.read("ratings").filter(pl.col("slice") == "all")
    order = [policy.name for policy in GENERATORS]
    headline = ratings.filter(pl.col("method") == HEADLINES[protocol])
    assert not headline.is_empty()
    for (aspect,), part in headline.group_by("aspect"):
        rating = dict(part.select("generator", "rating").iter_rows())
        tau = kendalltau([rating[name] for name in order], range(len(order), 0, -1)).statistic
        assert tau >= 0.6, (protocol, aspect, rating)
    assert ratings.select(pl.col("low").is_not_null().all()).item()
    assert store.read("separations").select(pl.col("difference").is_not_null().all()).item()
    assert (folder / "report.html").is_file()
