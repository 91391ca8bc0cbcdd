"""Pairs on a voter's own prompt: two entries are drawn as for any pair, and make their images meanwhile.

The pair is drawn before anything is made, and logged with its propensity. Its votes count on the board once both
images have been approved; nobody but the voter ever sees them before. They are left out of the intervals that hold
at any time, which rest on prompts that no voter chose.
"""

import secrets as randomness
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, delete, insert, select

from beholder.arena.pair_choice import draw_pair
from beholder.collect.arena.ballots import CAP, Draw
from beholder.collect.arena.schema import ballots
from beholder.collect.live.makers import Maker
from beholder.collect.live.room import Allowance, LiveRoom, request_results
from beholder.collect.live.schema import attempts
from beholder.collect.live.worker_makers import generator_maker
from beholder.errors import StudyError
from beholder.study.study import FILE_NAME, Study

OWN = "live:"
"""What the name of an image begins with that was made for a voter; the name of the result follows."""

ALLOWANCE = Allowance(tries=1, most=20, longest=300)
"""Ten prompts of two images each."""


def makers_of_entries(study: Study, folder: Path, entries: Iterable[str]) -> dict[str, Maker]:
    """What makes the images of every entry; an error names all that cannot make any."""
    able = {generator.name: generator for generator in study.generators if generator.kind != "folder"}
    lacking = [entry for entry in entries if entry not in able]
    if lacking:
        faults = [f"entry '{entry}' has no [[generators]] section that can make an image" for entry in lacking]
        raise StudyError(str(folder / FILE_NAME), faults, advice="Add the sections, or leave out --own-prompts.")
    return {entry: generator_maker(able[entry], folder) for entry in entries}


def ask_for_pair(
    connection: Connection,
    room: LiveRoom,
    voter: Row[Any],
    text: str,
    draw: Draw,
    rng: np.random.Generator,
    *,
    now: float,
) -> str | None:
    """Draw two entries for a prompt and order their images; return why not, where that is refused."""
    drawn = draw_pair(draw.plan, rng)
    pair = [draw.entries[drawn.first], draw.entries[drawn.second]]
    reply = request_results(room, voter.voter, f"own-{randomness.token_hex(8)}", text, pair, ALLOWANCE)
    if reply["refused"] is not None:
        return str(reply["refused"])
    last = connection.scalar(
        select(ballots.c.number).where(ballots.c.voter == voter.voter).order_by(ballots.c.number.desc()).limit(1)
    )
    number = 0 if last is None else last + 1
    if number >= CAP:
        return "no-more"
    connection.execute(
        insert(ballots).values(
            ballot=randomness.token_hex(12),
            voter=voter.voter,
            number=number,
            prompt=" ".join(text.split()),
            first=pair[0],
            second=pair[1],
            first_image=OWN + reply["attempts"][0],
            second_image=OWN + reply["attempts"][1],
            propensity=drawn.propensity,
            even=False,
            is_check=False,
            entries=len(draw.entries),
            served=now,
        )
    )
    return None


def own_images(room: LiveRoom, ballot: Row[Any]) -> tuple[str, list[dict[str, Any]]]:
    """How far the images of a pair are: ``waiting``, ``made``, ``refused`` or ``failed``; and both results."""
    views = [
        room.result(ballot.voter, name.removeprefix(OWN)) for name in (ballot.first_image, ballot.second_image)
    ]
    states = [view["status"] for view in views]
    for state in ("failed", "refused", "waiting"):
        if state in states:
            return state, views
    return "made", views


def drop_ballot(connection: Connection, ballot: Row[Any]) -> None:
    """Forget a pair whose images could not be made."""
    connection.execute(delete(ballots).where(ballots.c.ballot == ballot.ballot))


def approved_images(room: LiveRoom | None) -> dict[str, Path]:
    """Names and files of the images that may count and be seen by others."""
    if room is None:
        return {}
    with room.database.reading() as connection:
        rows = connection.execute(
            select(attempts.c.attempt, attempts.c.path).where(
                attempts.c.moderation == "approved", attempts.c.path != ""
            )
        ).all()
    return {OWN + row.attempt: room.folder / row.path for row in rows}
