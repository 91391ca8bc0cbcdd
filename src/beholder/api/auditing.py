"""Audits of a study: the findings, and the page that says them in words."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from beholder.api.study_folder import StudyFolder, folder_of
from beholder.audit.catalogue import AUDITS
from beholder.audit.material import AuditOptions
from beholder.audit.stage import run
from beholder.report.audit_page.stage import PAGE, write_audit_page
from beholder.tables.work import Outcome

Progress = Callable[[str, int, int], None]

QUESTIONS: dict[str, str] = {name: audit.about for name, audit in AUDITS.items()}
"""Name of an audit -> what it asks."""


@dataclass(frozen=True, slots=True)
class Audited:
    """What the audits did, and their page."""

    stage: Outcome
    page: Path


def audit(
    study: "str | Path | StudyFolder",
    names: Sequence[str] = (),
    *,
    scorers: Sequence[str] = (),
    weights: Mapping[str, str] | None = None,
    images: int | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> Audited:
    """Audit a study, as ``beholder audit`` does, and write ``audit.html``.

    Args:
        study: The study folder.
        names: Audits to make; none: all of them.
        scorers: Scorers to audit; none: those of the study.
        weights: Of the scorers' networks: a folder, file or hub name each.
        images: Images on which each scorer is audited; by default as the study says.
        force: Audit again even if nothing has changed.
        progress: Called with what is being done, how much of it is done, and how much there is.

    Returns:
        What was done, and the page; the findings are in the table ``audits``.

    Example:
        >>> import beholder as bh
        >>> audited = bh.audit("my-study", ["fragility", "saturation"])
        >>> audited.page.as_posix(), bh.open_study("my-study").audits["audit"].unique().sort().to_list()
        ('my-study/audit.html', ['fragility', 'saturation'])
    """
    folder = folder_of(study)
    options = AuditOptions(tuple(scorers), dict(weights or {}), images)
    outcome = run(folder, force=force, names=names, options=options, progress=progress)
    page = folder / PAGE
    if not outcome.skipped or not page.is_file():
        page = write_audit_page(folder, QUESTIONS)
    return Audited(outcome, page)
