"""A lock rebuilt in an empty folder gives equal bytes, and one changed byte is named."""

import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from tests.api.benchmark.conftest import RATERS
from tests.cli.conftest import Ran

from beholder.api.benchmark.bench import bench_steps
from beholder.api.benchmark.lock import gather_lock, lock_study
from beholder.api.benchmark.plan import plan_bench
from beholder.api.benchmark.rebuild import check_lock, rebuild
from beholder.errors import StudyError
from beholder.study.kinds.pair import PairQuestion
from beholder.study.lock import read_lock
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.stages import COLLECT
from beholder.tables.store import Store

Change = Callable[[Path, bytes, bytes], None]


def rewrite(folder: Path, name: str, frame: pl.DataFrame) -> None:
    """Write a table with the record that it has."""
    store = Store(folder)
    record = store.provenance(name)
    assert record is not None
    store.write({name: frame}, record)


def contents(folder: Path) -> dict[str, bytes]:
    names = [name for name in TABLES if Store(folder).has(name) and not TABLES[name].varies]
    return {name: Store(folder).path(name).read_bytes() for name in names}


def test_a_lock_rebuilt_in_an_empty_folder_gives_equal_bytes(locked: Path, sources: Path) -> None:
    rebuilt = rebuild(sources)
    assert rebuilt.difference is None
    assert (rebuilt.verified, rebuilt.packages) == ((), ())
    assert contents(sources) == contents(locked)
    assert len(contents(sources)) > 20
    assert lock_study(sources).read_bytes() == (locked / "study.lock").read_bytes()


def test_a_folder_with_results_is_rebuilt_next_to_it_and_stays_as_it_is(
    run: Callable[..., Ran], copied: Path
) -> None:
    before = {path: path.stat().st_mtime_ns for path in copied.rglob("*")}
    ran = run("bench", copied, "--locked")
    assert ran.code == 0, ran.err
    assert "Every table is the same as when it was locked." in ran.out
    assert "unchanged" not in ran.out  # nothing was skipped
    assert {path: path.stat().st_mtime_ns for path in copied.rglob("*")} == before
    assert [path.name for path in copied.parent.iterdir()] == ["copied"]


class TestOneChangedByte:
    def test_of_a_prompt(self, copied: Path, changed_byte: Change) -> None:
        changed_byte(copied / "prompts.csv", b"a dog in the rain", b"a dog in the rail")
        rebuilt = rebuild(copied)
        difference = rebuilt.difference
        assert [stage.stage for stage in rebuilt.stages] == ["curate"]  # nothing is generated after it
        assert difference is not None
        assert difference.place.startswith("table 'prompt_candidates', row 2 of 8 (candidate 'own/")
        assert "'a dog in the rail'" in difference.current
        assert "'a dog in the rain'" in difference.locked

    def test_of_a_prompt_in_an_empty_folder(self, sources: Path, changed_byte: Change) -> None:
        changed_byte(sources / "prompts.csv", b"a dog in the rain", b"a dog in the rail")
        difference = rebuild(sources).difference
        assert difference is not None
        assert difference.place.startswith("table 'prompt_candidates', row 2 of 8 ")
        assert "'text'" in difference.place
        assert "'a dog in the rail'" in difference.current
        assert difference.locked == "another"  # only its hash is left

    def test_of_the_seed(self, copied: Path) -> None:
        toml = copied / "study.toml"
        toml.write_text(toml.read_text().replace("seed = 0", "seed = 1", 1))
        assert str(rebuild(copied).difference) == "study.toml, seed: 1; the lock has 0"

    def test_of_the_seed_of_an_image(self, copied: Path) -> None:
        generations = Store(copied).read("generations")
        seed = generations["seed"][11]
        other = pl.when(pl.int_range(pl.len()) == 11).then(seed + 1).otherwise("seed").cast(pl.Int64).alias("seed")
        rewrite(copied, "generations", generations.with_columns(other))
        difference = rebuild(copied).difference
        assert difference is not None
        key = f"generator 'b', prompt '{generations['prompt'][11]}', sample 0"
        assert difference.place == f"table 'generations', row 12 of 16 ({key}), column 'seed'"
        assert difference.current == str(seed + 1)

    def test_of_a_weight(self, copied: Path, changed_byte: Change) -> None:
        changed_byte(copied / "b.bin", b"weights of b", b"weights_of b")
        rebuilt = rebuild(copied)
        assert [stage.stage for stage in rebuilt.stages] == ["curate", "generate"]
        assert rebuilt.difference is not None
        assert rebuilt.difference.place == "generator 'b', weights"
        assert rebuilt.difference.locked == read_lock(copied).generators["b"].weights
        assert len(rebuilt.difference.current) == 64

    def test_of_an_answer(self, copied: Path) -> None:
        answers = Store(copied).read("answers")
        row = answers.with_row_index().filter(pl.col("choice") == "left")["index"][3]
        other = pl.when(pl.int_range(pl.len()) == row).then(pl.lit("right")).otherwise("choice").alias("choice")
        rewrite(copied, "answers", answers.with_columns(other))
        difference = check_lock(copied)
        assert difference is not None
        assert difference.place.startswith(f"table 'answers', row {row + 1} of {answers.height} (")
        assert difference.place.endswith("column 'choice'")
        assert difference.current == "'right'"


@pytest.fixture(scope="module")
def answered(locked: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same answers as if people had given them."""
    folder = Path(shutil.copytree(locked, tmp_path_factory.mktemp("answered") / "study"))
    store = Store(folder)
    sessions = store.read("sessions").with_columns(simulated=pl.lit(value=False))
    frames = {name: store.read(name) for name in COLLECT.outputs} | {"sessions": sessions}
    store.write(frames, Provenance("collect", {}, 0, {}))
    plan = plan_bench(folder, raters=None, bad=0)
    for step in bench_steps(folder, replace(plan, stages=plan.stages - {"report", "site"})):
        step()
    lock_study(folder)
    return folder


class TestAnswersOfPeople:
    @pytest.fixture
    def asked(self, answered: Path, tmp_path: Path) -> Path:
        return Path(shutil.copytree(answered, tmp_path / "asked"))

    def test_are_verified_by_their_hashes(self, asked: Path) -> None:
        lock = read_lock(asked)
        assert lock.simulated is None
        assert {"design", "collect"}.isdisjoint(lock.rebuilt)
        rebuilt = rebuild(asked)
        assert rebuilt.difference is None
        assert rebuilt.verified == ("trials", "sessions", "answers", "skips", "marks")

    def test_a_changed_answer_is_named(self, asked: Path) -> None:
        answers = Store(asked).read("answers")
        rewrite(asked, "answers", answers.with_columns(choice=pl.col("choice").reverse()))
        difference = rebuild(asked).difference
        assert difference is not None
        assert difference.place.startswith("table 'answers', row ")

    def test_a_missing_table_is_named(self, asked: Path) -> None:
        Store(asked).path("answers").unlink()
        difference = check_lock(asked)
        assert difference is not None
        assert difference.place == "table 'answers'"


class TestTheLock:
    def test_names_what_a_rerun_needs(self, locked: Path) -> None:
        lock = read_lock(locked)
        assert lock.packages["python"] == sys.version.split()[0]
        assert lock.prompt_sets["own"].version.startswith("sha256 ")
        assert (lock.generators["a"].kind, lock.generators["a"].model) == ("worker", "noise")
        assert lock.generators["a"].images == 8
        assert lock.simulated is not None
        assert (lock.simulated.raters, lock.simulated.bad) == (RATERS, 1)
        assert lock.measure is not None
        assert lock.measure.scorers == {"sharpness": "sharpness"}
        assert "generation_costs" not in lock.tables
        assert "collect" not in lock.study

    def test_any_study_can_have_one(self, bare_study: Callable[..., Path]) -> None:
        folder = bare_study(PairQuestion(name="q"))
        lock_study(folder)
        lock = read_lock(folder)
        assert (lock.rebuilt, lock.curation, lock.measure) == ((), None, None)
        assert set(lock.tables) == {"prompts", "images"}
        assert check_lock(folder) is None
        assert lock == gather_lock(folder)

    def test_a_damaged_or_missing_lock_is_a_fault_of_the_user(self, tmp_path: Path) -> None:
        with pytest.raises(StudyError, match=r"no study\.lock here"):
            read_lock(tmp_path)
        (tmp_path / "study.lock").write_text("{}")
        with pytest.raises(StudyError, match="tables: missing"):
            read_lock(tmp_path)


@pytest.fixture
def folders(locked: Path, tmp_path: Path) -> Path:
    """Folders a and b of images with their prompts, and a file of the prompts."""
    rows = Store(locked).read("generations")
    for name in "ab":
        (tmp_path / name).mkdir()
        for row in rows.filter(generator=name).iter_rows(named=True):
            shutil.copyfile(locked / row["path"], tmp_path / name / f"{row['prompt']}.png")
            (tmp_path / name / f"{row['prompt']}.txt").write_text(row["text"])
    (tmp_path / "prompts.txt").write_text("\n".join(rows["text"].unique(maintain_order=True)))
    return tmp_path


class TestTheCommands:
    def test_check(self, run: Callable[..., Ran], copied: Path) -> None:
        assert run("lock", copied).code == 0
        assert "Every table is as it was locked." in run("lock", copied, "--check").out
        (copied / "curate.toml").unlink()
        ran = run("lock", copied, "--check")
        assert ran.code == 1
        assert "curate.toml" in ran.out

    def test_a_benchmark_of_folders(self, run: Callable[..., Ran], folders: Path) -> None:
        """From prompts to a board, as the page shows it; scorers and distances come from the study file."""
        study = folders / "study"
        unprompted = run("new", "hpd-pairs", study, "--generator", "a=folder:../a", "--generator", "b=folder:../b")
        assert unprompted.code == 2
        assert "no prompts to generate from" in unprompted.err
        assert not study.exists()
        assert run("curate", study, "--prompts", folders / "prompts.txt").code == 0
        numbers = ("--raters", 6, "--trials", 8, "--repeats", 0, "--attention-every", 0)
        new = run(
            "new", "hpd-pairs", study, "--generator", "a=folder:../a", "--generator", "b=folder:../b", *numbers
        )
        assert new.code == 0, new.err
        assert "with 16 images (8 a, 8 b)" in new.out
        assert "beholder bench" in new.out
        toml = (study / "study.toml").read_text()
        (study / "study.toml").write_text(
            toml.replace("scorers = []", 'scorers = ["sharpness"]\ndistances = []', 1)
        )
        ran = run("bench", study, "--simulate", 6)
        assert ran.code == 0, ran.err
        assert "They know nothing about your images" in ran.out
        assert "\npreference — higher is better" in ran.out
        assert "Without a better end: sharpness." in ran.out
        assert set(json.loads(run("lock", study, "--json").out)["generators"]) == {"a", "b"}
        twice = run("bench", study, "--locked", "--force")
        assert (twice.code, "leave --simulate" in twice.err) == (2, True)
