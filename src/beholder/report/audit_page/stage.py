"""Writing ``audit.html``: one file that opens without a network."""

from collections.abc import Mapping
from pathlib import Path

from beholder import __version__
from beholder.report.audit_page.content import WIDTH, practitioners, sections, short_findings
from beholder.report.site.templating import template_environment
from beholder.study.kinds.choice import ChoiceQuestion
from beholder.study.study import load_study
from beholder.tables.atomic import write_atomically
from beholder.tables.store import Store

PAGE = "audit.html"


def write_audit_page(folder: Path, questions: Mapping[str, str]) -> Path:
    """Write the page of a study's audits, and return its path.

    Args:
        folder: The study folder, with the tables of ``beholder audit``.
        questions: Name of an audit -> what it asks.
    """
    path = folder / PAGE
    with write_atomically(path) as file:
        file.write(render_audit_page(folder, questions).encode())
    return path


def render_audit_page(folder: Path, questions: Mapping[str, str]) -> str:
    """Return the page as one HTML text."""
    store, study = Store(folder), load_study(folder)
    parts = sections(store.read("audits"), questions)
    people = practitioners(store.read("audit_profiles"))
    sessions = store.read_or_empty("sessions")
    swatches = {
        (question.name, option.name): option.colour
        for question in study.questions
        if isinstance(question, ChoiceQuestion)
        for option in question.offered
        if option.colour
    }
    template = template_environment().get_template("audit.html.j2")
    return template.render(
        study=study,
        sections=parts,
        short=short_findings(parts),
        practitioners=people,
        entries=sorted(people[0].chances, key=lambda entry: -people[0].chances[entry]) if people else [],
        simulated=bool(sessions.height and sessions["simulated"].all()),
        swatches=swatches,
        width=WIDTH,
        version=__version__,
    )
