"""Making a study: protocols and images in, a study folder out, complete or not at all."""

import glob
import re
import secrets
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from pydantic import ValidationError

from beholder.design.fit import IMAGES, Change, Numbers, fit_question
from beholder.design.intake import Intake, Sources, gather_images
from beholder.design.items import Pools, pool_images
from beholder.design.packed import may_be_packed, room_for_unpacked
from beholder.design.planned import NO_IMAGES, with_planned_images
from beholder.design.stage import design_faults
from beholder.errors import StudyError, unknown_name
from beholder.images.folders import PROMPTS_FILE, ImageEntry
from beholder.study.benchmark import Benchmark
from beholder.study.faults import faults_of
from beholder.study.generating import AnyGenerator
from beholder.study.kinds.catalogue import AnyQuestion, kind_of
from beholder.study.protocols.catalogue import PROTOCOLS
from beholder.study.protocols.protocol import Protocol
from beholder.study.question import Design
from beholder.study.study import FILE_NAME, Pay, Study, dump_study
from beholder.study.wages import LOW_PAY_ADVICE, low_pay_faults
from beholder.tables.atomic import write_atomically
from beholder.tables.provenance import Plain, Provenance, file_hash
from beholder.tables.store import Store

NONE_AT_ZERO = ("raters_per_item", "gold_every", "attention_every")
"""Numbers of the design that are left out where they are 0."""
LEFT_BY_GENERATE = frozenset({"curate.toml", "generations", "tables", "images"})
"""What a folder may hold that is made a study of its own generations; the last two by a run that was killed."""

NAMED = 5
"""Images named for each fault; the rest are counted."""


@dataclass(frozen=True, slots=True)
class NewStudy:
    """A new study: its folder and settings, how many images each generator has, and notes."""

    folder: Path
    study: Study
    images: Mapping[str, int]
    notes: tuple[str, ...]
    changes: Mapping[str, tuple[Change, ...]]
    """By question, the published numbers that were fitted to the images."""


@dataclass(frozen=True, slots=True)
class FittedQuestion:
    """A question of a protocol, its numbers fitted to the images, and what was changed."""

    protocol: Protocol
    question: AnyQuestion
    changes: tuple[Change, ...]


def make_study(
    protocols: Sequence[str],
    folder: Path,
    *,
    real: Sequence[Path] = (),
    generated: Sequence[tuple[str, Path]] = (),
    gold: Sequence[tuple[str, Path]] = (),
    manifest: Path | None = None,
    generations: Sequence[Path] = (),
    generators: Sequence[AnyGenerator] = (),
    name: str | None = None,
    title: str | None = None,
    seed: int = 0,
    copy: bool = False,
    raters: int | None = None,
    trials: int | None = None,
    numbers: Numbers = MappingProxyType({}),
    pay: Pay | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> NewStudy:
    """Make a study folder with ``study.toml`` and the tables ``images`` and ``prompts``.

    The questions are those of the protocols, with their published numbers fitted to the images. ``raters``,
    ``trials`` and other ``numbers`` of the design, by the names of their settings, replace them in all questions
    and are not fitted. With ``generators``, the study is a benchmark whose images are going to be generated from
    the prompts curated in ``folder``. An error lists every fault, and then nothing is written: the trials of a
    study that was made can be drawn, and its pay is not below the least wage unless that was accepted.
    """
    typed_folder, folder = folder, folder.resolve()
    in_place = bool(generators) or folder in [place.resolve() for place in generations]
    _require_free(folder, None if generators else LEFT_BY_GENERATE if in_place else frozenset())
    sources = Sources(tuple(real), tuple(generated), tuple(gold), manifest, tuple(generations))
    with _room(folder, (*real, *(place for _, place in (*generated, *gold)))) as room:
        if generators and sources == Sources():
            existing = NO_IMAGES
        else:
            existing = gather_images(sources, folder, copy=copy, room=room, progress=progress)
        intake = with_planned_images(existing, generators, folder) if generators else existing
        chosen = [PROTOCOLS[p] for p in dict.fromkeys(protocols) if p in PROTOCOLS]
        by_user = {key: None if number == 0 and key in NONE_AT_ZERO else number for key, number in numbers.items()}
        by_user |= {key: number for key, number in (("raters", raters), ("trials", trials)) if number is not None}
        fitted, misfits = _ask(chosen, pool_images(intake.images), by_user)
        faults = [*_protocol_faults(protocols), *misfits, *intake.faults, *_unmet(chosen, intake.entries, sources)]
        name = name or _slug(folder.name)
        study, misfits = _study(
            name,
            title or name.replace("-", " ").capitalize(),
            seed,
            pay or Pay(),
            [f.question for f in fitted],
            tuple(generators),
        )
        faults += misfits
        if study is not None and not faults:
            faults += design_faults(intake.images, study.questions, seed)
            faults += [f"{fault}. {LOW_PAY_ADVICE}" for fault in low_pay_faults(study)]
        if study is None or faults:
            raise StudyError(f"{typed_folder}: the study was not made", faults)
        inputs = {"manifest": file_hash(manifest)} if manifest else {}
        for place in generations:
            source = "generations" if place.resolve() == folder else f"generations of {place.name}"
            inputs[source] = Store(place).hash("generations")
        settings: dict[str, Plain] = {"protocols": list(protocols), "copy": copy}
        record = Provenance("new", settings, seed, inputs)
        if in_place:
            _fill(folder, study, existing, record)
        else:
            _write(folder, study, existing, record)
        notes = (
            *(note for part in fitted for note in part.protocol.notes(part.question)),
            *_qualification_notes(study, intake.entries),
            *intake.notes,
        )
        changes = {part.question.name: part.changes for part in fitted}
        return NewStudy(folder, study, Counter(entry.generator for entry in intake.entries), notes, changes)


@contextmanager
def _room(folder: Path, places: Sequence[Path]) -> Iterator[Path | None]:
    """Yield where images are unpacked, if some of the places hold tar or Parquet files."""
    if not any(may_be_packed(place) for place in places):
        yield None
        return
    try:
        unpacking = room_for_unpacked(folder)
    except OSError as error:
        raise StudyError(str(folder), [f"cannot be made here ({error})"]) from error
    with unpacking as room:
        yield Path(room)


def _qualification_notes(study: Study, entries: Iterable[ImageEntry]) -> Iterator[str]:
    """Say where raters are admitted by the very images that they are to judge."""
    if any(entry.gold and not entry.real for entry in entries):
        return
    for question in study.questions:
        if question.design.qualification:
            yield (
                f"{question.name}: without gold images, the qualification shows images of the generators. "
                "If these are hard to tell from real ones, few raters are admitted, and those are the best: name "
                "other images with --gold NAME=DIR, or admit everyone with --qualification 0"
            )


def _require_free(folder: Path, permitted: frozenset[str] | None) -> None:
    """Refuse a folder that holds a study, or anything that is not permitted; ``None``: all else is."""
    if (folder / FILE_NAME).exists():
        advice = "Choose another folder, or remove this one first."
        raise StudyError(str(folder), [f"there is a study here already ({FILE_NAME})"], advice=advice)
    if folder.exists() and (
        not folder.is_dir() or (permitted is not None and {path.name for path in folder.iterdir()} - permitted)
    ):
        state = "not empty" if folder.is_dir() else "a file"
        raise StudyError(str(folder), [f"{state}; a study needs a folder of its own, new or empty"])


def _protocol_faults(protocols: Sequence[str]) -> Iterator[str]:
    names = ", ".join(PROTOCOLS)
    if not protocols:
        yield f"no protocol was named; known: {names}"
    for name, count in Counter(protocols).items():
        if name not in PROTOCOLS:
            yield unknown_name("protocol", name, PROTOCOLS)
        elif count > 1:
            yield f"protocol '{name}' is named {count} times"


def _judged(entries: Iterable[ImageEntry]) -> list[str]:
    """Return the generators that raters are to judge."""
    return list(dict.fromkeys(entry.generator for entry in entries if not entry.real and not entry.gold))


def _ask(protocols: Sequence[Protocol], pools: Pools, chosen: Numbers) -> tuple[list[FittedQuestion], list[str]]:
    """Return the questions of all protocols, each with a name of its own, and the faults of their numbers."""
    plain = [(protocol, question) for protocol in protocols for question in protocol.questions()]
    uses = Counter(question.name for _, question in plain)
    questions: list[FittedQuestion] = []
    faults: list[str] = []
    for protocol, question in plain:
        raters = (protocol.raters_per_generator or 0) * max(len(pools.generators), 1) or question.design.raters
        design = question.design.model_copy(update={"raters": raters})
        name = question.name if uses[question.name] == 1 else f"{question.name}-{protocol.name}"
        published = question.model_copy(update={"name": name, "design": design})
        if IMAGES in chosen and IMAGES not in type(question).model_fields:
            faults.append(f"{protocol.name}: a trial shows a fixed number of images; leave {IMAGES} per trial out")
            continue
        try:
            questions.append(FittedQuestion(protocol, *fit_question(published, pools, chosen)))
        except ValidationError as error:
            faults += [f"{protocol.name}: {f.removeprefix('study: ')}" for f in faults_of(error, Design)]
    return questions, faults


def _unmet(protocols: Sequence[Protocol], entries: Sequence[ImageEntry], sources: Sources) -> Iterator[str]:
    """Yield what the protocols need and the images lack.

    Of sources that were named but have no images nothing is said here: what is wrong with them is a fault already.
    """
    if not entries:
        return
    judged = _judged(entries)
    without_prompt = [entry.image for entry in entries if not entry.real and not entry.prompt]
    for protocol in protocols:
        if protocol.needs_real and not sources.real and not any(entry.real for entry in entries):
            yield f"{protocol.name} needs real images, and there are none: name their folder, --real DIR"
        if protocol.needs_prompts and without_prompt:
            named = ", ".join(without_prompt[:NAMED]) + (
                f" and {len(without_prompt) - NAMED} more" if len(without_prompt) > NAMED else ""
            )
            yield (
                f"{protocol.name} needs a prompt for every generated image; without: {named}. Put a {PROMPTS_FILE}"
                " with the columns file and prompt into the folder, or a text file next to each image"
            )
        compares = any(kind_of(question).traits.compares for question in protocol.questions())
        if compares and len(judged) == 1 and len(sources.generated) < 2:
            yield f"{protocol.name} compares generators: at least 2 are needed, found 1 ({judged[0]})"


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:64] or "study"


def _study(
    name: str,
    title: str,
    seed: int,
    pay: Pay,
    questions: Sequence[AnyQuestion],
    generators: tuple[AnyGenerator, ...],
) -> tuple[Study | None, list[str]]:
    """Return the study and its faults; where no question could be made, any will do to have the rest checked."""
    stand_in = () if questions else next(iter(PROTOCOLS.values())).questions()
    try:
        study = Study(
            name=name,
            title=title,
            seed=seed,
            pay=pay,
            questions=(*questions, *stand_in),
            generators=generators,
            benchmark=Benchmark() if generators else None,
        )
    except ValidationError as error:
        return None, faults_of(error, Study)
    return study, []


def _fill(folder: Path, study: Study, intake: Intake, provenance: Provenance) -> None:
    """Write a study into the folder of its generations; it is one once its file is there, which comes last."""
    _copy(intake, folder)
    if not intake.images.is_empty():  # those of a benchmark are still to be generated
        Store(folder).write({"images": intake.images, "prompts": intake.prompts}, provenance)
    with write_atomically(folder / FILE_NAME) as toml:
        toml.write(dump_study(study).encode())


def _copy(intake: Intake, folder: Path) -> None:
    for place, file in intake.copies.items():
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)


def _write(folder: Path, study: Study, intake: Intake, provenance: Provenance) -> None:
    """Write all of it next to the folder and rename it at the end; what a killed run left there is removed."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        for left_over in folder.parent.glob(f".{glob.escape(folder.name)}.new-*"):
            shutil.rmtree(left_over)
        draft = folder.with_name(f".{folder.name}.new-{secrets.token_hex(4)}")
        draft.mkdir()
    except OSError as error:
        raise StudyError(str(folder), [f"cannot be made here ({error})"]) from error
    try:
        _fill(draft, study, intake, provenance)
        draft.replace(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
