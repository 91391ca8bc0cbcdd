"""The page of an improvement, from its tables."""

from pathlib import Path

from beholder.api.improving.walk import notes_of
from beholder.improve.improvement import TABLES, Improvement
from beholder.improve.record import settings_of
from beholder.report.sections.improvement import compose_improvement
from beholder.report.site.improvement_page import write_page
from beholder.study.study import load_study


def write_improvement_page(improvement: Improvement) -> Path:
    """Write ``improvement.html`` into the folder of an improvement, and return its path."""
    study = load_study(improvement.study)
    page = compose_improvement(
        improvement.study,
        study.title,
        improvement.name,
        {name: improvement.store.read_or_empty(name) for name in TABLES},
        settings_of(improvement),
        study.images.background,
        notes_of(improvement),
    )
    write_page(improvement.page, page)
    return improvement.page
