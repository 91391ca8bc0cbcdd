"""Adversarial rounds: from claims that raters made live to a study in which others verify them blind.

A round is about one target. Of an image that a generator made, verifiers say whether it shows what the text says;
of two images that a scorer compared, which one is better. Neither study holds the claims.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from beholder.api.rounds.fresh_claims import CLAIMS, ROOM, Claim, fresh_claims
from beholder.collect.live.moderation import ban_words, banned_words, decide, moderation_queue
from beholder.collect.live.schema import FILE_NAME as LIVE_FILE
from beholder.collect.live.schema import open_live
from beholder.errors import RefusedError, StudyError, UserError
from beholder.rounds.pair_claims import PLACES, place_of, placed_name
from beholder.study.kinds.choice import ChoiceQuestion
from beholder.study.kinds.pair import PairQuestion
from beholder.study.question import Design
from beholder.study.study import FILE_NAME, Study, dump_study, load_study
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store

VERIFIERS, MOST_TRIALS = 5, 60
"""Verifiers of a claim, and claims that one of them judges at most."""

CLAIMED = "no"
"""The option that a claim about a generator stands for: the image does not show what the text says."""


@dataclass(frozen=True)
class RoundOfClaims:
    """A round that was made: its folder, its target, its claims, and what was left out."""

    folder: Path
    target: str
    claims: int
    waiting: int
    """Claims that no researcher has decided on."""
    hidden: int
    others: int
    """Approved claims about other targets: the next call makes a round of them."""


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

    A round is about one target, that of the earliest of these claims.
    """
    _require_live(folder)
    study = load_study(folder)
    claims = fresh_claims(folder, study)
    approved = [claim for claim in claims if claim.moderation == "approved"]
    waiting = sum(claim.moderation == "waiting" for claim in claims)
    hidden = sum(claim.moderation == "hidden" for claim in claims)
    if not approved:
        raise UserError(
            f"{folder}: no approved claims that are in no round yet; {waiting} wait for a decision, {hidden} are "
            f"hidden. Decide on the researcher's page, or by beholder rounds {folder} --approve NAME"
        )
    target = approved[0].target
    chosen = [claim for claim in approved if claim.target == target]
    place = next_round(folder)
    (write_pairs if chosen[0].about_scorer else _write_singles)(place, folder, study, chosen, verifiers)
    return RoundOfClaims(place, target, len(chosen), waiting, hidden, len(approved) - len(chosen))


def next_round(folder: Path) -> Path:
    """Make the folder of the next round, numbered from 1."""
    place = folder / ROOM / str(len(list((folder / ROOM).glob("*/study.toml"))) + 1)
    place.mkdir(parents=True)
    return place


def _require_live(folder: Path) -> None:
    if not (folder / LIVE_FILE).is_file():
        raise StudyError(
            str(folder),
            ["nobody has written a prompt in this study yet"],
            advice="Serve a question of kind write-prompt: beholder collect FOLDER",
        )


def _write_singles(place: Path, folder: Path, study: Study, claims: Sequence[Claim], verifiers: int) -> None:
    """Images that a generator made, where they are, with the prompts as they were written."""
    base = folder.resolve()
    rows = [
        {
            **{"image": claim.attempt, "path": str(base / str(claim.path)), "generator": claim.target},
            **{"real": False, "gold": False, "prompt": claim.attempt},
            **{"width": claim.width, "height": claim.height, "sha256": claim.sha256},
        }
        for claim in claims
    ]
    _write_study(place, study, ChoiceQuestion(name="verify", design=_design(claims, verifiers)), claims, rows)
    listed = [
        {"image": claim.attempt, "claimed": CLAIMED, "claimant": claim.rater, "failure": claim.tags}
        | {"target": claim.target}
        for claim in claims
    ]
    pl.DataFrame(listed).write_csv(place / CLAIMS)


def write_pairs(place: Path, folder: Path, study: Study, claims: Sequence[Claim], verifiers: int) -> None:
    """Pairs of images of the study, in an order that has nothing to do with the claim."""
    base = folder.resolve()
    pictures = {row["image"]: row for row in Store(folder).read("images").to_dicts()}
    rows, listed = list[dict[str, object]](), list[dict[str, str]]()
    for claim in claims:
        claimed = place_of(claim.attempt)
        images = (claim.better, claim.worse) if claimed == PLACES[0] else (claim.worse, claim.better)
        rows += [
            pictures[image]
            | {"image": placed_name(claim.attempt, where), "path": str(base / pictures[image]["path"])}
            | {"generator": where, "real": False, "gold": False, "prompt": claim.attempt}
            for where, image in zip(PLACES, images, strict=True)
        ]
        listed.append(
            {"image": claim.attempt, "claimed": claimed, "claimant": claim.rater, "target": claim.target}
            | {"failure": " ".join(sorted(images))}
            | dict(zip(PLACES, images, strict=True))
        )
    question = PairQuestion(name="verify", text="Which image is better?", design=_design(claims, verifiers))
    _write_study(place, study, question, claims, rows)
    pl.DataFrame(listed).write_csv(place / CLAIMS)


def _design(claims: Sequence[Claim], verifiers: int) -> Design:
    trials = min(len(claims), MOST_TRIALS)
    return Design(raters=math.ceil(verifiers * len(claims) / trials), trials=trials)


def _write_study(
    place: Path,
    study: Study,
    question: ChoiceQuestion | PairQuestion,
    claims: Sequence[Claim],
    rows: list[dict[str, object]],
) -> None:
    """The study of verifiers: one question, the images where they are, and the prompts."""
    number = place.name
    verified = Study(
        name=f"{study.name}-round-{number}",
        title=f"{study.title}: round {number}",
        seed=study.seed,
        questions=(question,),
    )
    (place / FILE_NAME).write_text(dump_study(verified), encoding="utf-8")
    frames = {
        "prompts": TABLES["prompts"].frame([{"prompt": c.attempt, "text": c.text} for c in claims]),
        "images": TABLES["images"].frame(rows),
    }
    Store(place).write(frames, Provenance("new", {"round": int(number)}, study.seed, {}))
