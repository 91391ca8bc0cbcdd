"""The votes of an arena as a study of its own, which consolidate and rank read: ``FOLDER/arena``."""

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy import select

from beholder.collect.arena.board import vote_table
from beholder.collect.arena.own_prompts import OWN
from beholder.collect.arena.schema import ballots, entries, open_arena, voters, votes
from beholder.collect.arena.suspects import flagged_voters
from beholder.study.kinds.pair import PairQuestion
from beholder.study.question import Design
from beholder.study.study import FILE_NAME, Study, dump_study, load_study
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store

ROOM = "arena"
"""The folder of the study that the votes make."""

QUESTION = "arena"

FLAGGED = "flagged.json"
"""Voters who stand out, each with the reasons; nobody is excluded by it."""


def export_arena(folder: Path, url: str) -> str:
    """Write prompts, images, trials with their propensities, sessions and answers; return what was written.

    The images stay where they are: the new study refers to their files. Checks on identical pairs are attention
    trials. Probes of suspect voters, and votes on voters' own prompts, are in the arena's database alone.
    """
    study, store = load_study(folder), Store(folder)
    database = open_arena(url)
    with database.reading() as connection:
        people = connection.execute(select(voters).order_by(voters.c.created, voters.c.voter)).all()
        names = list(connection.scalars(select(entries.c.entry).order_by(entries.c.added, entries.c.entry)))
        rows = connection.execute(
            select(ballots, votes.c.outcome, votes.c.seconds, votes.c.at)
            .join(votes, votes.c.ballot == ballots.c.ballot)
            .order_by(ballots.c.voter, ballots.c.number)
        ).all()
    database.engine.dispose()
    every_row, rows = rows, [row for row in rows if _is_of_study(row)]
    slots = {row.voter: number for number, row in enumerate(person for person in people if person.votes)}
    place = folder / ROOM
    paths = [str(folder.resolve() / path) for path in store.read("images")["path"]]
    images = store.read("images").with_columns(path=pl.Series(paths))
    prompt_of = dict(store.read("prompts").select("text", "prompt").iter_rows())
    frames = {
        "prompts": store.read("prompts"),
        "images": images,
        "trials": TABLES["trials"].frame([_trial(row, slots[row.voter], prompt_of) for row in rows]),
        "sessions": TABLES["sessions"].frame([_session(row, slots[row.voter]) for row in people if row.votes]),
        "answers": TABLES["answers"].frame([_answer(row) for row in rows]),
        "skips": TABLES["skips"].empty(),
        "marks": TABLES["marks"].empty(),
    }
    question = PairQuestion(
        name=QUESTION, both_bad=True, design=Design(raters=max(len(slots), 1), trials=max(len(rows), 1))
    )
    arena = Study(
        name=f"{study.name}-arena", title=f"{study.title}: arena", seed=study.seed, questions=(question,)
    )
    if (place / "tables").exists():
        shutil.rmtree(place / "tables")
    place.mkdir(exist_ok=True)
    Store(place).write(frames, Provenance("import", {"format": "arena", "source": "arena"}, study.seed, {}))
    (place / FILE_NAME).write_text(dump_study(arena), encoding="utf-8")
    table = vote_table(sorted(every_row, key=lambda row: (row.at, row.ballot)), names)
    flagged = flagged_voters(table)
    (place / FLAGGED).write_text(json.dumps(flagged, indent=2) + "\n", encoding="utf-8")
    stand_out = f" {len(flagged):,} voters stand out: see {place / FLAGGED}." if flagged else ""
    return f"arena: {len(rows):,} votes of {len(slots):,} voters in {place}.{stand_out} Next: beholder run {place}"


def _is_of_study(row: Any) -> bool:  # noqa: ANN401 - a row
    """Whether a vote is on images of the study: neither a probe, nor on a voter's own prompt."""
    return not row.first_image.startswith(OWN) and (not row.is_check or row.first == row.second)


def _trial(row: Any, slot: int, prompt_of: dict[str, str]) -> dict[str, object]:  # noqa: ANN401 - a row
    return {
        "trial": row.ballot,
        "question": QUESTION,
        "kind": "pair",
        "slot": slot,
        "position": row.number,
        "block": 0,
        "role": "attention" if row.is_check else "test",
        "images": [row.first_image, row.second_image],
        "prompt": prompt_of.get(row.prompt),
        "expected": "tie" if row.is_check else None,
        "propensity": row.propensity,
    }


def _session(row: Any, slot: int) -> dict[str, object]:  # noqa: ANN401
    return {
        "session": f"session-{row.voter}",
        "rater": row.voter,
        "question": QUESTION,
        "slot": slot,
        "status": "running",
        "started": datetime.fromtimestamp(row.created, UTC),
        "simulated": False,
        "platform": "arena",
        "language": row.language,
    }


def _answer(row: Any) -> dict[str, object]:  # noqa: ANN401
    return {
        "trial": row.ballot,
        "session": f"session-{row.voter}",
        "rater": row.voter,
        "question": QUESTION,
        "aspect": "preference",
        "attempt": 1,
        "choice": row.outcome,
        "seconds": row.seconds,
        "valid": True,
        "answered": datetime.fromtimestamp(row.at, UTC),
    }
