"""What raters may ask of targets, and what they get: after consent, within limits, without banned words."""

import re
import secrets as randomness
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from beholder.collect.live.makers import LIVE_SECONDS, Made, Maker, Makers, Order
from beholder.collect.live.schema import IMAGES_ROOM, attempts, banned, consents, open_live
from beholder.errors import RefusedError
from beholder.images.display import encode
from beholder.study.words import split_words

WORD = re.compile(r"\w+")
SHORTEST = 3
"""Characters of a prompt at least."""

PATIENCE = 3 * LIVE_SECONDS
"""Seconds after which a result that never came counts as failed: the server was started again meanwhile."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """How many results an author may ask for: in a trial, and in all; and how long a prompt may be."""

    tries: int
    most: int
    longest: int


class LiveRoom:
    """The live results of one study folder; several server processes may share it."""

    def __init__(self, folder: Path, makers: Mapping[str, Maker]) -> None:
        self.folder = folder
        self.database = open_live(folder)
        self.makers = Makers(makers, self._deliver)

    def close(self) -> None:
        """Let the workers end."""
        self.makers.close()
        self.database.engine.dispose()

    def agree(self, author: str) -> None:
        """Record that the author was warned of what may come, and wants to go on."""
        with self.database.writing() as connection:
            if not _has_agreed(connection, author):
                connection.execute(insert(consents).values(author=author, at=time.time()))

    def standing(self, author: str, trial: str, allowance: Allowance) -> dict[str, Any]:
        """What the page shows before a prompt: whether the author agreed, and how many results are left."""
        with self.database.reading() as connection:
            left = min(_left(connection, author, trial, allowance))
            last = _rows(connection, author, trial)
            return {
                "agreed": _has_agreed(connection, author),
                "left": left,
                "last": None if not last else _view(last[-1]),
            }

    def ask(
        self,
        author: str,
        trial: str,
        text: str,
        targets: Sequence[str],
        allowance: Allowance,
        *,
        picked: str | None = None,
        files: tuple[Path, ...] = (),
    ) -> list[str]:
        """Record a prompt and order its results, one of each target; return their names."""
        prompt = " ".join(text.split())
        self.makers.require_room(*targets)
        names = [randomness.token_hex(12) for _ in targets]
        with self.database.writing() as connection:
            if not _has_agreed(connection, author):
                raise RefusedError(403, "not-agreed", "nobody writes prompts who has not read the warning")
            if picked is None:
                _require_allowed(connection, prompt, allowance.longest)
            of_trial, of_all = _left(connection, author, trial, allowance)
            if of_trial < 1 or of_all < len(targets):
                code = "no-tries" if of_all >= len(targets) else "no-more"
                raise RefusedError(409, code, "no results are left: of this trial, or of all")
            number = len(_rows(connection, author, trial))
            for name, target in zip(names, targets, strict=True):
                connection.execute(
                    insert(attempts).values(
                        attempt=name,
                        author=author,
                        trial=trial,
                        number=number,
                        target=target,
                        text=prompt,
                        picked=picked,
                        status="waiting",
                        note="",
                        at=time.time(),
                        moderation="waiting",
                    )
                )
        seed = randomness.randbelow(2**31)
        for name, target in zip(names, targets, strict=True):
            self.makers.order(target, Order(name, prompt, seed, files))
        return names

    def result(self, author: str, attempt: str) -> dict[str, Any]:
        """A result as its author may see it."""
        with self.database.reading() as connection:
            return _view(self._own(connection, author, attempt))

    def content(self, author: str | None, attempt: str, *, side: int, quality: int, background: str) -> bytes:
        """The image of a result, encoded as all images of the study; without an author, for the researcher."""
        with self.database.reading() as connection:
            row = self._own(connection, author, attempt)
        if row.path is None:
            raise RefusedError(404, "no-image", "there is no image of this result")
        return encode(self.folder / row.path, side, quality, background)

    def last_made(self, author: str, trial: str) -> Row[Any] | None:
        """The last result of a trial: what a claim is about."""
        with self.database.reading() as connection:
            results = [row for row in _rows(connection, author, trial) if row.status == "made"]
        return results[-1] if results else None

    def _own(self, connection: Connection, author: str | None, attempt: str) -> Row[Any]:
        row = connection.execute(select(attempts).where(attempts.c.attempt == attempt)).one_or_none()
        if row is None or author not in (None, row.author):
            raise RefusedError(404, "no-attempt", "there is no such result for this rater")
        return row

    def _deliver(self, attempt: str, result: Made) -> None:
        """Store a result: first its image, then that it is there."""
        fields: dict[str, Any] = {"status": result.status, "note": result.note, "ended": time.time()}
        if result.image is not None:
            path = Path(IMAGES_ROOM) / f"{result.image.sha256[:24]}{result.image.suffix}"
            (self.folder / IMAGES_ROOM).mkdir(exist_ok=True)
            (self.folder / path).write_bytes(result.image.content)
            image = result.image
            fields |= {"path": str(path), "sha256": image.sha256, "width": image.width, "height": image.height}
        if result.scores is not None:
            fields["scores"] = list(result.scores)
        with self.database.writing() as connection:
            connection.execute(update(attempts).where(attempts.c.attempt == attempt).values(**fields))


EXPECTED = ("not-agreed", "busy", "length", "banned", "no-tries", "no-more")
"""Refusals that a page explains to the rater; they are replies, not errors."""


def request_results(
    room: LiveRoom,
    author: str,
    trial: str,
    text: str,
    targets: Sequence[str],
    allowance: Allowance,
    picked: str | None = None,
    files: tuple[Path, ...] = (),
) -> dict[str, Any]:
    """Ask for results; reply with their names, or with why there are none."""
    try:
        names = room.ask(author, trial, text, targets, allowance, picked=picked, files=files)
    except RefusedError as refusal:
        if refusal.code not in EXPECTED:
            raise
        return {"attempts": [], "refused": refusal.code}
    return {"attempts": names, "refused": None}


def _has_agreed(connection: Connection, author: str) -> bool:
    return connection.scalar(select(consents.c.at).where(consents.c.author == author)) is not None


def _require_allowed(connection: Connection, prompt: str, longest: int) -> None:
    """Refuse a prompt that is too short or long, or holds a banned word; which one is not said."""
    if not SHORTEST <= len(prompt) <= longest:
        raise RefusedError(422, "length", f"a prompt has {SHORTEST} to {longest} characters; found {len(prompt)}")
    words = {word.lower() for word in WORD.findall(prompt)}
    if words and connection.scalar(select(banned.c.word).where(banned.c.word.in_(words)).limit(1)) is not None:
        raise RefusedError(422, "banned", "the prompt holds a word that this study does not allow")


def _left(connection: Connection, author: str, trial: str, allowance: Allowance) -> tuple[int, int]:
    """Results that are left of this trial and of all; those that failed do not count."""
    used = select(func.count()).where(attempts.c.author == author, attempts.c.status != "failed")
    of_all = int(connection.scalar(used) or 0)
    prompts = {row.number for row in _rows(connection, author, trial) if row.status != "failed"}
    return allowance.tries - len(prompts), allowance.most - of_all


def _rows(connection: Connection, author: str, trial: str) -> Sequence[Row[Any]]:
    of_trial = (attempts.c.author == author) & (attempts.c.trial == trial)
    return connection.execute(select(attempts).where(of_trial).order_by(attempts.c.at)).all()


def _view(row: Row[Any]) -> dict[str, Any]:
    late = row.status == "waiting" and time.time() - row.at > PATIENCE
    return {
        "attempt": row.attempt,
        "status": "failed" if late else row.status,
        "note": row.note,
        "text": row.text,
        "words": list(split_words(row.text)),
        "picked": row.picked,
        "scores": row.scores,
        "width": row.width,
        "height": row.height,
    }
