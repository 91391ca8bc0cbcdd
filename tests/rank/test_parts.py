"""Studies worked through in parts have the tables of those that are held in memory."""

import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from beholder.collect.stage import run as run_simulated
from beholder.consolidate.stage import run as consolidate
from beholder.design.stage import run as design
from beholder.errors import TableError
from beholder.rank.stage import run as rank
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.kinds.side_by_side import SideBySideQuestion
from beholder.study.question import Design, Screening
from beholder.tables.id_index import IdIndex
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store

SCREENED = {"screening": Screening(min_seconds=0.3, max_same_share=0.9)}
QUESTIONS = (
    RealismQuestion(name="real", design=Design(raters=9, trials=16), **SCREENED),
    PairQuestion(name="pref", design=Design(raters=9, trials=16), **SCREENED),
    RatingQuestion(name="mos", design=Design(raters=9, trials=16), **SCREENED),
    SideBySideQuestion(name="side", design=Design(raters=9, trials=16), **SCREENED),
)
ROWS_HELD = 70
"""Of some 650 answers: parts end within the answers of a question and within those of a rater."""


@pytest.fixture
def collected(bare_study: Callable[..., Path]) -> Path:
    folder = bare_study(*QUESTIONS)
    design(folder)
    run_simulated(folder, people=9, bad=2)
    return folder


@pytest.mark.parametrize("rows_held", [ROWS_HELD, 20])  # with 20, labels of one question lie in several files
def test_equal_tables(collected: Path, tmp_path: Path, rows_held: int) -> None:
    parted = tmp_path / "parted"
    shutil.copytree(collected, parted)
    consolidate(collected)
    rank(collected)
    consolidate(parted, rows_held=rows_held)
    rank(parted, rows_held=rows_held)
    held, in_parts = Store(collected), Store(parted)
    assert held.rows("answers") > 5 * rows_held
    for name in ("raters", "labels", "agreement", "ratings", "separations", "comparisons"):
        assert_frame_equal(in_parts.read(name), held.read(name), rel_tol=1e-12, abs_tol=1e-12)
    assert not held.read("raters")["used"].all()
    order = ["question", "trial", "session", "aspect", "attempt", "place"]
    assert_frame_equal(in_parts.read("judgements").sort(order), held.read("judgements").sort(order))
    assert in_parts.read("judgements")["question"].is_sorted() == held.read("judgements")["question"].is_sorted()


@pytest.mark.parametrize("rows_held", [ROWS_HELD, 20])
def test_ids_are_numbered_once(collected: Path, monkeypatch: pytest.MonkeyPatch, rows_held: int) -> None:
    numbered: list[int] = []
    index_of = IdIndex.of

    def counted(ids: pl.Series) -> IdIndex:
        numbered.append(len(ids))
        return index_of(ids)

    monkeypatch.setattr(IdIndex, "of", counted)
    consolidate(collected, rows_held=rows_held)
    rank(collected, rows_held=rows_held)
    # in either stage the images, for references and for the judgements, the prompts of trials, and the raters
    assert len(numbered) <= 7


def test_faults_are_named_by_their_rows(collected: Path) -> None:
    store = Store(collected)
    answers = store.read("answers")
    broken = answers.with_columns(
        trial=pl.when(pl.int_range(pl.len()) == 333).then(pl.lit("nowhere")).otherwise("trial")
    )
    broken.write_parquet(store.path("answers"))
    with pytest.raises(TableError, match="row 333 \\('nowhere'\\)"):
        consolidate(collected, rows_held=ROWS_HELD)
    assert not store.has("judgements")


def test_impossible_answers_are_all_counted(collected: Path) -> None:
    store = Store(collected)
    rated = pl.col("question") == "mos"
    answers = store.read("answers").with_columns(value=pl.when(rated).then(9.0).otherwise("value"))
    store.write({"answers": answers}, Provenance("collect", {}, 0, {}))
    number = answers.filter(rated & pl.col("valid")).height
    with pytest.raises(TableError, match=f"and {number - 5} more"):
        consolidate(collected, rows_held=ROWS_HELD)
