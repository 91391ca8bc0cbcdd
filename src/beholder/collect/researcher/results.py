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
from beholder.collect.researcher.child_processes import report_failure
from beholder.collect.researcher.snapshot import run_stage, snapshot, write_study
from beholder.errors import StageError, UserError
from beholder.study.study import Study, load_study
from beholder.tables.store import Store

ALL_IMAGES = "all"
COLUMNS = ("generator", "rating", "low", "high", "rank_low", "rank_high", "answers", "images", "raters")
NOTE = (
    "The confidence intervals are valid if the number of raters was fixed in advance. "
    "Stopping when the results please is not valid unless it was planned."
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
    """Return one leaderboard per question, aspect and method."""
    write_study(copy, study)
    run_stage("consolidate", copy)
    run_stage("rank", copy)
    ratings = Store(copy).read("ratings").filter(pl.col("slice") == ALL_IMAGES)
    names = [question.name for question in study.questions]
    rated = set(ratings["question"])
    boards = [
        {
            "question": question,
            "aspect": aspect,
            "method": method,
            "ties": part["ties"][0],
            "rows": part.sort("rating", descending=True).select(COLUMNS).to_dicts(),
        }
        for (question, aspect, method), part in ratings.partition_by(
            "question", "aspect", "method", as_dict=True, maintain_order=True
        ).items()
    ]
    missing = [_unranked(name, "no answers that count yet") for name in names if name not in rated]
    return sorted([*boards, *missing], key=lambda board: names.index(str(board["question"])))


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
