"""Claims of raters that are in no round yet: about an image that was made, or about two that were scored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy import Row, select

from beholder.collect.live.schema import attempts, open_live
from beholder.collect.live.targets import live_questions
from beholder.study.kinds.write_prompt import FAILS
from beholder.study.study import Study
from beholder.tables.store import Store

ROOM, CLAIMS = "rounds", "claims.csv"
"""Folder of the rounds in a study, and the file of claims in a round."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim with the last result of its trial."""

    attempt: str
    target: str
    moderation: str
    rater: str
    tags: str
    text: str
    """The prompt."""
    path: str | None
    """File of the image that was made, within the study; none where two images of the study were scored."""
    sha256: str
    width: int
    height: int
    better: str = ""
    """Of two images that were scored: the one with the lower score, which is claimed to be the better one."""
    worse: str = ""

    @property
    def about_scorer(self) -> bool:
        """Whether it is about two images that were scored."""
        return self.path is None


def fresh_claims(folder: Path, study: Study) -> list[Claim]:
    """Claims of the answers, each with the last result of its trial; those of earlier rounds are left out."""
    store = Store(folder)
    names = [question.name for question in live_questions(study)]
    answers = store.read("answers").filter(
        pl.col("question").is_in(names) & pl.col("valid") & (pl.col("choice") == FAILS)
    )
    tags = store.read("marks").filter(pl.col("kind") == "tag").sort("session", "trial", "number")
    tags_of = {
        key: " ".join(group["aspect"]) for key, group in tags.group_by(["session", "trial"], maintain_order=True)
    }
    last = _last_results(folder)
    images_of = dict(store.read("trials").select("trial", "images").iter_rows())
    earlier = _in_rounds(folder)
    claims = []
    for trial, session, rater in answers.select("trial", "session", "rater").iter_rows():
        row = last.get((session, trial))
        if row is not None and row.attempt not in earlier:
            claims.append(_claim(row, rater, tags_of.get((session, trial), ""), images_of.get(trial, ())))
    return [claim for claim in claims if not claim.about_scorer or claim.better]


def _last_results(folder: Path) -> Mapping[tuple[str, str], Row[Any]]:
    """Session and trial -> the last result that was made: an image, or two scores."""
    database = open_live(folder)
    with database.reading() as connection:
        rows = connection.execute(
            select(attempts).where(attempts.c.status == "made").order_by(attempts.c.at)
        ).all()
    database.engine.dispose()
    return {
        (row.author, row.trial): row
        for row in rows
        if row.path is not None or (row.picked is not None and row.scores is not None)
    }


def _in_rounds(folder: Path) -> set[str]:
    return {
        str(image)
        for file in (folder / ROOM).glob(f"*/{CLAIMS}")
        for image in pl.read_csv(file, infer_schema=False)["image"]
    }


def _claim(row: Row[Any], rater: str, tags: str, shown_images: Sequence[str]) -> Claim:
    """A claim from its result; of equal scores neither is preferred, so there is nothing to claim."""
    common = (row.attempt, row.target, row.moderation, rater, tags, row.text)
    if row.path is not None:
        return Claim(*common, row.path, row.sha256, row.width, row.height)
    shown_score, picked_score = row.scores
    if not shown_images or shown_score == picked_score:
        return Claim(*common, None, "", 0, 0)
    better, worse = (shown_images[0], row.picked) if shown_score < picked_score else (row.picked, shown_images[0])
    return Claim(*common, None, "", 0, 0, better, worse)
