"""The pages name what the code has: a table, protocol, kind, command, rule or method not written up fails."""

import re
from pathlib import Path
from typing import get_args

import pytest

from beholder.cli.main import COMMANDS
from beholder.consolidate.labels import LABELLERS
from beholder.curate.settings import Checks, Choosing, Cleaning, Curation, Duplicates, SourceSet, Writing
from beholder.distances.catalogue import DISTANCES
from beholder.generators.catalogue import GENERATORS
from beholder.improve.inpainters import INPAINTERS
from beholder.judgements.rules import RULES
from beholder.learn.recipe import Data, Rich, Splitting, Training, shipped_recipes
from beholder.models.encoders.catalogue import ENCODERS
from beholder.prompts.checks.check import CHECKS
from beholder.prompts.cleaning.rules import RULES as CLEANING_RULES
from beholder.prompts.sets.catalogue import PROMPT_SETS
from beholder.prompts.tags.tagger import TAGGERS
from beholder.prompts.writing.swaps import SWAPS
from beholder.rank.methods import METHODS
from beholder.report.text.measures import MEASURES
from beholder.scorers.catalogue import SCORERS
from beholder.simulate.composition import COMPOSITIONS
from beholder.simulate.flaws import FLAWS
from beholder.simulate.raters import HABITS
from beholder.study.kinds.catalogue import KINDS
from beholder.study.lock import LockedGenerator, LockedTable, StudyLock
from beholder.study.protocols.catalogue import PROTOCOLS
from beholder.study.question import Screening
from beholder.tables.catalogue import TABLES
from beholder.tables.describe import markdown
from beholder.tables.schemas.collect import STATUSES
from beholder.tables.schemas.consolidate import VALUE_KINDS
from beholder.tables.schemas.curate import RELATIONS
from beholder.tables.schemas.curate import STATUSES as CANDIDATE_STATUSES
from beholder.tables.schemas.design import ROLES
from beholder.tables.schemas.generate import GENERATION_STATUSES
from beholder.workers.bundled import BUNDLED
from beholder.workers.identity import Task

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

NAMED: dict[str, tuple[str, ...]] = {
    "reference/tables.md": tuple(TABLES),
    "reference/lock.md": (*StudyLock.model_fields, *LockedGenerator.model_fields, *LockedTable.model_fields),
    "reference/protocols.md": (*PROTOCOLS, *KINDS),
    "reference/consolidate.md": (
        *(*RULES, *Screening.model_fields, *LABELLERS, *VALUE_KINDS),
        *("raters", "judgements", "labels", "regions", "agreement"),
    ),
    "reference/rank.md": (*METHODS, "ratings", "separations", "more_raters"),
    "reference/collect.md": (*HABITS, *STATUSES, "sessions", "answers", "marks"),
    "reference/simulate.md": (*HABITS, *FLAWS, *COMPOSITIONS),
    "reference/encoders.md": tuple(ENCODERS),
    "reference/measure.md": (*DISTANCES, *SCORERS, "correlations", "metric_separations"),
    "reference/learn.md": (
        *shipped_recipes(),
        *(*Data.model_fields, *Splitting.model_fields, *Rich.model_fields, *Training.model_fields),
        "training",
    ),
    "reference/curate.md": (
        *(*PROMPT_SETS, *TAGGERS, *CHECKS, *CLEANING_RULES, *SWAPS, *CANDIDATE_STATUSES, *RELATIONS),
        *(name for name, table in TABLES.items() if table.stage == "curate"),
        *(
            name
            for section in (SourceSet, Cleaning, Duplicates, Checks, Writing, Choosing)
            for name in section.model_fields
        ),
        *(f"[{name}]" for name in Curation.model_fields if name not in ("seed", "sets")),
    ),
    "reference/generate.md": (*GENERATORS, *GENERATION_STATUSES, "generations", "generation_costs"),
    "reference/workers.md": (*BUNDLED, *get_args(Task)),
    "reference/improve.md": (
        *("changes", "gains", "alarms", "proofs"),
        *INPAINTERS,
        *(f"beholder improve {name} FOLDER" for name in ("filter", "repair", "status")),
    ),
    "reference/design.md": tuple(role for role in ROLES if role != "test"),
    "explanation/numbers.md": tuple(MEASURES),
}
"""A page -> the names it must explain."""


def read(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


@pytest.mark.parametrize(("page", "name"), [(page, name) for page, names in NAMED.items() for name in names])
def test_the_page_names_it(page: str, name: str) -> None:
    text = read(page)
    assert f"`{name}`" in text or f"## {name}\n" in text, f"docs/{page} does not mention `{name}`"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_shown_with_an_example(name: str) -> None:
    text = read("reference/cli.md")
    assert f"| `beholder {name}` |" in text
    assert f"\n## beholder {name}\n" in text
    assert f"\n$ beholder {name}" in text


def test_the_page_on_tables_is_up_to_date() -> None:
    assert read("reference/tables.md") == markdown(), "run: make pages"


def test_what_is_built_for_each_kind_is_told_truly() -> None:
    rows = re.findall(
        r"^\| `([a-z0-9-]+)` \| yes \| yes \| (yes|not yet) \| (yes|not yet) \|$",
        read("reference/protocols.md"),
        re.M,
    )
    assert {kind for kind, _, _ in rows} == set(KINDS)
    assert all(consolidated == "yes" for _, consolidated, _ in rows)
    assert all(ranked == "yes" for _, _, ranked in rows)


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS)
def test_every_protocol_tells_its_source_and_departures(protocol: object) -> None:
    name, source = getattr(protocol, "name", ""), getattr(protocol, "source", "")
    _, _, after = read("reference/protocols.md").partition(f"\n### `{name}`\n")
    section, _, _ = after.partition("\n### ")
    section, _, _ = section.partition("\n## ")
    assert source.split(",")[0] in section
    assert "*Departures*:" in section


@pytest.mark.parametrize("folder", ["tutorials", "how-to", "reference", "explanation", "measured", "decisions"])
def test_every_page_is_listed_in_the_contents_of_its_folder(folder: str) -> None:
    contents = read(f"{folder}/index.md")
    pages = {path.name for path in (DOCS / folder).glob("*.md")} - {"index.md"}
    assert {page for page in pages if f"({page})" not in contents} == set()


def test_decisions_are_numbered_without_gaps_and_have_the_same_parts() -> None:
    decisions = sorted((DOCS / "decisions").glob("[0-9]*.md"))
    assert [path.name[:3] for path in decisions] == [f"{n:03d}" for n in range(1, len(decisions) + 1)]
    for path in decisions:
        text = path.read_text(encoding="utf-8")
        assert text.startswith(f"# {path.name[:3]} ")
        for part in ("Context", "Choice", "Consequences", "What was measured"):
            assert f"**{part}" in text, f"{path.name} lacks '{part}'"
