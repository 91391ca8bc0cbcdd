"""HPD v2 as a study: its choices as a pair question, its rankings as a ranking question."""

from pathlib import Path

from beholder.formats.format import Imported
from beholder.formats.hpd import CONSENSUS, NOBODY, PAIRS, RANKINGS, read_judged
from beholder.formats.imported import about_files, tables_from
from beholder.formats.ranked import NO_GENERATORS, NO_TIMES, differences_in, notes_on, question_of
from beholder.study.study import Study

PROTOCOLS = {PAIRS: "hpd-pairs", RANKINGS: "hpd-ranking"}


def read_study(source: Path, *, images: Path | None = None) -> Imported:
    """A study from ``train.json``, ``test.json`` or the folder with either or both."""
    judged = read_judged(source)
    tables = tables_from(judged, platform="hpd", images=images)
    names = dict.fromkeys(one.question for one in judged)
    study = Study(
        name="hpd-v2",
        title="HPD v2",
        description="Published choices and rankings.",
        questions=tuple(question_of(name, judged, PROTOCOLS[name]) for name in names),
    )
    notes = [NO_GENERATORS, NO_TIMES, *notes_on(judged), *about_files(tables["images"])]
    raters = {one.rater for one in judged}
    if NOBODY in raters:
        notes.append("Choices without user_hash count as one person's, so they have no interval over people.")
    if CONSENSUS in raters:
        notes.append("Rankings without raw_annotations are the people's mean order and count as one person's.")
    return Imported(study, tables, tuple(notes), tuple(differences_in(judged)))
