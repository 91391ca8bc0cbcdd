"""The consolidate stage on small studies, odd ones among them."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.engines.pickling import PicklingEngine

from beholder.collect.stage import run as run_simulated
from beholder.consolidate.labels import LABELLERS
from beholder.consolidate.stage import run
from beholder.design.stage import run as design
from beholder.errors import StageError
from beholder.study.kinds.catalogue import KINDS, AnyQuestion
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.ranking import RankingQuestion
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Aspect, Design, Screening
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store

Make = Callable[..., Path]
WRITTEN = ("raters", "judgements", "labels", "regions", "thresholds", "agreement")
THREE: tuple[AnyQuestion, ...] = (
    RealismQuestion(name="real", design=Design(raters=4, trials=8)),
    PairQuestion(name="pref", design=Design(raters=4, trials=8)),
    RatingQuestion(
        name="mos",
        aspects=(Aspect(name="quality", text="?"), Aspect(name="alignment", text="?")),
        design=Design(raters=4, trials=8),
    ),
)


def collected(folder: Path, raters: int = 4) -> Store:
    design(folder)
    run_simulated(folder, people=raters)
    return Store(folder)


def test_three_kinds(bare_study: Make) -> None:
    folder = bare_study(*THREE)
    store = collected(folder)
    run(folder)
    raters, labels, agreement = (store.read(name) for name in ("raters", "labels", "agreement"))
    assert raters.select("question", "rater").is_unique().all()
    assert raters.height == 12
    assert raters["used"].all()
    assert raters.group_by("question").agg(pl.col("answers").sum()).sort("question").rows() == [
        ("mos", 64),
        ("pref", 32),
        ("real", 32),
    ]
    # by each method, each answer is in just one label
    once = labels.filter(pl.col("method").is_in(["mean", "share", "preference"]))
    assert once.group_by("question", "aspect").agg(pl.col("answers").sum()).sort("question", "aspect").rows() == [
        ("mos", "alignment", 32),
        ("mos", "quality", 32),
        ("pref", "preference", 32),
        ("real", "realism", 32),
    ]
    alpha = agreement.filter(pl.col("statistic").str.starts_with("krippendorff"))
    assert alpha.select("question", "aspect", "people").rows() == [
        (question, aspect, raters)
        for question, aspect in (
            ("real", "realism"),
            ("pref", "preference"),
            ("mos", "alignment"),
            ("mos", "quality"),
        )
        for raters in ("all", "used")
    ]
    assert run(folder).skipped


def test_judgements_of_every_valid_answer_and_whose_are_used(bare_study: Make) -> None:
    folder = bare_study(*THREE)
    store = collected(folder)
    slow = store.read("answers").filter(pl.col("question") == "pref")["rater"][0]
    late = pl.when((pl.col("rater") == slow) & (pl.col("question") == "pref")).then(0.1).otherwise(5.0)
    store.write({"answers": store.read("answers").with_columns(seconds=late)}, Provenance("by hand", {}, 0, {}))
    study = folder / "study.toml"
    study.write_text(study.read_text().replace("bt500 = false", "bt500 = false\nmin_seconds = 1.0"))
    run(folder)
    judgements, answers = store.read("judgements"), store.read("answers")
    key = ["question", "trial", "session", "aspect", "attempt"]
    tests = store.read("trials").filter(pl.col("role") == "test").select("trial")
    test_answers = answers.filter("valid").join(tests, on="trial", how="semi", maintain_order="left")
    assert judgements.select(key).sort(key).equals(test_answers.select(key).sort(key))
    out = judgements.filter(~pl.col("used"))
    assert out.select("question", "rater").unique().rows() == [("pref", slow)]
    assert set(out["reason"]) == {"fast: median 0.10 s, at least 1 s expected"}
    assert judgements.filter("used")["reason"].null_count() == judgements["used"].sum()


def test_the_same_bytes_each_time(bare_study: Make) -> None:
    written = []
    for name in ("one", "two"):
        folder = bare_study(*THREE, name=name)
        store = collected(folder)
        run(folder)
        written.append([store.path(table).read_bytes() for table in WRITTEN])
    assert written[0] == written[1]


def test_the_same_bytes_by_an_engine(bare_study: Make) -> None:
    written, engine = [], PicklingEngine()
    for name in ("local", "engine"):
        folder = bare_study(*THREE, name=name)
        store = collected(folder)
        run(folder, engine=engine if name == "engine" else None)
        written.append([store.path(table).read_bytes() for table in WRITTEN])
    assert written[0] == written[1]
    assert engine.done >= 4  # α of four aspects at least


def test_screening_anew_keeps_the_answers(bare_study: Make) -> None:
    folder = bare_study(*THREE)
    store = collected(folder)
    run(folder)
    study = folder / "study.toml"
    study.write_text(study.read_text().replace("bt500 = false", "bt500 = false\nmin_seconds = 1000.0", 1))
    assert not run(folder).skipped
    raters = store.read("raters")
    assert not raters.filter(pl.col("question") == "real")["used"].any()
    assert raters.filter(pl.col("question") != "real")["used"].all()


def test_nobody_left(bare_study: Make) -> None:
    question = RealismQuestion(name="q", design=Design(raters=3, trials=8), screening=Screening(min_seconds=1000))
    folder = bare_study(question)
    store = collected(folder)
    run(folder)
    assert not store.read("raters")["used"].any()
    assert store.read("labels").is_empty()
    used = store.read("agreement").filter(pl.col("people") == "used").row(0, named=True)
    assert (used["value"], used["raters"]) == (None, 0)


@pytest.mark.parametrize("question", THREE, ids=lambda question: question.kind)
def test_one_rater(bare_study: Make, question: AnyQuestion) -> None:
    folder = bare_study(question)
    store = collected(folder, raters=1)
    run(folder)
    assert store.read("raters").height == 1
    assert set(store.read("labels")["answers"]) == {1}
    assert store.read("agreement")["value"].null_count() == store.read("agreement").height


def test_one_item(bare_study: Make) -> None:
    question = PairQuestion(name="q", design=Design(raters=5, trials=1))
    folder = bare_study(question, generators=("a", "b"), prompts=1)
    store = collected(folder, raters=5)
    run(folder)
    (label,) = store.read("labels").rows(named=True)
    assert (label["image"], label["other"], label["answers"]) == ("a/00", "b/00", 5)


def test_a_question_without_answers_is_left_out(bare_study: Make) -> None:
    folder = bare_study(*THREE)
    store = collected(folder)
    rest = store.read("answers").filter(pl.col("question") != "pref")
    store.write({"answers": rest}, Provenance("collect", {}, 0, {}))
    run(folder)
    assert set(store.read("raters")["question"]) == {"real", "mos"}


def test_answers_without_consent_count_nowhere(bare_study: Make) -> None:
    folder = bare_study(THREE[0])
    store = collected(folder)
    gone = pl.when(pl.col("rater") == "rater-0001").then(pl.lit("no-consent")).otherwise("status")
    store.write({"sessions": store.read("sessions").with_columns(status=gone)}, Provenance("collect", {}, 0, {}))
    run(folder)
    assert store.read("raters")["rater"].to_list() == ["rater-0000", "rater-0002", "rater-0003"]
    assert store.read("labels")["answers"].sum() == 24


def test_every_kind_has_its_labels() -> None:
    assert {name for kind in KINDS.values() for name in kind.traits.labelled_by} == set(LABELLERS)


def test_it_needs_answers(bare_study: Make) -> None:
    folder = bare_study(THREE[0])
    design(folder)
    with pytest.raises(StageError, match=r"is missing\. It is written by: beholder collect"):
        run(folder)


def test_nothing_that_comes_after_it_makes_it_stale(bare_study: Make) -> None:
    folder = bare_study(RealismQuestion(name="real", design=Design(raters=4, trials=8)))
    store = collected(folder)
    run(folder)
    before = store.read("labels")
    against = {"real": 0.9, "generated": 0.1}
    decided = before.filter(pl.col("choice").is_not_null()).select("image", "aspect", "choice")
    predictions = decided.select("image", "aspect", score=pl.col("choice").replace_strict(against)).with_columns(
        model=pl.lit("tower"), fold=pl.lit(0, pl.Int64), better=pl.lit("lower"), held_out=pl.lit(value=True)
    )
    store.write({"predictions": predictions}, Provenance("learn", {}, 0, {}))
    assert run(folder).skipped
    run(folder, force=True)
    assert store.read("labels").equals(before)


def test_rankings_have_a_w(bare_study: Make) -> None:
    folder = bare_study(RankingQuestion(name="order", images=3, design=Design(raters=4, trials=4)))
    store = collected(folder)
    run(folder)
    rows = store.read("agreement").filter(pl.col("statistic") == "kendall-w")
    assert rows["people"].to_list() == ["all", "used"]
    assert ((rows["value"] > 0) & (rows["value"] <= 1)).all()


def test_why_there_is_no_p910_stands_with_the_raters(bare_study: Make) -> None:
    folder = bare_study(RatingQuestion(name="mos", design=Design(raters=1, trials=8)))
    store = collected(folder, raters=1)
    run(folder)
    (notes,) = store.read("raters")["notes"].to_list()
    assert any("p910: no labels of" in note and "take the mean" in note for note in notes)
    assert "p910" not in store.read("labels")["method"]
