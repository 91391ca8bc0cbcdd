import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.board.tables import judgement, score, set_board, write
from tests.tifa import SKIP_TIFA, read_tifa

from beholder.board.stage import run
from beholder.cli.main import main
from beholder.errors import StageError, UserError
from beholder.stats.intervals.crossed_t import crossed_means, crossed_t
from beholder.study.board import Board, Claim
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.rating import RatingQuestion
from beholder.tables.store import Store


@pytest.fixture
def rated(bare_study: Callable[..., Path]) -> Path:
    """Three generators × 40 prompts in two styles, rated by eight raters; and scored by a program."""
    folder = bare_study(RatingQuestion(name="opinion", text="How good?"), prompts=40, styles=("art", "photo"))
    rng = np.random.default_rng(0)
    prompt, rater = rng.normal(size=40) * 0.5, rng.normal(size=8) * 0.3
    judgements = [
        judgement(r, f"{g}/{p:02d}", round(float(3 + lead + prompt[p] + rater[r] + rng.normal() * 0.5), 3))
        for r in range(8)
        for p in range(40)
        for g, lead in (("a", 0.8), ("b", 0.0), ("c", -0.1))
    ]
    scores = [
        {
            "scorer": "sharpness",
            "aspect": "quality",
            "image": f"{g}/{p:02d}",
            "score": float(s + prompt[p]),
            "better": "higher",
        }
        for g, s in (("a", 1.0), ("b", 0.2), ("c", 0.4))
        for p in range(40)
    ]
    write(folder, judgements=judgements, scores=scores)
    return folder


def test_ratings_are_crossed_means_over_raters_and_prompts(rated: Path) -> None:
    outcome = run(rated)
    assert not outcome.skipped
    board = (
        Store(rated).read("board").filter((pl.col("measure") == "opinion: quality") & (pl.col("slice") == "all"))
    )
    judged = (
        Store(rated)
        .read("judgements")
        .with_columns(entry=pl.col("image").str.slice(0, 1), prompt=pl.col("image").str.slice(2))
    )
    rater, prompt, entry = (
        (judged[column].rank("dense").cast(pl.Int64) - 1).to_numpy() for column in ("rater", "prompt", "entry")
    )
    expected = crossed_t(crossed_means(rater, prompt, entry, judged["value"].to_numpy()))
    np.testing.assert_allclose(board["value"], expected.value)
    np.testing.assert_allclose(board["low"], expected.low)
    assert board["rank_low"].to_list() == [1, 2, 2]
    assert board["rank_high"].to_list() == [1, 3, 3]
    assert board["chance_best"].to_list()[0] > 0.99
    assert (board["prompts"].unique().item(), board["raters"].unique().item()) == (40, 8)
    assert run(rated).skipped


def test_verdict_and_interval_of_pairs_agree_and_say_how_fragile_they_are(rated: Path) -> None:
    run(rated)
    pairs = Store(rated).read("board_pairs")
    assert ((pairs["low"] > 0) == pairs["separated"]).all()
    separated = pairs.filter((pl.col("family") == "all") & pl.col("separated"))
    assert set(separated["entry"]) >= {"a"}
    people = separated.filter(pl.col("measure") == "opinion: quality")
    assert people["fragile_raters"].drop_nulls().is_between(1, 7).all()


def test_small_slices_get_words(rated: Path) -> None:
    set_board(rated, Board(fewest_prompts=30))
    run(rated)
    slices = Store(rated).read("board").filter(pl.col("family") == "style")
    assert slices["value"].null_count() == slices.height > 0
    assert slices["note"].str.contains("20 prompts: too few").all()
    set_board(rated, Board(fewest_prompts=10))
    run(rated)
    assert Store(rated).read("board").filter(pl.col("family") == "style")["value"].null_count() == 0


def test_claims_have_their_verdicts(rated: Path) -> None:
    measure = "opinion: quality"
    claims = (
        Claim(kind="better", measure=measure, entry="a", other="b"),
        Claim(kind="better", measure=measure, entry="c", other="a"),
        Claim(kind="no-worse", measure=measure, entry="b", other="c", margin=0.5),
        Claim(kind="good-enough", measure=measure, entry="a", threshold=3.2),
        Claim(kind="good-enough", measure=measure, entry="b", threshold=3.0),
    )
    set_board(rated, Board(claims=claims))
    run(rated)
    verdicts = Store(rated).read("claims")["verdict"].to_list()
    assert verdicts == ["holds", "refuted", "holds", "holds", "undecided"]


def test_claims_and_weights_that_name_nothing_are_listed_together(rated: Path) -> None:
    wrong = (
        Claim(kind="better", measure="quality", entry="a", other="b"),
        Claim(kind="better", measure="opinion: quality", entry="x", other="y"),
    )
    set_board(rated, Board(claims=wrong))
    with pytest.raises(UserError, match=r"no measure 'quality'[\s\S]*'x' is no entry[\s\S]*'y' is no entry"):
        run(rated)
    set_board(rated, Board(weights={"beauty": 1.0}))
    with pytest.raises(UserError, match="names beauty; the board has"):
        run(rated)
    with pytest.raises(ValueError, match="needs a threshold"):
        Claim(kind="good-enough", measure="m", entry="a")


def test_a_scorer_that_swaps_two_entries_says_so(rated: Path) -> None:
    run(rated)
    (row,) = Store(rated).read("board_agreement").to_dicts()
    assert (row["measure"], row["people"], row["entries"]) == ("sharpness", "opinion: quality", 3)
    assert row["kendall"] == pytest.approx(1 / 3)
    assert row["misordered"] == 0  # b and c are not separated by people
    assert "no pair that people separate" in row["words"]


def test_votes_are_rated_by_bradley_terry_over_raters_and_prompts(bare_study: Callable[..., Path]) -> None:
    folder = bare_study(PairQuestion(name="preference", text="Which is better?"), prompts=30)
    rng = np.random.default_rng(1)
    lead = {"a": 1.0, "b": 0.0, "c": -1.0}
    votes = [
        judgement(
            r,
            f"{x}/{p:02d}",
            1.0 if rng.random() < 1 / (1 + np.exp(lead[y] - lead[x])) else -1.0,
            other=f"{y}/{p:02d}",
            kind="vote",
        )
        for r in range(10)
        for p in range(30)
        for x, y in [("a", "b"), ("b", "c"), ("c", "a")][p % 3 : p % 3 + 1]
    ]
    write(folder, judgements=votes)
    run(folder)
    board = Store(folder).read("board")
    assert board.sort("value", descending=True)["entry"].to_list() == ["a", "b", "c"]
    assert ((board["low"] < [1.0, 0.0, -1.0]) & (board["high"] > [1.0, 0.0, -1.0])).all()


def test_curves_grow_narrower(rated: Path) -> None:
    run(rated)
    curves = (
        Store(rated)
        .read("curves")
        .filter((pl.col("measure") == "opinion: quality") & (pl.col("contrast") == "value"))
    )
    now = curves.filter("now")
    assert (now["prompts"].item(), now["raters"].item()) == (40, 8)
    board = (
        Store(rated).read("board").filter((pl.col("measure") == "opinion: quality") & (pl.col("slice") == "all"))
    )
    first = board.filter(pl.col("entry") == "a")
    assert now["half_width"].item() == pytest.approx((first["high"].item() - first["low"].item()) / 2, rel=0.02)
    same_raters = curves.filter(pl.col("raters") == 8).sort("prompts")
    assert same_raters["half_width"].is_sorted(descending=True)


def test_an_entry_tuned_to_the_public_prompts_is_marked(bare_study: Callable[..., Path]) -> None:
    folder = bare_study(RatingQuestion(name="opinion", text="How good?"), prompts=80)
    rng = np.random.default_rng(2)
    scores: list[dict[str, object]] = [
        {"scorer": "sharpness", "aspect": "quality", "image": f"{g}/{p:02d}", "better": "higher"}
        | {"score": float(rng.normal() + (1.5 if g == "b" and p < 40 else 0.0) - (p >= 40))}
        for g in "abc"
        for p in range(80)
    ]
    sets: list[dict[str, object]] = [
        {"set": "own", "version": "1", "licence": "none", "source": "own.csv", "prompts": 80, "distinct": 80}
    ]
    texts: list[dict[str, object]] = [
        {"prompt": f"p{p:02d}", "text": f"prompt {p}", "candidate": f"own/{p}"} for p in range(80)
    ]
    candidates: list[dict[str, object]] = [
        {"candidate": row["candidate"], "prompt": row["prompt"], "text": row["text"], "original": row["text"]}
        | {"set": "own", "key": "1", "origin": "set", "language": "en", "status": "chosen", "reason": "all"}
        for row in texts
    ]
    chosen = [row | {"held_out": p >= 40} for p, row in enumerate(texts)]
    tags: list[dict[str, object]] = [
        {"prompt": f"p{p:02d}", "tag": "count", "label": "two", "evidence": "two", "start": 0, "end": 3}
        for p in range(0, 80, 2)
    ]
    write(folder, prompt_sets=sets, prompt_candidates=candidates, curated_prompts=chosen, prompt_tags=tags)
    write(folder, scores=scores)
    run(folder)
    counted = Store(folder).read("board").filter(pl.col("family") == "tag")
    assert counted["slice"].unique().to_list() == ["count"]
    assert counted["prompts"].to_list() == [40, 40, 40]
    marks = Store(folder).read("board_marks")
    assert marks.filter("raised")["entry"].to_list() == ["b"]  # c and a lose as much on both sets
    assert "more on the public prompts" in marks.filter("raised")["words"].item()


def test_the_command_prints_and_answers_in_json(rated: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["board", str(rated)]) == 0
    printed = capsys.readouterr().out
    assert "opinion: quality — higher is better" in printed
    assert "chance to be best" in printed
    assert main(["board", str(rated), "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert {row["entry"] for row in content["board"]} == {"a", "b", "c"}
    assert main(["board", str(rated), "--measure", "opinion quality"]) == 2
    assert "Did you mean 'opinion: quality'?" in capsys.readouterr().err


def test_hps_v2s_form_is_the_mean_of_each_style_and_the_spread_of_ten_groups(
    rated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["board", str(rated), "--like", "hpsv2"]) == 0
    scores = Store(rated).read("scores").filter(pl.col("image").str.starts_with("a/"))["score"].to_numpy()
    art = scores[0::2]
    groups = art.reshape(10, 2).mean(axis=1)
    assert f"{art.mean():.2f} ± {groups.std():.3f}" in capsys.readouterr().out


def test_an_empty_study_says_what_to_do(bare_study: Callable[..., Path]) -> None:
    folder = bare_study(RatingQuestion(name="opinion", text="How good?"))
    with pytest.raises(StageError, match="beholder collect"):
        run(folder)


@pytest.fixture
def tifa_study(bare_study: Callable[..., Path]) -> Callable[[int], Path]:
    """Make a study of TIFA-160, with people's answers on every so-many-th prompt, and three scorers."""

    def make(every: int) -> Path:
        tifa = read_tifa()
        folder = bare_study(RatingQuestion(name="opinion", text="How consistent?"))
        names = [(p, g, f"{g}/{prompt}") for p, prompt in enumerate(tifa.prompts) for g in tifa.generators]
        write(
            folder,
            prompts=[{"prompt": prompt, "text": prompt} for prompt in tifa.prompts],
            images=[
                {
                    "image": image,
                    "path": f"{image}.jpg",
                    "generator": g,
                    "prompt": tifa.prompts[p],
                    "sha256": image,
                }
                | {"real": False, "gold": False, "width": 8, "height": 8}
                for p, g, image in names
            ],
        )
        write(
            folder,
            judgements=[
                judgement(rater, image, float(value))
                for rater in range(len(tifa.raters))
                for p, g, image in names
                if p % every == 0 and np.isfinite(value := tifa.answers[rater, p, tifa.generators.index(g)])
            ],
            scores=[
                score(name, image, tifa.scores[name][p, tifa.generators.index(g)])
                for name in ("tifa_mplug-large", "bleu", "clipscore_vitb32")
                for p, g, image in names
            ],
        )
        return folder

    return make


@pytest.mark.skipif(SKIP_TIFA is not None, reason=str(SKIP_TIFA))
def test_tifa_160_has_a_scorer_that_is_best_by_image_and_misorders_the_generators(
    tifa_study: Callable[[int], Path],
) -> None:
    folder = tifa_study(1)
    run(folder)
    board = Store(folder).read("board").filter(pl.col("source") == "people").sort("value", descending=True)
    assert board["entry"].to_list()[0] == "stable_diffusion_v2_1"
    np.testing.assert_allclose(board["value"], [4.1489, 3.9900, 3.8388, 3.7381, 3.6108], atol=1e-4)
    assert board["se_prompts"][0] == pytest.approx(0.0647, abs=1e-4)
    assert board["se_raters"][0] == pytest.approx(0.0386, abs=1e-4)
    words = dict(Store(folder).read("board_agreement").select("measure", "words").iter_rows())
    assert words["tifa_mplug-large"].startswith("tifa_mplug-large agrees best with people image by image but")
    assert words["bleu"] == "bleu has the entries in the same order as people"
    assert Store(folder).read("board_powered").is_empty()  # people judged all that was scored


@pytest.mark.skipif(SKIP_TIFA is not None, reason=str(SKIP_TIFA))
def test_people_on_40_prompts_and_scores_on_all_stand_beside_people_alone(
    tifa_study: Callable[[int], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tifa_study(4)
    assert main(["board", str(folder)]) == 0
    printed = capsys.readouterr().out
    assert "from raters and the scores of tifa_mplug-large (prediction-powered)" in printed
    powered = Store(folder).read("board_powered")
    chosen = powered.filter("chosen")
    assert chosen["scorer"].unique().to_list() == ["tifa_mplug-large"]
    assert (chosen["prompts"].unique().item(), chosen["further_prompts"].unique().item()) == (40, 120)
    classical = Store(folder).read("board").filter(pl.col("source") == "people").sort("entry")
    np.testing.assert_allclose(chosen["people_low"], classical["low"])  # one method for both
    assert np.median(chosen["width_ratio"]) < 0.95
    set_board(folder, Board(powered_by="bleu"))
    run(folder)
    assert Store(folder).read("board_powered").filter("chosen")["scorer"].unique().to_list() == ["bleu"]
    set_board(folder, Board(powered_by="beauty"))
    with pytest.raises(UserError, match="powered_by names 'beauty'; the automatic measures are: bleu"):
        run(folder)
