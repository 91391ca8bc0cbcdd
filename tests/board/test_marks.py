"""Checks of the board itself: each is raised where it should be, and only there."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.board.tables import generation, judgement, score, set_board, write

from beholder.board.stage import run
from beholder.cli.main import main
from beholder.study.board import Board, Picked, Stated
from beholder.study.kinds.rating import RatingQuestion
from beholder.tables.store import Store

MEASURE = "opinion: quality"
PROMPTS = 40


def marks(folder: Path, check: str) -> pl.DataFrame:
    run(folder)
    return Store(folder).read("board_marks").filter(pl.col("check") == check)


@pytest.fixture
def rate(bare_study: Callable[..., Path]) -> Callable[..., Path]:
    """Make a study in which six raters rate entries around given means."""

    def make(means: dict[str, float], *, spread: float = 0.5, fit: float = 0.5) -> Path:
        folder = bare_study(RatingQuestion(name="opinion", text="?"), prompts=PROMPTS, generators=tuple(means))
        rng = np.random.default_rng(3)
        prompt = rng.normal(size=PROMPTS) * spread
        noise = rng.normal(size=(len(means), PROMPTS)) * fit
        judgements = [
            judgement(r, f"{g}/{p:02d}", float(np.clip(mean + prompt[p] + noise[k, p] + rng.normal() * 0.3, 1, 5)))
            for r in range(6)
            for p in range(PROMPTS)
            for k, (g, mean) in enumerate(means.items())
        ]
        write(folder, judgements=judgements)
        return folder

    return make


def test_an_entry_at_the_end_of_the_scale_is_at_the_ceiling(rate: Callable[..., Path]) -> None:
    high = marks(rate({"a": 5.6, "b": 3.0}, spread=0.2, fit=0.2), "ceiling")
    assert high["entry"].to_list() == ["a"]
    assert high["raised"].item()
    assert high["high"].item() < 0.05
    assert "at most" in high["words"].item()
    middle = marks(rate({"a": 4.0, "b": 3.0}), "ceiling")
    assert not middle["raised"].item()
    assert middle["estimate"].item() == pytest.approx((5 - 4.0) / 4, abs=0.06)


def test_saturation_is_shown_equivalence_and_not_the_absence_of_a_separation(rate: Callable[..., Path]) -> None:
    equal = marks(rate({"a": 3.0, "b": 3.0, "c": 2.0}, spread=1.0, fit=0.05), "saturation")
    assert equal["raised"].item()
    assert "a and b are equivalent" in equal["words"].item() or "b and a are equivalent" in equal["words"].item()
    assert equal["high"].item() < 0.2
    unclear = marks(rate({"a": 3.0, "b": 3.0, "c": 2.0}, fit=1.0), "saturation")
    assert not unclear["raised"].item()
    assert "could show" in unclear["words"].item()
    alone = marks(rate({"a": 4.0, "b": 3.0, "c": 2.0}), "saturation")
    assert not alone["raised"].item()
    assert alone["words"].item() == f"a leads alone by {MEASURE}"


def test_a_metric_that_rates_newer_entries_ever_higher_drifts(rate: Callable[..., Path]) -> None:
    folder = rate({"a": 3.0, "b": 3.2, "c": 3.1, "d": 3.3})
    rng = np.random.default_rng(4)
    people = Store(folder).read("judgements").group_by("image").agg(pl.col("value").mean())
    quality = dict(people.iter_rows())
    scores = [
        score(name, image, quality[image] + drift * "abcd".index(image[0]) + rng.normal() * 0.3)
        for name, drift in (("steady", 0.0), ("drifting", 0.3))
        for image in sorted(quality)
    ]
    write(folder, scores=scores)
    assert marks(folder, "drift").is_empty()  # nobody says which entry is older
    set_board(folder, Board(chronology=("a", "b", "c", "d")))
    rows = marks(folder, "drift").sort("measure")
    assert rows["measure"].to_list() == [f"drifting against {MEASURE}", f"steady against {MEASURE}"]
    assert rows["raised"].to_list() == [True, False]
    spread = Store(folder).read("scores").filter(pl.col("scorer") == "drifting")["score"].std()
    assert isinstance(spread, float)
    # 3 steps of .3 in units of the score, less what people see of it (about 0 per step), within the interval
    assert rows["low"][0] < 0.9 / spread < rows["high"][0]
    assert rows["low"][1] < 0 < rows["high"][1]


def test_the_best_of_several_is_marked_and_compared_with_its_base(rate: Callable[..., Path]) -> None:
    folder = rate({"a": 3.0, "a-best": 3.6, "b": 3.0})
    rows = [generation(g, f"p{p:02d}") for g in ("a", "a-best") for p in range(PROMPTS)]
    rows += [generation("b", f"p{p:02d}", settings='{"best_of": 8}') for p in range(PROMPTS)]
    write(folder, generations=rows)
    set_board(folder, Board(picked=(Picked(entry="a-best", best_of=4, chosen_by="PickScore", base="a"),)))
    found = marks(folder, "best-of-n")
    facts = dict(found.filter(pl.col("measure") == "all").select("entry", "estimate").iter_rows())
    assert facts == {"a-best": 4.0, "b": 8.0}
    gain = found.filter(pl.col("measure") == MEASURE)
    assert gain["raised"].to_list() == [True]
    pairs = Store(folder).read("board_pairs")
    pair = pairs.filter((pl.col("entry") == "a-best") & (pl.col("other") == "a"))
    assert gain["estimate"].item() == pytest.approx(pair["difference"].item())
    assert gain["low"].item() > pair["low"].item()  # one pair alone, not all of them


def test_stated_values_are_shown_marked_and_never_ranked(
    rate: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = rate({"a": 3.5, "b": 3.0})
    run(folder)
    before = Store(folder).read("board")
    own = before.filter(pl.col("entry") == "b")["value"].item()
    set_board(
        folder,
        Board(
            stated=(
                Stated(measure=MEASURE, entry="dalle-9", value=4.9, source="a blog, 2026"),
                Stated(measure=MEASURE, entry="a", value=4.6, source="its makers"),
                Stated(
                    measure=MEASURE, entry="b", value=own + 0.02, low=own - 0.1, high=own + 0.1, source="a paper"
                ),
            )
        ),
    )
    found = marks(folder, "stated")
    assert dict(found.select("entry", "raised").iter_rows()) == {"dalle-9": True, "a": True, "b": False}
    assert found.filter(pl.col("entry") == "b")["p"].item() > 0.5
    board = Store(folder).read("board")
    assert board.filter(pl.col("source") != "stated").equals(before)
    stated = board.filter(pl.col("source") == "stated")
    assert stated["entry"].to_list() == ["dalle-9"]  # those of a and b were measured here
    assert stated["rank_low"].to_list() == [None]
    assert main(["board", str(folder)]) == 0
    assert "dalle-9 (stated)" in capsys.readouterr().out
    with pytest.raises(ValueError, match="both ends"):
        Stated(measure="m", entry="a", value=1.0, low=0.5, source="s")


def test_rewritten_prompts_are_marked_and_tested_for_a_lead(rate: Callable[..., Path]) -> None:
    folder = rate({"a": 3.0, "b": 3.0, "c": 3.0}, fit=0.2)
    rows = [generation(g, f"p{p:02d}") for g in "abc" for p in range(PROMPTS)]
    for row in rows:
        if row["generator"] == "b" and int(str(row["prompt"])[1:]) < PROMPTS // 2:
            row["rewritten"] = "a better prompt"
        if row["generator"] == "c":
            row["sent"] = f"photo of {row['text']}"
    judged = Store(folder).read("judgements")
    better = judged.with_columns(
        value=pl.col("value")
        + pl.when(pl.col("image").str.starts_with("b/") & (pl.col("image").str.slice(2).cast(pl.Int64) < 20))
        .then(1.0)
        .otherwise(0.0)
    )
    write(folder, judgements=better.to_dicts(), generations=rows)
    found = marks(folder, "rewritten")
    facts = found.filter(pl.col("measure") == "all")
    assert dict(facts.select("entry", "estimate").iter_rows()) == {"b": 0.5, "c": 1.0}
    leads = found.filter(pl.col("measure") == MEASURE)
    assert leads.select("entry", "raised").rows() == [("b", True)]  # c has no prompts as they are
    assert leads["low"].item() < 1.0 < leads["estimate"].item() + 0.5
