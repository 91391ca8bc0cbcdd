"""A benchmark of two small generators with weights of their own, run once with simulated raters, and locked."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import run

from beholder.api.benchmark.bench import bench
from beholder.curate.settings import Curation, SourceSet, dump_curation
from beholder.study.benchmark import Benchmark
from beholder.study.generating import WorkerGenerator
from beholder.study.kinds.pair import PairQuestion
from beholder.study.question import Design
from beholder.study.study import Analysis, Study, dump_study
from beholder.tables.work import Outcome

__all__ = ["run"]

WORKER = Path(__file__).with_name("worker.py")
RATERS = 6
SOURCES = ("study.toml", "study.lock", "curate.toml", "prompts.csv", "worker.py", "a.bin", "b.bin")


def study_of(**settings: object) -> Study:
    fields: dict[str, object] = {
        "name": "small",
        "title": "Small",
        "analysis": Analysis(draws=200),
        "questions": (PairQuestion(name="preference", design=Design(raters=RATERS, trials=8)),),
        "generators": tuple(
            WorkerGenerator(name=name, command=(sys.executable, "-S", "worker.py", f"{name}.bin")) for name in "ab"
        ),
        "benchmark": Benchmark(width=16, scorers=("sharpness",), distances=()),
    }
    return Study.model_validate(fields | settings)


def write_sources(folder: Path, study: Study | None = None) -> Path:
    """Write what a user writes: prompts, settings, and generators with their weights."""
    folder.mkdir(parents=True)
    nouns = ("cat", "dog", "house", "tree", "boat", "lamp", "bridge", "mountain")
    rows = [f"a {noun} in the rain,{'photo' if number % 2 else 'sketch'}" for number, noun in enumerate(nouns)]
    (folder / "prompts.csv").write_text("prompt,category\n" + "\n".join(rows) + "\n")
    curation = Curation(sets=(SourceSet(name="own", path="prompts.csv"),))
    (folder / "curate.toml").write_text(dump_curation(curation))
    (folder / "study.toml").write_text(dump_study(study or study_of()))
    shutil.copyfile(WORKER, folder / "worker.py")
    for name in "ab":
        (folder / f"{name}.bin").write_bytes(f"weights of {name}".encode())
    return folder


@pytest.fixture(scope="session")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The benchmark after a run that was stopped on the way and continued: not to be changed."""
    folder = write_sources(tmp_path_factory.mktemp("benchmark") / "small")
    with pytest.raises(KeyboardInterrupt):
        bench(folder, simulate=RATERS, bad=1, after=_stop)
    outcome = bench(folder, simulate=RATERS, bad=1)
    skipped = [stage.stage for stage in outcome.stages if stage.skipped]
    (folder.parent / "skipped.txt").write_text(" ".join(skipped))
    return folder


def _stop(outcome: Outcome) -> None:
    if outcome.stage == "collect":
        raise KeyboardInterrupt


@pytest.fixture
def copied(locked: Path, tmp_path: Path) -> Path:
    """A copy with all results."""
    return Path(shutil.copytree(locked, tmp_path / "copied"))


@pytest.fixture
def sources(locked: Path, tmp_path: Path) -> Path:
    """A folder with its sources and its lock alone."""
    folder = tmp_path / "sources"
    folder.mkdir()
    for name in SOURCES:
        shutil.copyfile(locked / name, folder / name)
    return folder


@pytest.fixture
def changed_byte() -> Callable[[Path, bytes, bytes], None]:
    """Replace some bytes of a file by others, of the same length."""

    def change(path: Path, before: bytes, after: bytes) -> None:
        content = path.read_bytes()
        assert content.count(before) == 1
        assert len(before) == len(after)
        path.write_bytes(content.replace(before, after))

    return change
