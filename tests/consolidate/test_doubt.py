"""Likely label errors."""

import numpy as np
import polars as pl
import pytest

from beholder.consolidate.items import JudgedItems
from beholder.consolidate.labels import label
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.kinds.realism import RealismQuestion


def votes(rows: list[tuple[str, int, float]], kind: str = "vote") -> JudgedItems:
    """Votes of raters on numbered pairs."""
    frame = pl.DataFrame(rows, schema=["rater", "pair", "value"], orient="row").select(
        "rater", "value", image=pl.format("a{}", "pair"), other=pl.format("b{}", "pair")
    )
    item = pl.concat_str("image", "other", separator="\n")
    return JudgedItems("preference", kind, frame.with_columns(item=item))


def test_careful_raters_outvoted_by_guessers_are_right() -> None:
    # Two careful raters vote on all of 200 pairs and slip on 3 %; of five who guess, three vote on each pair, so
    # the majority goes against the careful ones now and then.
    rng = np.random.default_rng(1)
    truth = rng.choice([-1, 1], 200)
    rows = []
    for pair in range(200):
        for rater in (0, 1, *rng.choice(range(2, 7), 3, replace=False)):
            right = rng.random() < (0.97 if rater < 2 else 0.5)
            rows.append((f"p{rater}", pair, float(truth[pair] if right else -truth[pair])))
    labels, _ = label(PairQuestion(name="q"), votes(rows), 0.95)
    names = pl.DataFrame(
        {"image": [f"a{n}" for n in range(200)], "truth": ["image" if t > 0 else "other" for t in truth]}
    )
    labelled = labels.join(names, on="image")
    doubted = labelled.filter(pl.col("suggested").is_not_null())
    assert doubted.height >= 5
    assert (doubted["suggested"] == doubted["truth"]).to_numpy().mean() > 0.85
    assert (doubted["doubt"] > 0.5).all()
    assert (doubted["suggested"] != doubted["choice"]).all()
    wrong = labelled.filter(pl.col("choice") != pl.col("truth"))
    assert wrong["suggested"].is_not_null().to_numpy().mean() > 0.7  # most wrong labels are listed
    sure = labelled.filter(pl.col("choice") == pl.col("truth"))
    assert sure["suggested"].is_null().to_numpy().mean() > 0.95


@pytest.mark.parametrize("kind", ["vote", "graded-vote"])
def test_an_equal_vote_is_undecided_and_not_doubted(kind: str) -> None:
    rows = [(f"p{rater}", pair, 1.0) for pair in range(20) for rater in range(6)]
    rows += [
        (f"p{rater}", 20, 2.0 if rater < 3 and kind != "vote" else (1.0 if rater < 3 else -1.0))
        for rater in range(6)
    ]
    labels, _ = label(PairQuestion(name="q"), votes(rows, kind), 0.95)
    divided = labels.filter((pl.col("image") == "a20") & (pl.col("method") == "preference")).to_dicts()[0]
    assert (divided["choice"], divided["doubt"], divided["suggested"]) == ("tie", None, None)
    agreed = labels.filter((pl.col("image") == "a0") & (pl.col("method") == "preference")).to_dicts()[0]
    assert agreed["doubt"] < 0.02


def test_real_and_generated_are_known_and_not_doubted() -> None:
    frame = pl.DataFrame(
        {"rater": ["a", "b", "c"], "image": ["i"] * 3, "item": ["i"] * 3, "value": [1.0, 1.0, 0.0]}
    )
    labels, _ = label(RealismQuestion(name="q"), JudgedItems("realism", "detection", frame), 0.95)
    assert labels["choice"].to_list() == ["generated"]
    assert "doubt" not in labels.columns


def test_means_have_no_doubt() -> None:
    frame = pl.DataFrame({"rater": ["a", "b"], "image": "i", "item": "i", "value": [1.0, 5.0]})
    labels, _ = label(RatingQuestion(name="q"), JudgedItems("quality", "rating", frame), 0.95)
    assert "doubt" not in labels.columns
