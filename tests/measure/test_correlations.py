"""Rows of correlations: images and pairs worked by hand, generators on the published Layer 6 table."""

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from beholder.errors import TableError
from beholder.measure import metric_values, opinions
from beholder.measure.correlations import generator_rows, image_rows
from beholder.measure.joined import Rows, Settings
from beholder.measure.pair_rows import pair_rows
from beholder.report.text.metric_verdict import Verdict, verdicts
from beholder.tables.catalogue import TABLES
from beholder.tables.check import conform, faults_in

SHARED = Path(os.environ.get("BEHOLDER_SHARED", Path(__file__).parents[3] / "shared"))
LAYER6 = SHARED / "data" / "layer6-realism"
QUICK = Settings(draws=400, seed=1)

ASKED = {"question": "q", "aspect": "realism", "method": "error-rate", "slice": "all"}
MARKS = {
    "fd_dinov2": "fd_dinov2↓",
    "fid_inception_rank_best1": "fid_inception_rank_best1↓",
    "coverage": "coverage↑",
}


def metric(name: str, values: dict[str, float], better: str | None = "higher") -> pl.DataFrame:
    rows: list[dict[str, object]] = [
        {"metric": name, "better": better, "slice": "all", "item": item, "value": value}
        for item, value in values.items()
    ]
    return pl.DataFrame(rows, schema=metric_values.SCHEMA)


def judged(values: dict[str, float], **more: object) -> pl.DataFrame:
    rows = [
        ASKED
        | {"item": item, "value": value, "error": 0.1, "raters": 5, "prompt": item[1:], "generator": item[0]}
        | more
        for item, value in values.items()
    ]
    return pl.DataFrame(rows)


def sound(rows: Rows) -> Rows:
    """The rows fit their tables."""
    for name, found in (("correlations", rows.correlations), ("metric_separations", rows.separations)):
        frame = conform(TABLES[name].frame(found), TABLES[name])
        assert faults_in(frame, TABLES[name]) == []
    return rows


def one(rows: Rows, statistic: str, name: str = "m") -> dict[str, object]:
    (found,) = [row for row in rows.correlations if (row["statistic"], row["metric"]) == (statistic, name)]
    return found


PEOPLE = {"a1": 3.0, "a2": 4.0, "a3": 5.0, "b1": 1.0, "b2": 2.0, "b3": 1.5}
"""Two generators a, b, three prompts: people like a better everywhere."""


class TestImages:
    def test_pairs_within_prompts(self) -> None:
        # prompt 1: a 9 > b 8 right; prompt 2: a 1 < b 2 wrong; prompt 3: equal, half: 1.5 of 3
        scores = {"a1": 9.0, "a2": 1, "a3": 5, "b1": 8, "b2": 2, "b3": 5}
        found = sound(image_rows(judged(PEOPLE), metric("m", scores), QUICK))
        assert one(found, "pair-accuracy-micro")["value"] == pytest.approx(0.5)
        assert one(found, "pair-accuracy-macro")["value"] == pytest.approx(0.5)
        assert one(found, "pair-accuracy-micro")["floor"] == 1  # a wins always

    def test_a_scorer_that_knows_the_generator_alone_has_nothing_within(self) -> None:
        only = {item: 1.0 if item[0] == "a" else 0.0 for item in PEOPLE}
        found = sound(image_rows(judged(PEOPLE), metric("m", only), QUICK))
        assert one(found, "pearson")["value"] == pytest.approx(0.8944, abs=0.02)
        assert one(found, "pearson-within-generators")["value"] is None
        assert one(found, "pearson-within-generators")["floor"] == 0

    def test_a_lower_is_better_metric_keeps_its_sign_but_not_in_accuracy(self) -> None:
        scores = {item: -value for item, value in PEOPLE.items()}
        found = sound(image_rows(judged(PEOPLE), metric("m", scores, "lower"), QUICK))
        assert one(found, "spearman")["value"] == pytest.approx(-1)
        assert one(found, "pair-accuracy-micro")["value"] == 1


class TestPairs:
    def test_by_hand(self) -> None:
        rows = [
            # image, other, share, answers
            ("a1", "b1", 1.0, 3),  # scores 2 > 1: right
            ("a2", "b2", 0.0, 3),  # 2 > 1: wrong
            ("a3", "b3", 0.5, 2),  # people even: out
            ("a4", "b4", 2 / 3, 3),  # equal scores: half
        ]
        votes = pl.DataFrame(
            [
                ASKED
                | {"image": i, "other": o, "share": s, "answers": n, "raters": n, "prompt": i[1:]}
                | {"generator": "a", "other_generator": "b"}
                for i, o, s, n in rows
            ]
        ).drop("slice")
        scores = {"a1": 2.0, "b1": 1, "a2": 2, "b2": 1, "a3": 0, "b3": 0, "a4": 7, "b4": 7}
        found = sound(pair_rows(votes, metric("m", scores), QUICK))
        row = one(found, "pair-accuracy-micro")
        assert row["value"] == pytest.approx(1.5 / 3)
        assert row["items"] == 3
        # people: 3 of 3, 3 of 3, 0 of 2, and of 2:1 one of three
        assert row["ceiling"] == pytest.approx((3 + 3 + 0 + 1) / 11)


class TestMetricFiles:
    def test_arrows_and_gaps(self, tmp_path: Path) -> None:
        path = tmp_path / "figures.csv"
        path.write_text("generator,fd↓,is ↑,frechet,note\na,1.5,,3,7\nb,2,4,2,8\nelsewhere,x,y,z,0\n")
        found = metric_values.of_file(path, {"a", "b", "c"})
        better = dict(found.select("metric", "better").unique().iter_rows())
        assert better == {"fd": "lower", "is": "higher", "frechet": "lower", "note": None}
        assert found.filter(pl.col("metric") == "is")["item"].to_list() == ["b"]

    def test_rows_may_count_for_one_question(self, tmp_path: Path) -> None:
        path = tmp_path / "figures.csv"
        path.write_text("question,generator,fd↓\nq,a,3\nq,b,1\nother,a,1\nother,b,3\n")
        figures = metric_values.of_file(path, {"a", "b"})
        found = generator_rows(judged({"a": 1.0, "b": 2.0}), figures, QUICK)
        assert one(found, "kendall", "fd")["value"] == -1

    def test_all_faults_at_once(self, tmp_path: Path) -> None:
        path = tmp_path / "figures.csv"
        path.write_text("generator,fd\na,low\na,nan\n")
        with pytest.raises(TableError, match=r"(?s)several rows.*'low' is no number.*'nan' is no number"):
            metric_values.of_file(path, {"a"})
        path.write_text("model,fd\na,1\n")
        with pytest.raises(TableError, match="'generator' is expected; found: model, fd"):
            metric_values.of_file(path, {"a"})


def test_opinions_are_turned_so_that_higher_is_better() -> None:
    labels = TABLES["labels"].frame(
        [
            {"question": "q", "aspect": "realism", "method": "share", "image": "g1", "value": 0.8}
            | {"low": 0.6, "high": 0.9, "answers": 10, "raters": 10},
            {"question": "q", "aspect": "realism", "method": "share", "image": "r1", "value": 0.1}
            | {"answers": 10, "raters": 10},
        ]
    )
    images = TABLES["images"].frame(
        [
            {"image": name, "path": name, "generator": name[0], "real": name == "r1", "gold": False}
            | {"width": 1, "height": 1, "sha256": name}
            for name in ("g1", "r1")
        ]
    )
    found = opinions.of_images(labels, images, 0.95)
    assert found["item"].to_list() == ["g1"]  # real images are not judged as generated ones
    assert found["value"].to_list() == [-0.8]
    assert found["error"].to_list() == pytest.approx([0.15 / 1.959964])


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Rows, Verdict]]:
    folder = tmp_path_factory.mktemp("published")
    board = pl.read_csv(LAYER6 / "published_dinov2_leaderboard.csv")
    people = pl.read_csv(LAYER6 / "expected_human_error_by_model.csv")
    results = {}
    for dataset in ("cifar10", "imagenet256"):
        aside = ("dataset", "model_display", "family", "human_err_pub", "human_err_pub_pm")
        mine = board.filter(pl.col("dataset") == dataset).drop(aside)
        mine.rename({"model_csv": "generator", **MARKS}).write_csv(folder / f"{dataset}.csv")
        asked = people.filter(pl.col("dataset") == dataset)
        opinion = asked.select(
            *(pl.lit(value).alias(name) for name, value in ASKED.items()),
            item="model",
            value="err_rt_mean",
            error="err_rt_sem",
            raters="n_participants",
        )
        figures = metric_values.of_file(folder / f"{dataset}.csv", set(asked["model"]))
        rows = sound(generator_rows(opinion, figures, QUICK))
        frames = (TABLES["correlations"].frame(rows.correlations),)
        (verdict,) = verdicts(*frames, TABLES["metric_separations"].frame(rows.separations))
        results[dataset] = rows, verdict
    return results


@pytest.mark.skipif(not LAYER6.is_dir(), reason="the Layer 6 data is not at hand")
class TestLayer6:
    def test_every_figure_of_the_published_table(self, found: dict[str, tuple[Rows, Verdict]]) -> None:
        expected = pl.read_csv(LAYER6 / "expected_metric_vs_human_correlations.csv")
        names = {"pearson": "pearson", "spearman": "spearman", "kendall": "kendall_tau_b"}
        for row in expected.iter_rows(named=True):
            for statistic, name in names.items():
                if row[name] is not None:
                    mine = one(found[row["dataset"]][0], statistic, row["metric"])
                    value, low, high = (float(str(mine[key])) for key in ("value", "low", "high"))
                    assert round(value, 4) == row[name]
                    assert low <= value <= high
                    assert mine["items"] == row["n"]

    def test_the_ceiling_of_people_is_high_and_fid_on_imagenet_far_below(
        self, found: dict[str, tuple[Rows, Verdict]]
    ) -> None:
        row = one(found["imagenet256"][0], "spearman", "fid_inception_rank_best1")
        assert float(str(row["ceiling"])) > 0.85
        assert row["floor"] is None

    def test_fid_is_trusted_on_cifar10_and_not_on_imagenet(self, found: dict[str, tuple[Rows, Verdict]]) -> None:
        fid = "fid_inception_rank_best1"
        assert fid in found["cifar10"][1].trusted
        verdict = found["imagenet256"][1]
        assert fid in verdict.unknown
        assert {"fd_dinov2", "coverage"} <= set(verdict.trusted)
        (line,) = [s for s in verdict.sentences if s.startswith("Not enough evidence to trust")]
        assert "fid_inception_rank_best1: ρ = +0.15 [" in line

    def test_two_metrics_against_the_same_people(self, found: dict[str, tuple[Rows, Verdict]]) -> None:
        rows = found["imagenet256"][0].separations
        (pair,) = [r for r in rows if {r["metric"], r["other"]} == {"fd_dinov2", "fid_inception_rank_best1"}]
        assert pair["metric"] == "fd_dinov2"
        assert pair["difference"] == pytest.approx(0.8364 + 0.1455, abs=1e-4)
        assert float(str(pair["low"])) > 0
        p_values = np.array([r["p"] for r in rows], np.float64)
        assert float(str(pair["p_adjusted"])) >= float(str(pair["p"])) >= p_values.min()


def test_no_metric_agrees() -> None:
    rng = np.random.default_rng(2)
    names = [f"g{place}" for place in range(8)]
    people = judged(dict(zip(names, rng.normal(size=8).tolist(), strict=True)))
    noise = metric("m", dict(zip(names, rng.normal(size=8).tolist(), strict=True)))
    rows = generator_rows(people, noise, QUICK)
    (verdict,) = verdicts(TABLES["correlations"].frame(rows.correlations), TABLES["metric_separations"].empty())
    assert verdict.trusted == ()
    assert (
        verdict.sentences[0]
        == "There is not enough evidence that any metric orders these 8 generators as raters do."
    )


@pytest.mark.parametrize(("generators", "trusted"), [(4, False), (5, True)])
def test_a_perfect_order_is_trusted_where_chance_would_not_give_it(generators: int, trusted: bool) -> None:
    # 2/4! = .083, 2/5! = .017
    values = {f"g{place}": float(place) for place in range(generators)}
    rows = generator_rows(judged(values), metric("m", values), QUICK)
    (verdict,) = verdicts(TABLES["correlations"].frame(rows.correlations), TABLES["metric_separations"].empty())
    assert (verdict.trusted == ("m",)) is trusted
    assert ("which may be chance with so few generators: m." in str(verdict)) is not trusted


def test_a_metric_without_a_direction_is_not_trusted_but_named() -> None:
    names = [f"g{place}" for place in range(9)]
    people = judged({name: float(place) for place, name in enumerate(names)})
    noise = metric("saturation", {name: -float(place) for place, name in enumerate(names)}, None)
    rows = generator_rows(people, noise, QUICK)
    (verdict,) = verdicts(TABLES["correlations"].frame(rows.correlations), TABLES["metric_separations"].empty())
    assert (verdict.trusted, verdict.alongside) == ((), ("saturation",))
