"""The leaderboard as it stands now, with confidence intervals.

python -m beholder.collect.researcher.results FOLDER URL
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import polars as pl

from beholder.collect.database.address import DATABASE
from beholder.collect.exchange.stage_run import run_stage, write_study
from beholder.collect.researcher.anytime import anytime_boards
from beholder.collect.researcher.child_processes import report_failure
from beholder.collect.researcher.snapshot import snapshot
from beholder.errors import StageError, UserError
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.study import Study, load_study
from beholder.tables.store import Store

ALL_IMAGES = "all"
COLUMNS = ("generator", "rating", "low", "high", "answers", "raters")
NOTE = (
    "These confidence intervals and separations are valid however often you look, and you may stop whenever you "
    "like: they are confidence sequences over the raters who have finished."
)
FIXED_NOTE = (
    "There is no confidence sequence for this measure. Its confidence intervals are valid only if the number of "
    "raters was fixed in advance: do not stop because of them."
)
"""Of a leaderboard by a measure without bounded means, such as Bradley–Terry and d′."""

NOBODY_FINISHED = (
    "No rater has finished yet, so there is no confidence sequence so far. These confidence intervals are valid "
    "only if the number of raters was fixed in advance: do not stop because of them."
)

Board = dict[str, Any]


def results(folder: Path, url: str) -> dict[str, Any]:
    """Export, consolidate and rank a copy of the study; a question that cannot be ranked yet says why."""
    study = load_study(folder)
    with snapshot(folder, url) as copy:
        try:
            boards = _boards(copy, study)
        except StageError:
            boards = [board for question in study.questions for board in _single_board(copy, study, question.name)]
    return {"level": study.analysis.level, "note": NOTE, "boards": boards}


def _boards(copy: Path, study: Study) -> list[Board]:
    """Return the leaderboards of each question: those with confidence sequences first, then the others."""
    write_study(copy, study)
    run_stage("consolidate", copy)
    run_stage("rank", copy)
    ratings = Store(copy).read("ratings").filter(pl.col("slice") == ALL_IMAGES)
    return [board for question in study.questions for board in _question_boards(copy, study, question, ratings)]


def _question_boards(copy: Path, study: Study, question: AnyQuestion, ratings: pl.DataFrame) -> list[Board]:
    sequences = anytime_boards(question, Store(copy), level=study.analysis.level)
    boards: list[Board] = [
        {"question": question.name, "aspect": aspect, "method": method, "anytime": True, "rows": rows}
        for (aspect, method), rows in sequences.items()
    ]
    rated = ratings.filter(pl.col("question") == question.name)
    for (aspect, method), part in rated.partition_by(
        "aspect", "method", as_dict=True, maintain_order=True
    ).items():
        if (aspect, method) not in sequences:
            boards.append(
                {
                    "question": question.name,
                    "aspect": aspect,
                    "method": method,
                    "anytime": False,
                    "note": FIXED_NOTE if sequences else NOBODY_FINISHED,
                    "rows": part.sort("rating", descending=True).select(COLUMNS).to_dicts(),
                }
            )
    ties = {
        (aspect, method): rule for aspect, method, rule in rated.select("aspect", "method", "ties").iter_rows()
    }
    for board in boards:
        board["ties"] = ties.get((board["aspect"], board["method"]))
    return boards or [_unranked(question.name, "no answers that count yet")]


def _single_board(copy: Path, study: Study, name: str) -> list[Board]:
    """Return the leaderboards of one question, independently of others that cannot be ranked."""
    try:
        return _boards(copy, study.model_copy(update={"questions": (study.question(name),)}))
    except StageError as error:
        return [_unranked(name, str(error))]


def _unranked(question: str, why: str) -> Board:
    return {"question": question, "rows": [], "why": why}


def main() -> int:
    """Run the command of this module."""
    folder, url = sys.argv[1], os.environ[DATABASE]
    try:
        boards = results(Path(folder), url)
    except UserError as error:
        return report_failure(error)
    json.dump(boards, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
