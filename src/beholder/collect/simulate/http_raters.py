"""Simulated raters that take part through the HTTP interface, page by page, as a browser would.

A page does not know which image it shows. A simulated rater must, to see its known flaws, so this module looks up
the session's tokens in the database; everything else goes through HTTP.
"""

import asyncio
import secrets as randomness
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx
import numpy as np
from sqlalchemy import select

from beholder.collect.database.schema import Database, sessions
from beholder.collect.server.service import COOKIE
from beholder.collect.session.admission import SIMULATED
from beholder.collect.session.catalogue import Catalogue
from beholder.collect.session.cookies import token_of
from beholder.collect.session.identity import hash_of, opaque
from beholder.collect.session.trial_view import image_token
from beholder.simulate.answering import Answered, answer
from beholder.simulate.raters import SimulatedRater
from beholder.simulate.sight import View, sight_of

FRAME_MS = 1000 / 60

BUSY = 503
WAITS = (1, 2, 4, 8, 16, 30, 30)
"""Seconds after which a busy server is asked again; a slow disk may take its time."""

State = dict[str, Any]


@dataclass
class RehearsalTally:
    """Outcomes of the sessions, and the number of answers."""

    outcomes: dict[str, int] = field(default_factory=dict)
    answers: int = 0

    def end(self, outcome: str) -> None:
        """Count the end of a session."""
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1


async def play_raters(
    address: str,
    url: str,
    question: str,
    raters: Sequence[SimulatedRater],
    views: Mapping[str, View],
    *,
    seed: Sequence[int],
    at_once: int = 8,
) -> RehearsalTally:
    """Let all raters take part in a question, ``at_once`` at a time; those without a slot are turned away."""
    database = Database(url)
    catalogue, tally, gate = Catalogue(database), RehearsalTally(), asyncio.Semaphore(at_once)

    async def take_part(number: int, rater: SimulatedRater) -> None:
        async with gate, httpx.AsyncClient(base_url=address, timeout=60) as client:
            browser = _HttpRater(client, database, catalogue, rater, views, np.random.default_rng([*seed, number]))
            await browser.take_part(question, tally)

    await asyncio.gather(*(take_part(number, rater) for number, rater in enumerate(raters)))
    database.engine.dispose()
    return tally


async def post_patiently(
    client: httpx.AsyncClient, path: str, body: Mapping[str, object], waits: Sequence[float] = WAITS
) -> httpx.Response:
    """Post, and post again where the server is busy or the connection was lost, as the pages do.

    A busy server has written nothing, and an answer that arrives twice counts once.
    """
    for wait in waits:
        try:
            reply = await client.post(path, json=body)
        except httpx.TransportError:  # such as a connection that was idle for too long on a busy machine
            reply = None
        if reply is not None and reply.status_code != BUSY:
            return reply
        await asyncio.sleep(wait)
    return await client.post(path, json=body)


class _HttpRater:
    """One simulated rater in a browser."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        database: Database,
        catalogue: Catalogue,
        rater: SimulatedRater,
        views: Mapping[str, View],
        rng: np.random.Generator,
    ) -> None:
        self._client, self._database, self._catalogue = client, database, catalogue
        self._rater, self._views, self._rng = rater, views, rng
        self._images: dict[str, str] = {}

    async def take_part(self, question: str, tally: RehearsalTally) -> None:
        """Go from the link to the last page."""
        proof = opaque(self._catalogue.secret("token"), SIMULATED)
        parameters = {"PROLIFIC_PID": self._rater.rater, SIMULATED: proof}
        body = {"parameters": parameters, "path": f"/q/{question}", "language": "en"}
        reply = await post_patiently(self._client, "/api/enter", body)
        if reply.status_code == 409:
            tally.end("turned away")
            return
        state = reply.raise_for_status().json()
        self._look_up_tokens()
        while state["step"] != "done":
            state = await self._step(question, state, tally)
        tally.end(state["done"]["outcome"])

    async def _step(self, question: str, state: State, tally: RehearsalTally) -> State:
        step = state["step"]
        if step == "trial":
            tally.answers += 1
            return await self._answer(question, state)
        if step == "consent":
            consent = state["consent"]
            body = {name: consent[name] for name in ("hash", "version", "language")}
            return await self._post("/api/consent", body | {"agreed": True})
        if step == "check":
            return await self._post("/api/check", _SCREEN)
        if step == "instructions":
            return await self._post("/api/begin", {})
        if step == "break":
            return await self._post("/api/break", {})
        if step == "debrief":
            return await self._post("/api/debrief", {"clear": 4, "fair": 4, "comment": ""})
        raise RuntimeError(f"a simulated rater does not know the step '{step}'")

    async def _answer(self, question: str, state: State) -> State:
        trial = state["trial"]
        sight = sight_of([self._views[self._images[image["token"]]] for image in trial["images"]])
        progress = state["progress"]["done"] / max(state["progress"]["total"], 1)
        exposure = trial["exposure_ms"]
        frames = None if exposure is None else max(round(exposure / FRAME_MS), 1)
        answered = answer(
            self._rater,
            self._catalogue.questions[question],
            sight,
            instruction=trial["instruction"],
            progress=progress,
            exposure_ms=None if frames is None else frames * FRAME_MS,
            rng=self._rng,
        )
        reply = await self._post("/api/answer", _body(trial, answered, frames))
        next_state: State = reply["state"]
        return next_state

    async def _post(self, path: str, body: Mapping[str, object]) -> State:
        reply = await post_patiently(self._client, path, body)
        if reply.status_code != 200:
            raise RuntimeError(f"{path} answered {reply.status_code}: {reply.text}")
        state: State = reply.json()
        return state

    def _look_up_tokens(self) -> None:
        """Look up the image of each token of this session."""
        token = token_of(self._client.cookies[COOKIE])
        with self._database.reading() as connection:
            row = connection.execute(select(sessions).where(sessions.c.token_hash == hash_of(token))).one()
        key = self._catalogue.secret("token")
        trials = self._catalogue.planned(row.question, row.slot, row.plan)
        self._images = {
            image_token(key, row.session, trial.trial, image): image for trial in trials for image in trial.images
        }


_SCREEN = {
    "screen_width": 1920,
    "screen_height": 1080,
    "viewport_width": 1600,
    "viewport_height": 900,
    "pixel_ratio": 1,
    "zoom": 1,
    "frame_ms": FRAME_MS,
    "touch": False,
    "user_agent": "beholder",
}


def _body(trial: State, answered: Answered, frames: int | None) -> dict[str, object]:
    aspects = [
        {"aspect": a.aspect, "choice": a.choice, "value": a.value, "ranking": a.ranking}
        for a in answered.response.answers
    ]
    marks = [
        {
            "aspect": m.aspect,
            "kind": m.kind,
            "image": m.image,
            "x": m.point[0] if m.point else None,
            "y": m.point[1] if m.point else None,
            "word": m.word,
            "at_ms": m.at_ms,
        }
        for m in answered.response.marks
    ]
    exposure = None
    if frames is not None:
        exposure = {
            "intended_ms": trial["exposure_ms"],
            "intended_frames": frames,
            "shown_ms": frames * FRAME_MS,
            "shown_frames": frames,
            "dropped_frames": 0,
            "frame_ms": FRAME_MS,
        }
    return {
        "trial": trial["trial"],
        "attempt": trial["attempt"],
        "key": randomness.token_urlsafe(12),
        "said": aspects,
        "marks": marks,
        "seconds": round(answered.seconds, 3),
        "exposure": exposure,
    }
