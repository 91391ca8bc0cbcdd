"""Variants that differ in one setting: which measures see it."""

from collections.abc import Callable
from pathlib import Path

import altair as alt
import numpy as np
import polars as pl
import pytest
from tests.board.tables import judgement, score, set_board, write

from beholder.board.stage import run
from beholder.cli.main import main
from beholder.errors import UserError
from beholder.report.charts.board_checks import chroma_chart, curves_chart, slopes_chart
from beholder.report.tables.board_checks import build_board_checks
from beholder.report.tables.inputs import read_inputs
from beholder.scorers.chrominance import chroma_mean
from beholder.scorers.contrast import contrast
from beholder.scorers.planes import Planes
from beholder.simulate.grammar import draw_requests
from beholder.simulate.painter import Policy, paint
from beholder.study.board import Board, Variants
from beholder.study.kinds.rating import RatingQuestion
from beholder.tables.store import Store

STEPS = Variants(setting="steps", entries=("s10", "s20", "s40"), doses=(10, 20, 40))


@pytest.fixture
def stepped(bare_study: Callable[..., Path]) -> Path:
    """Quality rises with the steps; one scorer sees it, one has it upside down, one is blind."""
    folder = bare_study(RatingQuestion(name="opinion", text="?"), prompts=30, generators=STEPS.entries)
    rng = np.random.default_rng(0)
    prompt = rng.normal(size=30)
    quality = {
        g: prompt + lift + rng.normal(size=30) * 0.3 for g, lift in zip(STEPS.entries, (0, 0.3, 0.9), strict=True)
    }
    write(
        folder,
        judgements=[
            judgement(r, f"{g}/{p:02d}", float(3 + quality[g][p] + rng.normal() * 0.3))
            for r in range(6)
            for g in STEPS.entries
            for p in range(30)
        ],
        scores=[
            row
            for g in STEPS.entries
            for p in range(30)
            for row in (
                score("keen", f"{g}/{p:02d}", 10 * quality[g][p]),
                score("noise-level", f"{g}/{p:02d}", -quality[g][p], better="lower"),
                score("blind", f"{g}/{p:02d}", prompt[p] + rng.normal() * 0.05),
            )
        ],
    )
    set_board(folder, Board(variants=(STEPS,)))
    return folder


def test_every_measure_has_its_slope_in_standard_deviations(stepped: Path) -> None:
    run(stepped)
    rows = {row["measure"]: row for row in Store(stepped).read("dose_responses").iter_rows(named=True)}
    assert set(rows) == {"opinion: quality", "keen", "noise-level", "blind"}
    assert rows["keen"]["slope"] == pytest.approx(rows["noise-level"]["slope"])  # lower is better, another scale
    # lifts 0, .3, .9 at x = 0, 1/3, 1: x̄ = 4/9, Σ(x−x̄)θ/Σ(x−x̄)² = .9 exactly, over a standard deviation near 1
    assert rows["keen"]["low"] < 0.9 < rows["keen"]["high"]
    assert rows["opinion: quality"]["raters"] == 6
    assert rows["blind"]["p_adjusted"] > 0.05
    assert rows["blind"]["first_seen"] is None
    assert "does not see steps" in rows["blind"]["words"]
    assert "for the better" in rows["keen"]["words"]


def test_steps_are_compared_with_the_first_variant(stepped: Path) -> None:
    run(stepped)
    steps = Store(stepped).read("dose_steps").filter(pl.col("measure") == "keen")
    assert steps["dose"].to_list() == [10, 20, 40]
    assert steps["difference"][0] is None
    scores = Store(stepped).read("scores").filter(pl.col("scorer") == "keen")
    means = {g: scores.filter(pl.col("image").str.starts_with(g))["score"].mean() for g in STEPS.entries}
    assert steps["value"].to_list() == pytest.approx(list(means.values()))
    assert steps["detected"].to_list() == [False, True, True]


def test_the_terminal_says_who_sees_it(stepped: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["board", str(stepped)]) == 0
    printed = capsys.readouterr().out
    assert "steps: change from the first to the last variant" in printed
    assert "keen changes by +" in printed


def test_variants_that_are_no_entries_are_all_listed(stepped: Path) -> None:
    set_board(stepped, Board(variants=(Variants(setting="cfg", entries=("x", "y"), doses=(1, 2)),)))
    with pytest.raises(UserError, match=r"cfg: 'x' is no entry[\s\S]*cfg: 'y' is no entry"):
        run(stepped)
    with pytest.raises(ValueError, match="one dose for each entry"):
        Variants(setting="cfg", entries=("x", "y"), doses=(1, 2, 3))
    with pytest.raises(ValueError, match="must rise, or fall"):
        Variants(setting="cfg", entries=("x", "y", "z"), doses=(1, 3, 2))


@pytest.fixture
def hazy(bare_study: Callable[..., Path]) -> Path:
    """Images of the synthetic world with more and more haze, scored by pixels and by raters who see it."""
    levels = {"haze-0": 0.0, "haze-3": 0.3, "haze-6": 0.6, "haze-9": 0.9}
    folder = bare_study(RatingQuestion(name="opinion", text="?"), prompts=24, generators=tuple(levels))
    requests = draw_requests(24, np.random.default_rng(0))
    rng = np.random.default_rng(1)
    scores: list[dict[str, object]] = []
    judgements: list[dict[str, object]] = []
    for generator, haze in levels.items():
        policy = Policy(generator, implausible=0.5, misaligned=0.05, composition=0.1, haze=haze)
        for p, request in enumerate(requests):
            picture = paint(request, policy, size=64, rng=np.random.default_rng(p))
            planes, image = Planes(picture.pixels), f"{generator}/{p:02d}"
            scores.append(score("contrast", image, contrast(planes)))
            scores.append(score("chroma-mean", image, chroma_mean(planes)) | {"better": None})
            scores.append(score("prompt-length", image, len(picture.prompt.split())))
            felt = 1 + 4 * picture.truth.aesthetics
            judgements += [judgement(r, image, float(np.clip(felt + rng.normal() * 0.4, 1, 5))) for r in range(6)]
    write(folder, judgements=judgements, scores=scores)
    doses = tuple(levels.values())
    set_board(folder, Board(variants=(Variants(setting="haze", entries=tuple(levels), doses=doses),)))
    return folder


def test_scorers_of_pixels_see_haze_and_the_length_of_the_prompt_does_not(hazy: Path) -> None:
    run(hazy)
    rows = {row["measure"]: row for row in Store(hazy).read("dose_responses").iter_rows(named=True)}
    assert rows["contrast"]["high"] < -1  # haze costs contrast, and higher contrast is called better
    assert rows["contrast"]["first_seen"] == "haze-3"
    assert rows["opinion: quality"]["high"] < 0
    assert rows["prompt-length"]["slope"] == pytest.approx(0.0, abs=1e-9)
    assert rows["prompt-length"]["first_seen"] is None
    assert rows["prompt-length"]["p"] == 1.0


def test_the_report_shows_marks_responses_and_chroma(hazy: Path) -> None:
    run(hazy)
    tables = read_inputs(hazy)
    checks = build_board_checks(tables.board_marks, tables.dose_responses, tables.dose_steps, tables.chroma)
    (family,) = checks.families
    assert family.responses[0].people  # people first, then the measures that see most
    assert [row.generator for row in checks.chroma] == ["haze-0", "haze-3", "haze-6", "haze-9"]
    medians = [row.quantiles[2] for row in checks.chroma]
    assert medians == sorted(medians, reverse=True)  # haze is grey
    charts = [
        slopes_chart(family, "slopes"),
        curves_chart(family, "curves"),
        chroma_chart(checks.chroma, {}, "chroma"),
    ]
    for chart in charts:
        alt.Chart.from_dict(chart.spec, validate=True)
    assert "contrast -" in charts[0].alt
