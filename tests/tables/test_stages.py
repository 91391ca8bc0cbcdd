"""Laws of the declarations: one writer for every table, no edge back, and nothing undeclared."""

import ast
from pathlib import Path

import pytest

import beholder
from beholder.errors import UndeclaredTableError
from beholder.tables.catalogue import TABLES
from beholder.tables.stages import COLLECT, DESIGN, SECOND_LOOK, STAGES, Stage, Step, made_from, writer_of
from beholder.tables.store import Store

SOURCE = Path(beholder.__file__).parent

INTAKE = ("curate", "import")
"""Stages that read no table."""

STEPS = [step for stage in STAGES.values() for step in stage.steps]

WRITERS = {
    "collect/arena/export.py",  # a study of its own, from the votes of an arena
    "tables/work.py",  # every step
    "design/new.py",  # the intake
    "design/add.py",  # the same, of a study that exists
    "formats/folder.py",  # the import
    "simulate/world.py",  # ground truth, in a room of its own
    "collect/stage.py",  # the same
    "collect/exchange/export.py",  # the server's answers, as the collect step
    "collect/exchange/forget.py",  # rewrites rows of its person away
    "learn/job.py",  # models side by side, as the train step
    "collect/exchange/added_slots.py",  # adds trials that the design stage drew in a copy, under its record
    "improve/record.py",  # an improvement, in a room of its own
    "learn/rounds/models.py",  # models of adversarial rounds, after the training that has changed one of them
    "api/rounds/verification_study.py",  # the study in which claims are verified
    "api/rounds/rehearsal.py",  # ground truth of a rehearsed round, for simulated raters
    "api/improving/proof.py",  # ground truth of a blind comparison, for simulated raters
    "api/benchmark/rebuild.py",  # copies rows of services that are not asked again, under their record
}
"""The only files that write tables of a study."""


def test_every_table_has_exactly_one_writer() -> None:
    written = [name for step in STEPS for name in step.outputs]
    assert sorted(written) == sorted(set(written))
    assert set(written) == set(TABLES)


@pytest.mark.parametrize("name", TABLES)
def test_a_schema_names_the_stage_that_writes_it(name: str) -> None:
    assert TABLES[name].stage == writer_of(name).name
    assert name in writer_of(name).outputs


@pytest.mark.parametrize("step", STEPS, ids=lambda step: f"{step.stage}-{'-'.join(step.outputs[:1])}")
def test_a_step_reads_only_what_was_written_before_it(step: Step) -> None:
    """So there is no cycle, and no stage reads what a later one writes."""
    before = {name for earlier in STEPS[: STEPS.index(step)] for name in earlier.outputs}
    assert set(step.inputs) <= before
    assert bool(step.inputs) == (step.stage not in INTAKE)
    assert len({*step.inputs, *step.outputs}) == len(step.inputs) + len(step.outputs)


@pytest.mark.parametrize("stage", STAGES.values(), ids=STAGES)
def test_a_stage_consists_of_its_own_steps(stage: Stage) -> None:
    assert {step.stage for step in stage.steps} == {stage.name}
    assert set(stage.inputs).isdisjoint(stage.outputs)


def test_an_import_brings_what_earlier_stages_would_write() -> None:
    assert {name: stage.replaces for name, stage in STAGES.items() if stage.replaces} == {
        "import": ("new", "design", "collect")
    }


def test_a_guard_belongs_to_a_later_stage() -> None:
    for step in STEPS:
        after = {name for later in STEPS[STEPS.index(step) :] for name in later.outputs}
        assert set(step.guards) <= after
    assert DESIGN.guards == COLLECT.outputs


def test_consolidate_reads_nothing_of_learn_or_measure() -> None:
    later = {*STAGES["learn"].outputs, *STAGES["measure"].outputs}
    assert later.isdisjoint(STAGES["consolidate"].inputs)
    assert later.isdisjoint(STAGES["rank"].inputs)


def test_what_is_made_from_answers() -> None:
    """By hand: every table past collecting but those that rest on images alone."""
    assert made_from(*COLLECT.outputs) == (
        *("raters", "judgements", "labels", "regions", "thresholds", "agreement"),
        *("ratings", "separations", "comparisons"),
        *("training", "predictions", "label_errors", "rounds"),
        *("correlations", "metric_separations", "powered_ratings"),
        *STAGES["board"].outputs,
        *STAGES["audit"].outputs,
        *STAGES["improve"].outputs,
    )
    board, audits = STAGES["board"].outputs, STAGES["audit"].outputs
    assert made_from("scores") == ("correlations", "metric_separations", "powered_ratings", *board, *audits)
    assert made_from("label_errors") == audits
    assert made_from("features") == made_from() == ()


def test_a_store_lent_to_a_step_knows_its_tables_alone(tmp_path: Path) -> None:
    store = Store(tmp_path).within(SECOND_LOOK)
    for name in TABLES:
        if name in (*SECOND_LOOK.inputs, *SECOND_LOOK.outputs):
            assert store.read_or_empty(name).is_empty()
            continue
        for touch in (store.read, store.read_or_empty, store.has, store.hash, store.path, store.provenance):
            with pytest.raises(UndeclaredTableError, match=f"learn reads the table {name}"):
                touch(name)


def test_nothing_else_writes_tables() -> None:
    writing = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if path.name != "store.py" and any(map(_writes, ast.walk(ast.parse(path.read_text(encoding="utf-8")))))
    }
    assert writing == WRITERS


def _writes(node: ast.AST) -> bool:
    """Whether it is ``….write(…)`` of a store, or a file put where a store keeps a table."""
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute):
        return node.func.attr == "write" and "store" in ast.unparse(node.func.value).lower()
    return ast.unparse(node).startswith("write_atomically(store.path")


def test_every_step_computes_within_its_declaration() -> None:
    """Stages hand their work to ``perform``, or lend the store to the step themselves."""
    for name in ("collect/exchange/export.py", "learn/job.py", "report/tables/inputs.py"):
        assert ".within(" in (SOURCE / name).read_text(encoding="utf-8")
