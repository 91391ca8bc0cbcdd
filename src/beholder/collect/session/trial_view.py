"""What the page is told: the state of a session in words and tokens, and nothing that gives the answer away."""

from typing import Any

from sqlalchemy import Row

from beholder.collect.session.catalogue import Catalogue, Trial
from beholder.collect.session.completion import done_part
from beholder.collect.session.consent import consent_part
from beholder.collect.session.identity import opaque
from beholder.collect.session.progress import Standing
from beholder.collect.session.skip_allowance import skips_left
from beholder.images.display import display_size
from beholder.study.kinds.catalogue import AnyQuestion, kind_of
from beholder.study.study import Study
from beholder.study.words import split_words

AHEAD = 3
"""Trials whose images the page may fetch beforehand."""

State = dict[str, Any]


def state_of(catalogue: Catalogue, standing: Standing, study: Study, *, side: int, identity: str = "") -> State:
    """The state as JSON.

    ``side`` is the longest side of served images; ``identity`` the person's id, for the way back to a platform.
    """
    session = standing.session
    common: State = {
        "step": standing.step,
        "study": {
            "title": study.title,
            "language": session.language,
            "languages": list(study.collect.languages),
        },
        "progress": {"done": standing.place, "total": len(session.plan or [])},
    }
    question = standing.question
    if standing.step == "consent":
        return common | {"consent": consent_part(study, question, session.language)}
    if standing.step == "check":
        timed = kind_of(question).traits.flashes
        return common | {"check": {"needs_timing": timed, "min_hz": study.collect.min_hz}}
    if standing.step == "instructions":
        return common | {"instructions": _instructions(catalogue, question, len(session.plan or []))}
    if standing.step == "trial":
        left = skips_left(catalogue, study, session)
        return common | {"trial": _trial(catalogue, standing, side) | {"skips_left": left}}
    if standing.step == "break" and standing.trial is not None:
        return common | {"break": {"block": standing.trial.block, "blocks": question.design.blocks}}
    if standing.step == "done":
        return common | {"done": done_part(study, session, identity, key=catalogue.secret("token"))}
    return common


def window(catalogue: Catalogue, session: Row[Any]) -> dict[str, str]:
    """Token → image of all images that the page may have now: the trial before, this one, the next few."""
    if session.status != "running" or session.begun is None:
        return {}
    near = (session.plan or [])[max(session.place - 1, 0) : session.place + 1 + AHEAD]
    key = catalogue.secret("token")
    return {
        image_token(key, session.session, trial.trial, image): image
        for trial in catalogue.planned(session.question, session.slot, near)
        for image in trial.images
    }


def image_token(key: str, session: str, trial: str, image: str) -> str:
    """The name under which this session, and no other, may fetch the image for this trial, and no other.

    An image that comes again, in a repeated trial or an attention check, comes under another name.
    """
    return opaque(key, "image", session, trial, image)


def trial_token(key: str, session: str, trial: str) -> str:
    """The name under which this session knows the trial."""
    return opaque(key, "trial", session, trial)


def _instructions(catalogue: Catalogue, question: AnyQuestion, planned: int) -> State:
    asked = catalogue.asked[question.name]
    ratio = None
    if getattr(question, "disclose_ratio", False):
        ratio = question.design.real_share
    return {
        "kind": question.kind,
        "text": question.text,
        "settings": asked.settings,
        "options": asked.options,
        "trials": planned,
        "disclosed_ratio": ratio,
    }


def _trial(catalogue: Catalogue, standing: Standing, side: int) -> State:
    trial, question, session = standing.trial, standing.question, standing.session
    if trial is None:
        raise LookupError("a trial step without a trial")
    asked, key = catalogue.asked[question.name], catalogue.secret("token")
    traits = kind_of(question).traits
    coming = (session.plan or [])[standing.place + 1 : standing.place + 1 + AHEAD]
    return {
        "trial": trial_token(key, session.session, trial.trial),
        "attempt": standing.attempt,
        "kind": question.kind,
        "text": question.text,
        "images": [_image(catalogue, key, session.session, trial, name, side) for name in trial.images],
        "prompt": trial.prompt if traits.shows_prompt else None,
        "words": list(split_words(trial.prompt or "")) if traits.shows_words else None,
        "instruction": trial.expected if trial.role == "attention" else None,
        "feedback": tells_right(question, trial),
        "exposure_ms": standing.exposure_ms,
        "settings": asked.settings,
        "options": asked.options,
        "prefetch": [
            image_token(key, session.session, later.trial, image)
            for later in catalogue.planned(session.question, session.slot, coming)
            for image in later.images
        ],
        "phase": trial.role if trial.role in ("training", "qualification") else "test",
    }


def tells_right(question: AnyQuestion, trial: Trial) -> bool:
    """Whether the page says after the answer if it was right: in training, and where the protocol has it so."""
    return trial.role == "training" or bool(getattr(question, "feedback", False))


def _image(catalogue: Catalogue, key: str, session: str, trial: Trial, name: str, side: int) -> State:
    picture = catalogue.pictures[name]
    width, height = display_size(picture.width, picture.height, side)
    return {"token": image_token(key, session, trial.trial, name), "width": width, "height": height}
