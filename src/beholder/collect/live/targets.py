"""The targets of a study's live questions, as its file names them; faults stop the server before it starts."""

from importlib import import_module
from pathlib import Path

from beholder.collect.live.makers import WORKERS, Maker
from beholder.collect.live.room import Allowance
from beholder.errors import StudyError
from beholder.study.kinds.catalogue import AnyQuestion, kind_of
from beholder.study.study import FILE_NAME, Study


def live_questions(study: Study) -> list[AnyQuestion]:
    """The questions within which results are made."""
    return [question for question in study.questions if kind_of(question).traits.live]


def makers_of(study: Study, folder: Path) -> dict[str, Maker]:
    """What makes the results of every target; an error names all targets that there are not."""
    generators = {generator.name: generator for generator in study.generators}
    makers, faults = dict[str, Maker](), list[str]()
    for question in live_questions(study):
        target, scored = target_of(question)
        opening = import_module(WORKERS)
        if scored:
            makers[target] = opening.scorer_maker(target, folder)
        elif target in generators:
            makers[target] = opening.generator_maker(generators[target], folder)
        else:
            there = ", ".join(generators) or "none"
            faults.append(
                f"question '{question.name}': target = {target!r} is no [[generators]] section; found: {there}"
            )
    if faults:
        raise StudyError(str(folder / FILE_NAME), faults)
    return makers


def target_of(question: AnyQuestion) -> tuple[str, bool]:
    """The target of a live question, and whether it is a scorer."""
    return str(getattr(question, "target", "")), getattr(question, "fools", "generator") == "scorer"


def allowance_of(question: AnyQuestion) -> Allowance:
    """How much a rater may ask for."""
    return Allowance(
        *(
            int(getattr(question, name, default))
            for name, default in (("tries", 5), ("most", 40), ("longest", 300))
        )
    )
