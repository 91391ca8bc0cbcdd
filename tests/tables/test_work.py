from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from beholder.errors import TableError, UndeclaredTableError
from beholder.tables.provenance import Provenance
from beholder.tables.stages import Step
from beholder.tables.store import Store
from beholder.tables.work import Outcome, Work, is_fresh, perform, provenance_of

World = dict[str, pl.DataFrame]

STEP = Step("design", inputs=("prompts", "images"), outputs=("trials",))
WORK = Work(STEP, {"trials": 2}, seed=1)


def of(step: Step) -> Work:
    """The same work of another step."""
    return replace(WORK, step=step)


class Stage:
    """A stage that counts how often it computes."""

    def __init__(self, store: Store, world: World) -> None:
        self.store, self.world, self.times = store, world, 0
        record = Provenance("new", {}, 0, {})
        store.write({"prompts": world["prompts"], "images": world["images"]}, record)

    def run(self, work: Work = WORK, *, force: bool = False) -> bool:
        """Whether it computed."""
        before = self.times
        outcome = perform(self.store, work, self.compute, force=force)
        assert outcome.skipped == (self.times == before)
        return not outcome.skipped

    def compute(self, _: Store) -> World:
        self.times += 1
        return {name: self.world[name] for name in ("trials", "sessions")}


@pytest.fixture
def stage(tmp_path: Path, world: World) -> Stage:
    return Stage(Store(tmp_path), world)


def test_runs_once(stage: Stage) -> None:
    assert stage.run()
    content = stage.store.path("trials").read_bytes()
    assert not stage.run()
    assert stage.store.path("trials").read_bytes() == content


def test_is_fresh_only_after_it_ran(stage: Stage) -> None:
    assert not is_fresh(stage.store, WORK)
    stage.run()
    assert is_fresh(stage.store, WORK)


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(replace(WORK, settings={"trials": 3}), id="setting"),
        pytest.param(replace(WORK, settings={"trials": 2, "new": None}), id="new setting"),
        pytest.param(replace(WORK, seed=2), id="seed"),
        pytest.param(replace(WORK, files={"study.toml": "ab"}), id="a file"),
        pytest.param(of(replace(STEP, stage="another")), id="stage"),
        pytest.param(of(replace(STEP, inputs=("prompts",))), id="fewer inputs"),
        pytest.param(of(replace(STEP, inputs=("prompts", "images", "labels"))), id="more inputs, though absent"),
        pytest.param(of(replace(STEP, outputs=("trials", "sessions"))), id="more outputs"),
    ],
)
def test_other_work_runs(stage: Stage, changed: Work) -> None:
    stage.run()
    assert stage.run(changed)
    assert not stage.run(changed)


def test_a_changed_input_runs_it_again(stage: Stage, world: World) -> None:
    stage.run()
    prompts = world["prompts"].with_columns(text=pl.lit("a dog"))
    stage.store.write({"prompts": prompts}, Provenance("new", {}, 0, {}))
    assert stage.run()
    assert not stage.run()


def test_an_input_made_otherwise_but_alike_is_another_input(stage: Stage, world: World) -> None:
    """Hashes are of files, which hold their record: the same rows by another seed count as changed."""
    stage.run()
    stage.store.write({"prompts": world["prompts"]}, Provenance("new", {}, 99, {}))
    assert stage.run()


def test_an_input_rewritten_byte_for_byte_does_not(stage: Stage, world: World) -> None:
    stage.run()
    stage.store.write({"prompts": world["prompts"]}, Provenance("new", {}, 0, {}))
    assert not stage.run()


def test_an_upgrade_runs_it_again(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    stage.run()
    _upgrade(monkeypatch)
    assert stage.run()
    assert not stage.run()


def test_an_upgrade_does_not_redo_what_was_collected(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    lasting = of(replace(STEP, redo_on_upgrade=False))
    stage.run(lasting)
    _upgrade(monkeypatch)
    assert not stage.run(lasting)
    assert stage.run(replace(lasting, seed=5))


def _upgrade(monkeypatch: pytest.MonkeyPatch) -> None:
    def newer(store: Store, work: Work) -> Provenance:
        return replace(provenance_of(store, work), version="999.0")

    monkeypatch.setattr("beholder.tables.work.provenance_of", newer)


def test_force(stage: Stage) -> None:
    stage.run()
    assert stage.run(force=True)
    assert stage.times == 2


@pytest.mark.parametrize("damage", ["removed", "emptied", "from elsewhere"])
def test_a_lost_output_runs_it_again(stage: Stage, world: World, damage: str) -> None:
    stage.run()
    path = stage.store.path("trials")
    content = path.read_bytes()
    path.unlink()
    if damage == "emptied":
        path.touch()
    elif damage == "from elsewhere":
        world["trials"].write_parquet(path)
    assert stage.run()
    assert path.read_bytes() == content


def test_the_record_is_of_the_inputs_before_the_work(stage: Stage, world: World) -> None:
    """An input that changes while the stage computes makes the output stale, not falsely fresh."""

    def compute_while_the_prompts_change(_: Store) -> World:
        changed = world["prompts"].with_columns(text=pl.lit("changed meanwhile"))
        stage.store.write({"prompts": changed}, Provenance("new", {}, 0, {}))
        return world

    perform(stage.store, WORK, compute_while_the_prompts_change)
    assert stage.run()


def test_what_does_not_fit_is_not_written(stage: Stage, world: World) -> None:
    stage.run()
    before = stage.store.hash("trials")
    bad = {"trials": world["trials"].with_columns(role=pl.lit("joke"))}
    with pytest.raises(TableError, match="nothing was written"):
        perform(stage.store, WORK, lambda _: bad, force=True)
    assert stage.store.hash("trials") == before


class TestOutcome:
    def test_says_what_was_written(self, stage: Stage) -> None:
        outcome = perform(stage.store, of(replace(STEP, outputs=("trials", "sessions"))), stage.compute)
        assert outcome.rows == {"trials": 2, "sessions": 2}
        assert outcome.seconds >= 0
        assert not outcome.skipped

    def test_in_words(self) -> None:
        rows = {"sessions": 30, "answers": 12_000}
        assert str(Outcome("collect", skipped=False, rows=rows, seconds=1.26)) == (
            "collect: 30 sessions, 12,000 answers in 1.3 s"
        )
        assert str(Outcome("collect", skipped=True)) == "collect: unchanged"


class TestUndeclared:
    def test_a_table_that_the_step_does_not_declare_cannot_be_read(self, stage: Stage) -> None:
        stage.store.write({"sessions": stage.world["sessions"]}, Provenance("collect", {}, 0, {}))

        def peeking(store: Store) -> World:
            store.read_or_empty("prompts")
            store.read_or_empty("sessions")
            return stage.world

        with pytest.raises(UndeclaredTableError, match="design reads the table sessions"):
            perform(stage.store, WORK, peeking)
        assert not stage.store.has("trials")

    def test_nor_written(self, stage: Stage) -> None:
        def writing(store: Store) -> World:
            store.write({"prompts": stage.world["prompts"]}, Provenance("design", {}, 0, {}))
            return stage.world

        before = stage.store.hash("prompts")
        with pytest.raises(UndeclaredTableError, match="design writes the table prompts"):
            perform(stage.store, WORK, writing)
        assert stage.store.hash("prompts") == before

    def test_references_are_looked_up_all_the_same(self, stage: Stage) -> None:
        """Trials refer to prompts, which this step does not read; that they are checked is the store's doing."""
        assert stage.run(of(replace(STEP, inputs=("images",))))
        lost = stage.world["trials"].with_columns(prompt=pl.lit("nowhere"))
        with pytest.raises(TableError, match="prompts"):
            perform(stage.store, of(replace(STEP, inputs=())), lambda _: {"trials": lost})
