"""Making a study: protocols and images in, a study folder out, whole or not at all."""

import glob
import re
import secrets
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from beholder.design.folders import Found
from beholder.design.intake import Intake, Sources, take_in
from beholder.design.stage import unfit
from beholder.errors import StudyError
from beholder.study.faults import faults_of
from beholder.study.kinds.catalogue import AnyQuestion, kind_of
from beholder.study.protocols.catalogue import PROTOCOLS
from beholder.study.protocols.protocol import Protocol
from beholder.study.question import Design
from beholder.study.study import FILE_NAME, Study, dump_study
from beholder.tables.atomic import write_atomically
from beholder.tables.provenance import Plain, Provenance, file_hash
from beholder.tables.store import Store

Asked = tuple[Protocol, AnyQuestion]
"""A question, and the protocol it comes from."""

SHOWN = 5
"""How many images of one fault are named; the rest are counted."""


@dataclass(frozen=True, slots=True)
class NewStudy:
    """What was made: the study, how many images each generator has, and what is worth knowing."""

    folder: Path
    study: Study
    images: Mapping[str, int]
    notes: tuple[str, ...]


def make_study(
    protocols: Sequence[str],
    folder: Path,
    *,
    real: Sequence[Path] = (),
    generated: Sequence[tuple[str, Path]] = (),
    gold: Sequence[tuple[str, Path]] = (),
    manifest: Path | None = None,
    name: str | None = None,
    title: str | None = None,
    seed: int = 0,
    copy: bool = False,
    raters: int | None = None,
    trials: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> NewStudy:
    """Make a study folder with ``study.toml`` and the tables ``images`` and ``prompts``.

    The questions are those of the protocols, with their published defaults; ``raters`` and ``trials`` take the
    place of the numbers of people, and of trials a person, in all of them. An error lists every fault, and then
    nothing is written.
    """
    folder = folder.resolve()
    _require_free(folder)
    sources = Sources(tuple(real), tuple(generated), tuple(gold), manifest)
    intake = take_in(sources, folder, copy=copy, progress=progress)
    chosen = [PROTOCOLS[p] for p in dict.fromkeys(protocols) if p in PROTOCOLS]
    asked, misfits = _ask(chosen, _judged(intake.found), raters=raters, trials=trials)
    faults = [*_protocol_faults(protocols), *misfits, *intake.faults, *_unmet(chosen, intake.found)]
    name = name or _slug(folder.name)
    study, misfits = _study(name, title or name.replace("-", " ").capitalize(), seed, [q for _, q in asked])
    faults += misfits
    if study is None or faults:
        raise StudyError(f"{folder}: the study was not made", faults)
    inputs = {"manifest": file_hash(manifest)} if manifest else {}
    settings: dict[str, Plain] = {"protocols": list(protocols), "copy": copy}
    _write(folder, study, intake, Provenance("new", settings, seed, inputs))
    notes = (
        *(note for protocol, question in asked for note in protocol.notes(question)),
        *intake.notes,
        *(
            f"the design does not fit the images yet: {fault}"
            for fault in unfit(intake.images, study.questions, seed)
        ),
    )
    return NewStudy(folder, study, Counter(one.generator for one in intake.found), notes)


def _require_free(folder: Path) -> None:
    if (folder / FILE_NAME).exists():
        advice = "Choose another folder, or remove this one first."
        raise StudyError(str(folder), [f"there is a study here already ({FILE_NAME})"], advice=advice)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        found = "not empty" if folder.is_dir() else "a file"
        raise StudyError(str(folder), [f"{found}; a study needs a folder of its own, new or empty"])


def _protocol_faults(protocols: Sequence[str]) -> Iterator[str]:
    known = ", ".join(PROTOCOLS)
    if not protocols:
        yield f"no protocol was named; known: {known}"
    for name, count in Counter(protocols).items():
        if name not in PROTOCOLS:
            yield f"protocol '{name}' is not known; known: {known}"
        elif count > 1:
            yield f"protocol '{name}' is named {count} times"


def _judged(found: Iterable[Found]) -> list[str]:
    """The generators that people are to judge."""
    return list(dict.fromkeys(one.generator for one in found if not one.real and not one.gold))


def _ask(
    protocols: Sequence[Protocol], judged: Sequence[str], *, raters: int | None, trials: int | None
) -> tuple[list[Asked], list[str]]:
    """The questions of all protocols, each with a name of its own, and the faults of their numbers."""
    plain = [(protocol, question) for protocol in protocols for question in protocol.questions()]
    uses = Counter(question.name for _, question in plain)
    asked: list[Asked] = []
    faults: list[str] = []
    for protocol, question in plain:
        people = raters or (protocol.raters_per_generator or 0) * max(len(judged), 1) or question.design.raters
        numbers = {"raters": people, "trials": trials or question.design.trials}
        name = question.name if uses[question.name] == 1 else f"{question.name}-{protocol.name}"
        try:
            design = Design.model_validate({**question.design.model_dump(), **numbers})
        except ValidationError as error:
            faults += [f"{protocol.name}: {f.removeprefix('study: ')}" for f in faults_of(error, Design)]
        else:
            asked.append((protocol, question.model_copy(update={"name": name, "design": design})))
    return asked, faults


def _unmet(protocols: Sequence[Protocol], found: Sequence[Found]) -> Iterator[str]:
    """What the protocols need and the images lack."""
    if not found:
        return
    judged = _judged(found)
    mute = [one.image for one in found if not one.real and not one.prompt]
    for protocol in protocols:
        if protocol.needs_real and not any(one.real for one in found):
            yield f"{protocol.name} needs real images, and there are none"
        if protocol.needs_prompts and mute:
            shown = ", ".join(mute[:SHOWN]) + (f" and {len(mute) - SHOWN} more" if len(mute) > SHOWN else "")
            yield f"{protocol.name} needs a prompt for every generated image; without: {shown}"
        if len(judged) == 1 and any(kind_of(question).traits.compares for question in protocol.questions()):
            yield f"{protocol.name} compares generators: at least 2 are needed, found 1 ({judged[0]})"


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:64] or "study"


def _study(name: str, title: str, seed: int, questions: Sequence[AnyQuestion]) -> tuple[Study | None, list[str]]:
    """The study and its faults; where no question could be made, any will do to have the rest checked."""
    stand_in = () if questions else next(iter(PROTOCOLS.values())).questions()
    try:
        return Study(name=name, title=title, seed=seed, questions=(*questions, *stand_in)), []
    except ValidationError as error:
        return None, faults_of(error, Study)


def _write(folder: Path, study: Study, intake: Intake, provenance: Provenance) -> None:
    """Make all of it beside the folder and rename it at the end; what a killed run left there is removed."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        for left_over in folder.parent.glob(f".{glob.escape(folder.name)}.new-*"):
            shutil.rmtree(left_over)
        draft = folder.with_name(f".{folder.name}.new-{secrets.token_hex(4)}")
        draft.mkdir()
    except OSError as error:
        raise StudyError(str(folder), [f"cannot be made here ({error})"]) from error
    try:
        for place, file in intake.copies.items():
            target = draft / place
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
        Store(draft).write({"images": intake.images, "prompts": intake.prompts}, provenance)
        with write_atomically(draft / FILE_NAME) as toml:
            toml.write(dump_study(study).encode())
        draft.replace(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
