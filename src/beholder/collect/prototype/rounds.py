"""Rounds of a prototype: each is a small study of its own, in a numbered folder of the study folder.

A round has the questions, texts and images of the study, ⌊√items⌋ trials for each rater, and slots for as many
raters as the votes may need; trials, answers and database are its own, so that nothing of a design that is still
to be revised gets into the study. Its ``study.toml`` stays: revised texts are compared with it.
"""

import json
import math
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

from beholder.care.prototype_round import PrototypeRule, prototype_rule, prototype_size
from beholder.collect.session.texts import texts
from beholder.errors import StageError
from beholder.study.collecting import ConsentSection
from beholder.study.kinds.duration import session_seconds
from beholder.study.question import Language
from beholder.study.study import FILE_NAME, Study, dump_study, load_study
from beholder.study.wages import hourly_pay

ROOM = "prototypes"
MARK = "prototype.json"
FEEDBACK_MINUTES = 2.0
"""Paid for the feedback, besides the trials."""

COPIED = ("prompts", "images")
OWN = frozenset({ROOM, "rehearsals", "tables", "models", FILE_NAME, "study.lock"})
"""What a round has of its own, or has no use for; all else of the study folder is linked."""


@dataclass(frozen=True, slots=True)
class Round:
    """A prototype round, as its mark says."""

    number: int
    raters: int
    """of the study"""
    items: int
    """trials that each rater of the round takes, the fewest of all questions"""

    @property
    def rule(self) -> PrototypeRule:
        """When the votes decide."""
        return prototype_rule(self.raters)


def round_folders(folder: Path) -> list[Path]:
    """Return the folders of all rounds of a study, the latest first.

    Args:
        folder: Of the study.

    Returns:
        The folders.
    """
    room = folder / ROOM
    numbered = [path for path in room.iterdir() if path.name.isdigit()] if room.is_dir() else []
    return sorted(numbered, key=lambda path: -int(path.name))


def read_round(folder: Path) -> Round | None:
    """Return what a folder says about its round; ``None`` where it is an ordinary study.

    Args:
        folder: Of a round, or of any study.

    Returns:
        The round.
    """
    path = folder / MARK
    return Round(**json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else None


def new_round(folder: Path) -> Path:
    """Make the next round of a study, or return the latest where it has the same settings.

    Args:
        folder: Of the study.

    Returns:
        The folder of the round.
    """
    study = load_study(folder)
    missing = [name for name in COPIED if not (folder / "tables" / f"{name}.parquet").is_file()]
    if missing:
        raise StageError(
            f"{folder} has no table {' and no table '.join(missing)}: make the study with beholder new"
        )
    latest = next(iter(round_folders(folder)), None)
    number = 1 if latest is None else int(latest.name) + 1
    if latest is not None and (latest / FILE_NAME).read_text(encoding="utf-8") == dump_study(
        prototype_study(study, number - 1)
    ):
        return latest
    room = folder / ROOM / str(number)
    room.mkdir(mode=0o700, parents=True)
    (room / "tables").mkdir()
    for name in COPIED:
        shutil.copyfile(folder / "tables" / f"{name}.parquet", room / "tables" / f"{name}.parquet")
    for entry in folder.resolve().iterdir():
        if entry.name not in OWN and ".sqlite" not in entry.name:
            (room / entry.name).symlink_to(entry, target_is_directory=entry.is_dir())
    (room / FILE_NAME).write_text(dump_study(prototype_study(study, number)), encoding="utf-8")
    items = min(math.isqrt(question.design.trials) for question in study.questions)
    content = Round(number, sum(question.design.raters for question in study.questions), items)
    (room / MARK).write_text(json.dumps(asdict(content)), encoding="utf-8")
    return room


def prototype_study(study: Study, number: int) -> Study:
    """Return the study that a round serves: the same questions with fewer raters and trials, paid in proportion.

    Args:
        study: The full study.
        number: Of the round.

    Returns:
        Its prototype.
    """
    most = prototype_rule(sum(question.design.raters for question in study.questions)).most_raters
    each = math.ceil(most / len(study.questions))
    questions = []
    for question in study.questions:
        design = question.design
        items = prototype_size(design.raters, design.trials)[1]
        smaller = design.model_copy(
            update={
                "raters": each,
                "trials": items,
                "raters_per_item": None,
                "repeats": min(design.repeats, items),
                "blocks": min(design.blocks, items),
            }
        )
        questions.append(question.model_copy(update={"design": smaller}))
    seconds = max(session_seconds(question) for question in questions)
    minutes = math.ceil(seconds / 60) + FEEDBACK_MINUTES
    hourly = max(hourly_pay(study, question) for question in study.questions)
    sections = (*study.collect.consent_sections, _consent_section(study, number))
    collect = study.collect.model_copy(update={"minutes": minutes, "debrief": True, "consent_sections": sections})
    pay = study.pay.model_copy(update={"base": math.ceil(hourly * minutes / 60 * 100 - 1e-9) / 100})
    changes = {"name": f"{study.name}-prototype-{number}"[:64], "questions": tuple(questions)}
    return study.model_copy(
        update={**changes, "collect": collect, "pay": pay, "generators": (), "benchmark": None}
    )


def _consent_section(study: Study, number: int) -> ConsentSection:
    """Return what raters agree to besides: a trial run, with feedback and a vote at its end."""
    languages: tuple[Language, ...] = study.collect.languages
    return ConsentSection(
        title={code: texts(code)["prototype.consent.title"] for code in languages},
        text={code: texts(code)["prototype.consent.text"].format(round=number) for code in languages},
    )
