"""Adversarial rounds: from claims that raters made live to a study in which others verify them blind."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy import select

from beholder.collect.live.moderation import ban_words, banned_words, decide, moderation_queue
from beholder.collect.live.schema import FILE_NAME as LIVE_FILE
from beholder.collect.live.schema import attempts, open_live
from beholder.collect.live.targets import live_questions
from beholder.errors import RefusedError, StudyError, UserError
from beholder.study.kinds.choice import ChoiceQuestion
from beholder.study.kinds.write_prompt import FAILS
from beholder.study.question import Design
from beholder.study.study import FILE_NAME, Study, dump_study, load_study
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store

ROOM, CLAIMS = "rounds", "claims.csv"
"""Folder of the rounds in a study, and the file of claims in a round."""

VERIFIERS, MOST_TRIALS = 5, 60
"""Verifiers of a claim, and claims that one of them judges at most."""

CLAIMED = "no"
"""The option that a claim stands for: the image does not show what the text says."""


@dataclass(frozen=True)
class RoundOfClaims:
    """A round that was made: its folder, its claims, and what was left out."""

    folder: Path
    claims: int
    waiting: int
    """Claims that no researcher has decided on."""
    hidden: int


def moderate(
    folder: Path, approved: tuple[str, ...], hidden: tuple[str, ...], words: tuple[str, ...]
) -> list[Any]:
    """Decide on results, add banned words, and return what still waits; with a fault nothing is changed."""
    _require_live(folder)
    database = open_live(folder)
    try:
        with database.writing() as connection:
            if words:
                ban_words(connection, [*banned_words(connection), *words])
            for names, decision in ((approved, "approved"), (hidden, "hidden")):
                if names:
                    decide(connection, names, decision)  # type: ignore[arg-type]
            return moderation_queue(connection)
    except RefusedError as error:
        raise UserError(f"{folder / LIVE_FILE}: {error.message}") from error
    finally:
        database.engine.dispose()


def make_round(folder: Path, *, verifiers: int = VERIFIERS) -> RoundOfClaims:
    """Make the next round: a study in which others judge every approved claim that is in no round yet.

    Verifiers are asked what the image shows. Neither the claim nor its tags are part of the study.
    """
    _require_live(folder)
    study = load_study(folder)
    claims = _claims(folder, study)
    fresh = [claim for claim in claims if claim["moderation"] == "approved"]
    waiting = sum(claim["moderation"] == "waiting" for claim in claims)
    hidden = sum(claim["moderation"] == "hidden" for claim in claims)
    if not fresh:
        raise UserError(
            f"{folder}: no approved claims that are in no round yet; {waiting} wait for a decision, {hidden} are "
            f"hidden. Decide on the researcher's page, or by beholder rounds {folder} --approve NAME"
        )
    number = len(list((folder / ROOM).glob("*/study.toml"))) + 1
    place = folder / ROOM / str(number)
    place.mkdir(parents=True)
    _write_study(place, study, fresh, number, verifiers)
    columns = ("image", "claimed", "claimant", "failure")
    rows = [
        {"image": c["attempt"], "claimed": CLAIMED, "claimant": c["rater"], "failure": c["tags"]} for c in fresh
    ]
    pl.DataFrame(rows).select(columns).write_csv(place / CLAIMS)
    return RoundOfClaims(place, len(fresh), waiting, hidden)


def _require_live(folder: Path) -> None:
    if not (folder / LIVE_FILE).is_file():
        raise StudyError(
            str(folder),
            ["nobody has written a prompt in this study yet"],
            advice="Serve a question of kind write-prompt: beholder collect FOLDER",
        )


def _claims(folder: Path, study: Study) -> list[dict[str, Any]]:
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
    database = open_live(folder)
    with database.reading() as connection:
        made = connection.execute(
            select(attempts).where(attempts.c.status == "made").order_by(attempts.c.at)
        ).all()
    database.engine.dispose()
    last = {(row.author, row.trial): row for row in made if row.path is not None}
    earlier = {
        str(image)
        for file in (folder / ROOM).glob(f"*/{CLAIMS}")
        for image in pl.read_csv(file, infer_schema=False)["image"]
    }
    claims = []
    for trial, session, rater in answers.select("trial", "session", "rater").iter_rows():
        row = last.get((session, trial))
        if row is not None and row.attempt not in earlier:
            claims.append(dict(row._mapping) | {"rater": rater, "tags": tags_of.get((session, trial), "")})
    return claims


def _write_study(place: Path, study: Study, claims: list[dict[str, Any]], number: int, verifiers: int) -> None:
    """The study of verifiers: one choice question, the images where they are, and prompts as they were written."""
    trials = min(len(claims), MOST_TRIALS)
    raters = math.ceil(verifiers * len(claims) / trials)
    question = ChoiceQuestion(name="verify", design=Design(raters=raters, trials=trials))
    verified = Study(
        name=f"{study.name}-round-{number}",
        title=f"{study.title}: round {number}",
        seed=study.seed,
        questions=(question,),
    )
    (place / FILE_NAME).write_text(dump_study(verified), encoding="utf-8")
    base = place.parent.parent.resolve()
    frames = {
        "prompts": TABLES["prompts"].frame([{"prompt": c["attempt"], "text": c["text"]} for c in claims]),
        "images": TABLES["images"].frame(
            [
                {
                    "image": c["attempt"],
                    "path": str(base / c["path"]),
                    "generator": c["target"],
                    "real": False,
                    "gold": False,
                    "prompt": c["attempt"],
                    "width": c["width"],
                    "height": c["height"],
                    "sha256": c["sha256"],
                }
                for c in claims
            ]
        ),
    }
    Store(place).write(frames, Provenance("new", {"round": number}, study.seed, {}))
