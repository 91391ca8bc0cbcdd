"""What the routes of an arena share: its database, its images, and the draw and the board, renewed as votes
come."""

import logging
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, func, insert, select

from beholder.arena.pair_choice import EVEN, exposures, plan_arena
from beholder.collect.arena.ballots import Draw
from beholder.collect.arena.board import COVARIATES, VoteTable, build_board, vote_table
from beholder.collect.arena.catalogue import TOKEN, ArenaImages, active_entries, load_images, register
from beholder.collect.arena.own_prompts import OWN, approved_images, makers_of_entries
from beholder.collect.arena.schema import ballots, entries, log, open_arena, secrets, styles, voters, votes
from beholder.collect.arena.suspects import find_suspects, flagged_voters
from beholder.collect.display.served_images import ServedImages
from beholder.collect.live.room import LiveRoom
from beholder.collect.session.cookies import token_of
from beholder.collect.session.identity import hash_of, opaque
from beholder.errors import RefusedError, StageError
from beholder.images.display import common_side
from beholder.images.style import file_style
from beholder.study.study import load_study
from beholder.tables.store import Store

RENEW_SECONDS = 3.0
"""Between two looks for new votes."""

RESTS = 9.0
"""Rest after a renewal, as a multiple of its duration: votes have nine tenths of the time for themselves."""

faults = logging.getLogger(__name__)


class ArenaService:
    """The service of one arena. Whatever it keeps in memory can be made again from the database."""

    def __init__(
        self, folder: Path, url: str, *, own_prompts: bool = False, rng: np.random.Generator | None = None
    ) -> None:
        self.folder, self.study = folder, load_study(folder)
        self.images = load_images(folder)
        makers = makers_of_entries(self.study, folder, self.images.entries) if own_prompts else {}
        self.live = LiveRoom(folder, makers) if own_prompts else None
        self.database = open_arena(url)
        with self.database.writing() as connection:
            register(connection, self.images)
            start = {"even": EVEN, "prompts": len(self.images.by_prompt)}
            connection.execute(insert(log).values(at=time.time(), kind="started", detail=start))
        with self.database.reading() as connection:
            self.key = str(connection.scalar(select(secrets.c.value).where(secrets.c.name == TOKEN)))
        collecting = self.study.collect
        sizes = [(picture.width, picture.height) for picture in self.images.pictures.values()]
        self.side = common_side(sizes, collecting.image_side)
        self.served = ServedImages(
            folder,
            self.images.pictures,
            side=self.side,
            quality=collecting.image_quality,
            background=self.study.images.background,
        )
        self._lengths = _sent_lengths(folder, self.images)
        self._turn = threading.Lock()
        self._rng = rng or np.random.default_rng()  # unpredictable; what it drew is logged with its propensity
        self._known = -1
        self.draw = _draw(vote_table([], []), self.images.entries)
        self.table: VoteTable = vote_table([], [])
        self.board: dict[str, Any] = {}
        self.renew()

    def now(self) -> float:
        """Return seconds since 1970."""
        return time.time()

    def draw_rng(self) -> np.random.Generator:
        """A generator for one draw: threads do not share one."""
        with self._turn:
            return np.random.default_rng(self._rng.integers(2**63))

    def voter(self, connection: Connection, cookie: str | None) -> Row[Any]:
        """Return the voter of a cookie; refuse an unknown one."""
        row = None
        if cookie:
            query = select(voters).where(voters.c.token_hash == hash_of(token_of(cookie)))
            row = connection.execute(query).one_or_none()
        if row is None:
            raise RefusedError(401, "no-session", "open the page of the arena first")
        return row

    def image_token(self, voter: str, ballot: str, side: str) -> str:
        """Make the token by which only this voter may fetch this image of this pair: it names no entry."""
        return opaque(self.key, "arena-image", voter, ballot, side)

    def renew(self) -> None:
        """Compute the draw and the board again where votes or entries have changed."""
        with self.database.reading() as connection:
            count = int(connection.scalar(select(func.count()).select_from(votes)) or 0)
            active = active_entries(connection)
            if count == self._known and tuple(active) == self.draw.entries:
                return
            history = connection.execute(select(entries).order_by(entries.c.added, entries.c.entry)).all()
            rows = connection.execute(
                select(ballots, votes.c.outcome, votes.c.seconds, votes.c.at)
                .join(votes, votes.c.ballot == ballots.c.ballot)
                .order_by(votes.c.at, votes.c.ballot)
            ).all()
            events = connection.execute(select(log).where(log.c.kind != "started").order_by(log.c.id)).all()
        approved = approved_images(self.live)
        rows = [row for row in rows if not row.first_image.startswith(OWN) or _may_count(row, approved)]
        if len(active) < 2:
            raise StageError("an arena needs at least two entries that are not retired")
        table = vote_table(rows, [row.entry for row in history])
        suspects = find_suspects(table, self.images)
        probes = {} if suspects is None else suspects.probes
        self.draw = replace(_draw(table, tuple(active)), probes=probes)
        self.table = table
        self._measure_own(table, approved)
        self.board = self._board(table, history, events, count)
        self._known = count

    def _board(self, table: VoteTable, history: Any, events: Any, count: int) -> dict[str, Any]:  # noqa: ANN401 - rows
        styled = self._styles()
        exposure_of = dict(zip(self.draw.entries, exposures(self.draw.plan, len(self.draw.entries)), strict=True))
        rows = build_board(table, styled)
        for row, entry in zip(rows, history, strict=True):
            row |= {"retired": entry.retired, "reason": entry.reason, "added": entry.added}
            row["exposure"] = float(exposure_of.get(entry.entry, 0.0))
        return {
            "title": self.study.title,
            "votes": int(table.counted.sum()),
            "voters": len(table.voters),
            "even": EVEN,
            "entries": rows,
            "covariates": list(COVARIATES),
            "log": [{"at": event.at, "kind": event.kind, **event.detail} for event in events],
            "known": count,
        }

    def flagged(self) -> dict[str, list[str]]:
        """Voters who stand out, for whoever runs the arena."""
        return flagged_voters(self.table)

    def _styles(self) -> dict[str, tuple[float, float, float, float]]:
        with self.database.reading() as connection:
            rows = connection.execute(select(styles)).all()
        lengths = self._lengths
        return {row.image: (row.saturation, row.size, row.sharpness, lengths.get(row.image, 0.0)) for row in rows}

    def _measure_own(self, table: VoteTable, approved: dict[str, Path]) -> None:
        """Measure the style of approved images on voters' own prompts; both of a pair have the same prompt."""
        with self.database.reading() as connection:
            measured = set(connection.scalars(select(styles.c.image)))
        for name in [name for name in table.images if name in approved and name not in measured]:
            with self.database.writing() as connection:
                connection.execute(insert(styles).values(image=name, **file_style(approved[name])._asdict()))

    def measure_styles(self) -> None:
        """Measure the style of images that are new; one that cannot be read has none."""
        with self.database.reading() as connection:
            measured_images = set(connection.scalars(select(styles.c.image)))
        for name, picture in self.images.pictures.items():
            if name in measured_images:
                continue
            try:
                style = file_style(self.folder / picture.path)
            except (OSError, ValueError):
                faults.warning("%s cannot be read: there is no style control", picture.path)
                continue
            with self.database.writing() as connection:
                connection.execute(insert(styles).values(image=name, **style._asdict()))


def _may_count(row: Row[Any], approved: dict[str, Path]) -> bool:
    return row.first_image in approved and row.second_image in approved


def keep_renewing(service: ArenaService, stop: threading.Event) -> None:
    """Renew draw and board until told to stop; a fault is logged, and the last board stays."""
    service.measure_styles()
    rest = RENEW_SECONDS
    while not stop.wait(rest):
        began = time.perf_counter()
        try:
            service.renew()
        except Exception:  # noqa: BLE001 - votes are taken whatever becomes of the board
            faults.exception("the board could not be renewed")
        rest = max(RENEW_SECONDS, RESTS * (time.perf_counter() - began))


def _draw(table: VoteTable, active: tuple[str, ...]) -> Draw:
    """Plan the pairs of the active entries, from the votes on two of them."""
    place = {entry: number for number, entry in enumerate(active)}
    number = np.array([place.get(entry, -1) for entry in table.entries], np.int64)
    used = (
        table.counted & (number[table.first] >= 0) & (number[table.second] >= 0)
        if len(table.first)
        else table.counted
    )
    first, second = number[table.first[used]], number[table.second[used]]
    return Draw(plan_arena(first, second, table.wins[used], entries=len(active)), active)


def _sent_lengths(folder: Path, images: ArenaImages) -> dict[str, float]:
    """Characters of the prompt behind each image, as it was sent to the generator where that is recorded."""
    sent = Store(folder).read_or_empty("generations")
    by_path = dict(sent.select("path", "sent").iter_rows()) if not sent.is_empty() else {}
    prompt_of = {image: prompt for prompt, by_entry in images.by_prompt.items() for image in by_entry.values()}
    return {
        name: float(len(by_path.get(picture.path) or prompt_of.get(name, "")))
        for name, picture in images.pictures.items()
    }
