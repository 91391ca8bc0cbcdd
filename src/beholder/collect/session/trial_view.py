"""The state of a session as its page gets it: opaque tokens, and nothing that reveals the right answer."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from sqlalchemy import Row

from beholder.collect.session.catalogue import Catalogue, Trial
from beholder.collect.session.completion import done_part
from beholder.collect.session.consent import consent_part
from beholder.collect.session.identity import opaque
from beholder.collect.session.progress import SessionProgress, skips_left
from beholder.collect.session.texts import text_in
from beholder.images.display import display_size
from beholder.study.kinds.catalogue import AnyQuestion, kind_of
from beholder.study.study import Study
from beholder.study.wages import base_pay
from beholder.study.words import split_words

AHEAD = 3
"""Number of trials whose images the page may fetch in advance."""

State = dict[str, Any]

FEWEST_TRIALS = 5
"""No part between two offered breaks is planned shorter than this."""


def state_of(
    catalogue: Catalogue, progress: SessionProgress, study: Study, *, side: int, identity: str = ""
) -> State:
    """Return the state as JSON.

    ``side`` is the longest side of served images; ``identity`` the rater's id, for the redirect to the platform.
    """
    session = progress.session
    common: State = {
        "step": progress.step,
        "study": {
            "title": study.title,
            "language": session.language,
            "languages": list(study.collect.languages),
        },
        "progress": {"done": progress.position, "total": len(session.plan or [])},
    }
    question = progress.question
    if progress.step == "consent":
        return common | {"consent": consent_part(study, question, session.language)}
    if progress.step == "check":
        timed = kind_of(question).traits.flashes
        return common | {"check": {"needs_timing": timed, "min_hz": study.collect.min_hz}}
    if progress.step == "instructions":
        return common | {"instructions": _instructions(catalogue, question, session)}
    if progress.step == "trial":
        left = skips_left(catalogue, study, session)
        extra = {"skips_left": left, "break_offered": _is_break_offered(catalogue, study, progress)}
        return common | {"trial": _trial(catalogue, progress, side) | extra}
    if progress.step == "break" and progress.trial is not None:
        return common | {"break": {"block": progress.trial.block, "blocks": question.design.blocks}}
    if progress.step == "debrief":
        paid = bool(base_pay(study, question) or study.pay.per_right)
        return common | {"debrief": {"asks_time": paid, "job_survey": study.collect.job_survey}}
    if progress.step == "done":
        return common | {"done": done_part(study, session, identity, key=catalogue.secret("token"))}
    return common


def fetchable_images(catalogue: Catalogue, session: Row[Any], *, prototype: bool = False) -> dict[str, str]:
    """Map tokens to the images that the page may fetch now: of the previous trial, this one and the next few.

    At the end of a ``prototype``, all that were shown: the rater says which trials were unclear.
    """
    if session.status != "running" or session.begun is None:
        return {}
    near = (session.plan or [])[max(session.place - 1, 0) : session.place + 1 + AHEAD]
    if prototype and session.place >= len(session.plan or []):
        near = session.plan or []
    key = catalogue.secret("token")
    return {
        image_token(key, session.session, trial.trial, image): image
        for trial in catalogue.planned(session.question, session.slot, near)
        for image in trial.images
    }


def image_token(key: str, session: str, trial: str, image: str) -> str:
    """Make the token by which only this session may fetch the image, and only for this trial.

    An image that is shown again, in a repeated trial or an attention check, has another token.
    """
    return opaque(key, "image", session, trial, image)


def trial_token(key: str, session: str, trial: str) -> str:
    """Make the token by which this session names the trial."""
    return opaque(key, "trial", session, trial)


def prototype_part(catalogue: Catalogue, session: Row[Any], *, side: int) -> State:
    """Return what the page of feedback on a prototype shows: the trials, to say which were unclear."""
    key, name = catalogue.secret("token"), session.session
    return {
        "trials": [
            {
                "trial": trial_token(key, name, trial.trial),
                "images": [_image(catalogue, key, name, trial, image, side) for image in trial.images],
            }
            for trial in catalogue.planned(session.question, session.slot, session.plan or [])
        ]
    }


def _instructions(catalogue: Catalogue, question: AnyQuestion, session: Row[Any]) -> State:
    view = catalogue.question_views[question.name]
    ratio = None
    if getattr(question, "disclose_ratio", False):
        ratio = question.design.real_share
    return {
        "kind": question.kind,
        "text": question.text,
        "settings": view.settings,
        "options": view.options,
        "trials": len(session.plan or []),
        "disclosed_ratio": ratio,
        "own": text_in(session.language, question.instructions),
        "examples": [
            {"verdict": example.verdict, "caption": text_in(session.language, example.caption)}
            for example in question.examples
        ],
        "has_checks": bool(question.design.attention_every),
    }


def _trial(catalogue: Catalogue, progress: SessionProgress, side: int) -> State:
    trial, question, session = progress.trial, progress.question, progress.session
    if trial is None:
        raise LookupError("a trial step without a trial")
    view, key = catalogue.question_views[question.name], catalogue.secret("token")
    traits = kind_of(question).traits
    shows_prompt = traits.shows_prompt and getattr(question, "show_prompt", True)
    coming = (session.plan or [])[progress.position + 1 : progress.position + 1 + AHEAD]
    return {
        "trial": trial_token(key, session.session, trial.trial),
        "attempt": progress.attempt,
        "kind": question.kind,
        "text": question.text,
        "images": [_image(catalogue, key, session.session, trial, name, side) for name in trial.images],
        "prompt": trial.prompt if shows_prompt else None,
        "words": list(split_words(trial.prompt or "")) if traits.shows_words else None,
        "instruction": trial.expected if trial.role == "attention" else None,
        "feedback": gives_feedback(question, trial),
        "exposure_ms": progress.exposure_ms,
        "settings": view.settings,
        "options": view.options,
        "prefetch": [
            image_token(key, session.session, later.trial, image)
            for later in catalogue.planned(session.question, session.slot, coming)
            for image in later.images
        ],
        "phase": trial.role if trial.role in ("training", "qualification") else "test",
    }


def _is_break_offered(catalogue: Catalogue, study: Study, progress: SessionProgress) -> bool:
    """Whether the page offers a break before this trial; it is not told to the server whether it was taken."""
    session = progress.session
    blocks = [trial.block for trial in catalogue.planned(session.question, session.slot, session.plan or [])]
    offers = offered_breaks(progress.question, blocks, study.collect.break_minutes)
    return progress.attempt == 1 and progress.position in offers


def offered_breaks(question: AnyQuestion, blocks: Sequence[int], minutes: float) -> list[int]:
    """Return the positions in a plan before which a break is offered; ``blocks`` has the block of each trial.

    Blocks end with a break in any case. A block of L trials, at s seconds each, is cut into round(L·s / (60·m))
    parts as equal as can be, with a break offered between them, where m is the setting ``break_minutes``.
    """
    if not minutes:
        return []
    part = max(60 * minutes / kind_of(question).traits.seconds, FEWEST_TRIALS)
    positions: list[int] = []
    start = 0
    for _, block in groupby(blocks):
        length = len(list(block))
        parts = max(round(length / part), 1)
        positions += [start + round(length * number / parts) for number in range(1, parts)]
        start += length
    return positions


def gives_feedback(question: AnyQuestion, trial: Trial) -> bool:
    """Whether the page gives feedback after the answer: in training, and where the protocol says so."""
    return trial.role == "training" or bool(getattr(question, "feedback", False))


def _image(catalogue: Catalogue, key: str, session: str, trial: Trial, name: str, side: int) -> State:
    picture = catalogue.pictures[name]
    width, height = display_size(picture.width, picture.height, side)
    return {"token": image_token(key, session, trial.trial, name), "width": width, "height": height}
