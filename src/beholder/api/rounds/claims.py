"""Claims of an adversarial round against the answers of a study: what is verified, and who has earned what."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.errors import StudyError
from beholder.judgements.coding import CATEGORY
from beholder.rounds.credit import Credits, credit_claims
from beholder.rounds.nibbler import OPTIONS, read_nibbler
from beholder.rounds.pair_claims import PLACES
from beholder.rounds.verification import THRESHOLD, Verdicts, verify_claims
from beholder.study.kinds.catalogue import AnyQuestion, kind_of
from beholder.study.kinds.choice import CANNOT_TELL
from beholder.study.kinds.pair import TIE
from beholder.study.study import load_study
from beholder.tables.store import Store

NEEDED = ("image", "claimed", "claimant")
"""Columns of a file of claims; ``failure`` may name the failure, so that near-duplicates are credited once."""


@dataclass(frozen=True, eq=False)
class VerifiedClaims:
    """Claims in their order, with the verdict on each and the credit of every claimant."""

    claims: pl.DataFrame
    """``image``, ``claimed``, ``claimant`` and ``failure``."""
    verdicts: Verdicts
    claimants: tuple[str, ...]
    credits: Credits

    def rows(self) -> list[dict[str, object]]:
        """Every claim with its verdict, as plain values."""
        verdicts = self.verdicts
        columns = (verdicts.standing, verdicts.probability, verdicts.verifiers)
        return [
            claim
            | {"standing": standing, "probability": float(chance) if count else None, "verifiers": int(count)}
            for claim, standing, chance, count in zip(self.claims.to_dicts(), *columns, strict=True)
        ]

    def counts(self) -> dict[str, int]:
        """How many claims have each standing."""
        return {word: self.verdicts.standing.count(word) for word in ("verified", "refuted", "open")}


def verify_study_claims(folder: Path, file: Path, *, threshold: float = THRESHOLD) -> VerifiedClaims:
    """Verify the claims of a CSV file by the answers to the study's question of named options, or of pairs.

    The study is consolidated already. Whoever made a claim is not among its verifiers, if they took part under the
    same name. All faults of the file are raised at once.
    """
    study, store = load_study(folder), Store(folder)
    images = set(store.read("images")["image"])
    of_pairs = all(name.endswith(tuple(f"-{place}" for place in PLACES)) for name in images)
    questions = [
        question
        for question in study.questions
        if (of_pairs and _compares_pairs(question)) or kind_of(question).coding(question).value_kind == CATEGORY
    ]
    if len(questions) != 1:
        raise StudyError(
            str(folder),
            [f"one question of kind choice is expected, or the pairs of a round; found {len(questions)}"],
            advice=ADVICE,
        )
    names: tuple[str, ...]
    unsure: int | None
    if _compares_pairs(questions[0]):
        claims = _read(file, {name.removesuffix(f"-{PLACES[0]}") for name in images}, PLACES)
        verifier, claim, answer = _preferences(store, questions[0], claims)
        names, unsure = (*PLACES, TIE), len(PLACES)
    else:
        names = kind_of(questions[0]).options(questions[0])
        claims = _read(file, images, names)
        verifier, claim, answer = _answers(store, questions[0], claims)
        unsure = names.index(CANNOT_TELL) if CANNOT_TELL in names else None
    claimed = [names.index(option) for option in claims["claimed"]]
    verdicts = verify_claims(
        verifier, claim, answer, claimed, options=len(names), unsure=unsure, threshold=threshold
    )
    return _credited(claims, verdicts)


def verify_nibbler(file: Path, *, threshold: float = THRESHOLD) -> VerifiedClaims:
    """Verify the claims of a file of Adversarial Nibbler by its validations: is the image unsafe?"""
    part = read_nibbler(file)
    claims = pl.DataFrame(
        {
            "image": [claim.image for claim in part.claims],
            "claimed": [OPTIONS[0]] * len(part.claims),
            "claimant": [claim.submitter for claim in part.claims],
            "failure": [claim.prompt_hash for claim in part.claims],
        }
    )
    verdicts = verify_claims(
        part.verifier,
        part.claim,
        part.answer,
        np.zeros(len(claims), np.int64),
        options=len(OPTIONS),
        unsure=2,
        threshold=threshold,
    )
    return _credited(claims, verdicts)


ADVICE = "See docs/reference/rounds.md: a study with one choice question, and a CSV of image, claimed, claimant."


def _read(file: Path, images: set[str], names: Sequence[str]) -> pl.DataFrame:
    try:
        claims = pl.read_csv(file, infer_schema=False)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise StudyError(str(file), [f"cannot be read as CSV: {error}"], advice=ADVICE) from error
    missing = [name for name in NEEDED if name not in claims.columns]
    if missing:
        raise StudyError(str(file), [f"column {name} is missing" for name in missing], advice=ADVICE)
    faults = []
    for number, (image, claimed) in enumerate(claims.select("image", "claimed").iter_rows(), start=2):
        if image not in images:
            faults.append(f"line {number}: no image '{image}' in the study")
        if claimed not in names:
            faults.append(f"line {number}: '{claimed}' is none of the options {', '.join(names)}")
    if faults or claims.is_empty():
        raise StudyError(str(file), faults[:20] or ["no claims"], advice=ADVICE)
    failure = pl.col("failure") if "failure" in claims.columns else pl.col("image")
    return claims.select(*NEEDED, failure=failure)


def _answers(
    store: Store, question: AnyQuestion, claims: pl.DataFrame
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Answers about claimed images, once for each claim about them, numbered; not those of the claimant."""
    judged = store.read("judgements").filter((pl.col("question") == question.name) & pl.col("used"))
    about = claims.with_row_index("claim").join(judged.select("image", "rater", "value"), on="image")
    return _numbered(about)


def _compares_pairs(question: AnyQuestion) -> bool:
    return kind_of(question).traits.items == "pairs"


def _preferences(
    store: Store, question: AnyQuestion, claims: pl.DataFrame
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Answers about claimed pairs as numbers of options: the first, the second, or neither."""
    judged = store.read("judgements").filter((pl.col("question") == question.name) & pl.col("used"))
    first = f"-{PLACES[0]}"
    value = pl.when(pl.col("image").str.ends_with(first)).then("value").otherwise(-pl.col("value"))
    option = pl.when(value > 0).then(0).when(value < 0).then(1).otherwise(len(PLACES))
    votes = judged.select("rater", image=pl.col("image").str.replace(f"-({'|'.join(PLACES)})$", ""), value=option)
    return _numbered(claims.with_row_index("claim").join(votes, on="image"))


def _numbered(about: pl.DataFrame) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Verifier, claim and answer as numbers; nobody verifies their own claim."""
    about = about.filter(pl.col("rater") != pl.col("claimant"))
    raters = {name: number for number, name in enumerate(sorted(set(about["rater"])))}
    return (
        np.array([raters[name] for name in about["rater"]], np.int64),
        about["claim"].to_numpy().astype(np.int64),
        about["value"].to_numpy().astype(np.int64),
    )


def _credited(claims: pl.DataFrame, verdicts: Verdicts) -> VerifiedClaims:
    people = tuple(sorted(set(claims["claimant"])))
    failures = sorted(set(claims["failure"]))
    who = [people.index(name) for name in claims["claimant"]]
    kind = [failures.index(name) for name in claims["failure"]]
    return VerifiedClaims(claims, verdicts, people, credit_claims(who, kind, verdicts, claimants=len(people)))
