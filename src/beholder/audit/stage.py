"""The audit stage: questions that a board does not answer by itself, each with its findings in words."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from beholder.audit.catalogue import AUDITS
from beholder.audit.material import AuditOptions, Material, Progress
from beholder.errors import FaultsError, unknown_name
from beholder.study.study import Study, load_study
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Plain, file_hash
from beholder.tables.stages import AUDIT, STAGES
from beholder.tables.store import Store
from beholder.tables.work import Outcome, Work, perform

STAGE = STAGES["audit"]


def run(
    folder: Path,
    *,
    force: bool = False,
    names: Sequence[str] = (),
    options: AuditOptions | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Audit a study, unless the same audits were made of the same tables.

    Args:
        folder: The study folder.
        force: Audit again even if nothing has changed.
        names: Audits to make; none: all of them.
        options: Which scorers are audited, and how.
        progress: Called with what is being done, how much of it is done, and how much there is.

    Returns:
        How many findings were written.

    Raises:
        FaultsError: With every audit that is not known and every word list that is missing.
    """
    study, store = load_study(folder), Store(folder)
    options = options or AuditOptions()
    chosen = [name for name in AUDITS if not names or name in names]
    faults = [unknown_name("audit", name, AUDITS) for name in names if name not in AUDITS]
    lists = {name: folder / place for name, place in study.audit.word_lists.items()}
    faults += [
        f"[audit.word_lists] {name}: there is no file {path}" for name, path in lists.items() if not path.is_file()
    ]
    if faults:
        raise FaultsError(f"{folder}: nothing was audited", faults)
    settings: dict[str, Plain] = {
        "audits": list(chosen),
        "audit": study.audit.model_dump(mode="json"),
        "fewest_prompts": study.board.fewest_prompts,
        "level": study.analysis.level,
        "scorers": list(options.scorers),
        "weights": dict(options.weights),
        "images": options.images,
    }
    files = {f"word list {name}": file_hash(path) for name, path in lists.items()}
    work = Work(AUDIT, settings, study.seed, files)
    return perform(store, work, lambda tables: _audited(tables, study, chosen, options, progress), force=force)


def _audited(
    store: Store, study: Study, names: Sequence[str], options: AuditOptions, progress: Progress | None
) -> dict[str, pl.DataFrame]:
    material = Material(store, study, options, progress or (lambda _part, _done, _all: None))
    rows: list[dict[str, object]] = []
    for done, name in enumerate(names):
        material.progress(name, done, len(names))
        rows += [finding.row(name, number) for number, finding in enumerate(AUDITS[name].look(material))]
    return {
        "audits": TABLES["audits"].frame(rows),
        "audit_profiles": TABLES["audit_profiles"].frame(material.profiles),
    }
