"""Images by an engine: the same files and rows as without one, whatever goes wrong."""

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engines.pickling import PicklingEngine
from tests.generate.test_stage import LIAR, contents, generating, liar, prompts, rows

from beholder.errors import StageError, UserError
from beholder.generate.engine_run import SHARD, close_opened
from beholder.generate.stage import run
from beholder.study.generating import CommandGenerator, FolderGenerator, WorkerGenerator
from beholder.tables.store import Store

SEVERAL = 2 * SHARD + 3


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    close_opened()


def cats(folder: Path, **others: str) -> Path:
    """Prompts of three shards; ``n3="crash it"`` stands in place of the third."""
    return prompts(folder, *(others.get(f"n{number}", f"cat {number}") for number in range(SEVERAL)))


def test_the_same_files_and_rows(tmp_path: Path) -> None:
    path = cats(tmp_path, n1="crash it", n9="refuse it", n12="small one", n18="fail it")
    command = CommandGenerator(name="fixed", command=(sys.executable, "-S", "-c", FIXED))
    engine, seen = PicklingEngine(), list[tuple[str, int, int]]()
    run(tmp_path / "local", generating=generating(path, liar(), command))
    run(
        tmp_path / "engine",
        generating=generating(path, liar(), command),
        engine=engine,
        progress=lambda *done: seen.append(done),
    )
    assert contents(tmp_path / "engine") == contents(tmp_path / "local")
    assert engine.done == 2 * 3
    assert seen[:3] == [("liar", SHARD, SEVERAL), ("liar", 2 * SHARD, SEVERAL), ("liar", SEVERAL, SEVERAL)]
    assert Counter(row["status"] for row in rows(tmp_path / "engine")) == {
        "done": 2 * SEVERAL - 4,
        "failed": 3,
        "refused": 1,
    }
    assert Store(tmp_path / "engine").read("generation_costs")["seconds"].min() > 0  # type: ignore[operator]


FIXED = (
    "import sys, zlib, struct\n"
    "def c(k, b): return struct.pack('>I', len(b)) + k + b + struct.pack('>I', zlib.crc32(k + b))\n"
    "head = c(b'IHDR', struct.pack('>IIBBBBB', 8, 6, 8, 2, 0, 0, 0))\n"
    "body = c(b'IDAT', zlib.compress((b'\\0' + b'abc' * 8) * 6))\n"
    "sys.stdout.buffer.write(b'\\x89PNG\\r\\n\\x1a\\n' + head + body + c(b'IEND', b''))"
)
"""A program that writes an image of 8 × 6 pixels."""


@pytest.mark.parametrize("first", [0, SHARD - 1, SHARD + 2])
def test_it_is_given_up_at_the_same_image(tmp_path: Path, first: int) -> None:
    failing = {f"n{number}": f"fail {number}" for number in range(first, first + 2)}
    path = cats(tmp_path, **failing)
    run(tmp_path / "local", generating=generating(path, liar(give_up=2)))
    run(tmp_path / "engine", generating=generating(path, liar(give_up=2)), engine=PicklingEngine())
    assert contents(tmp_path / "engine") == contents(tmp_path / "local")
    faults = Counter(row["fault"] for row in rows(tmp_path / "engine"))
    assert (faults["error"], faults["not-attempted"]) == (2, SEVERAL - first - 2)


def test_where_it_does_not_start_no_image_is_made(tmp_path: Path) -> None:
    path, broken = cats(tmp_path), WorkerGenerator(name="broken", command=("no-such-program",))
    engine = PicklingEngine()
    run(tmp_path / "local", generating=generating(path, broken))
    run(tmp_path / "engine", generating=generating(path, broken), engine=engine)
    assert contents(tmp_path / "engine") == contents(tmp_path / "local")
    assert {row["fault"] for row in rows(tmp_path / "engine")} == {"start"}
    assert engine.done == 1


def test_a_stopped_run_goes_on(tmp_path: Path) -> None:
    path, out = cats(tmp_path), tmp_path / "engine"
    with pytest.raises(KeyboardInterrupt):
        run(out, generating=generating(path), engine=PicklingEngine(most=2))
    kept = {file: file.stat().st_mtime_ns for file in (out / "generations").rglob("*.png")}
    assert len(kept) == 2 * SHARD
    rest = PicklingEngine()
    run(out, generating=generating(path), engine=rest)
    assert rest.done == 1
    assert {file: file.stat().st_mtime_ns for file in kept} == kept
    run(tmp_path / "local", generating=generating(path))
    assert contents(out) == contents(tmp_path / "local")


def test_another_generator_than_before_makes_no_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few, out = prompts(tmp_path, "cat 0"), tmp_path / "out"
    run(out, generating=generating(few), engine=PicklingEngine())
    close_opened()
    monkeypatch.setenv("LIAR_WEIGHTS", "bb" * 32)
    with pytest.raises(StageError, match="'liar' is not what it was"):
        run(out, generating=generating(cats(tmp_path)), engine=PicklingEngine())
    assert len(rows(out)) == 1


def test_workers_with_other_weights_are_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Changing(PicklingEngine):
        def map(self, function, parts, /):  # type: ignore[no-untyped-def]
            for answer in super().map(function, parts):
                close_opened()
                monkeypatch.setenv("LIAR_WEIGHTS", "bb" * 32)
                yield answer

    with pytest.raises(StageError, match="not the same on all workers: weights is aaaa"):
        run(tmp_path / "out", generating=generating(cats(tmp_path)), engine=Changing())
    assert len(rows(tmp_path / "out")) == SHARD


def test_services_and_folders_are_asked_here(tmp_path: Path) -> None:
    source = tmp_path / "source"
    run(source, generating=generating(prompts(tmp_path, "a cat"), liar()))
    (image,) = (source / "generations").rglob("*.png")
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    (pictures / "cat.png").write_bytes(image.read_bytes())
    (pictures / "cat.txt").write_text("a cat")
    engine = PicklingEngine()
    url = WorkerGenerator(name="service", url="http://127.0.0.1:9", timeout=1.0)
    folder = FolderGenerator(name="there", path=str(pictures))
    run(tmp_path / "out", generating=generating(prompts(tmp_path, "a cat"), folder, url), engine=engine)
    assert {row["generator"]: row["status"] for row in rows(tmp_path / "out")} == {
        "there": "done",
        "service": "failed",
    }
    assert engine.done == 0


def test_energy_needs_one_image_at_a_time(tmp_path: Path) -> None:
    settings = generating(cats(tmp_path), energy="codecarbon")
    with pytest.raises(UserError, match="leave out energy, or the engine"):
        run(tmp_path / "out", generating=settings, engine=PicklingEngine())


def test_it_runs_where_the_folder_is_named_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = prompts(tmp_path, "a cat")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "liar.py").write_bytes(LIAR.read_bytes())
    beside = WorkerGenerator(name="beside", command=(sys.executable, "-S", "liar.py"))
    monkeypatch.chdir(tmp_path)
    run(Path("out"), generating=generating(path, beside), engine=PicklingEngine())
    assert [row["status"] for row in rows(tmp_path / "out")] == ["done"]
