"""Where the stages live that run in a study folder, in the order of the loop."""

from importlib import import_module
from typing import cast

from beholder.tables.work import Runs

VERBS: dict[str, str] = {
    "curate": "beholder.curate.stage",
    "generate": "beholder.generate.stage",
    "design": "beholder.design.stage",
    "collect": "beholder.collect.stage",
    "consolidate": "beholder.consolidate.stage",
    "rank": "beholder.rank.stage",
    "learn": "beholder.learn.stage",
    "measure": "beholder.measure.stage",
    "board": "beholder.board.stage",
    "audit": "beholder.audit.stage",
    "improve": "beholder.improve.stage",
    "report": "beholder.report.stage",
}
"""Name, as in :data:`beholder.tables.stages.STAGES` -> the module. ``new`` and ``import`` make the folder."""


def load_stage(verb: str) -> Runs:
    """The module that runs a stage, imported now: some of them need torch."""
    return cast("Runs", import_module(VERBS[verb]))
