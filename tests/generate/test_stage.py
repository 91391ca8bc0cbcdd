"""The generate stage: every image has its row, whatever becomes of it, and nothing is made twice."""

import hashlib
import sys
from collections import Counter
from pathlib import Path

import pytest

from beholder.errors import StageError, StudyError, UserError
from beholder.generate.journal import open_journal
from beholder.generate.plan import Key
from beholder.generate.settings import GenerateSettings
from beholder.generate.stage import run
from beholder.study.generating import AnyGenerator, CommandGenerator, FolderGenerator, WorkerGenerator
from beholder.tables.store import Store

LIAR = Path(__file__).with_name("liar.py")
COMMAND = (sys.executable, "-S", str(LIAR))


def liar(name: str = "liar", **settings: object) -> AnyGenerator:
    return WorkerGenerator.model_validate({"name": name, "command": COMMAND, "timeout": 20.0, **settings})


def prompts(folder: Path, *texts: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "prompts.txt"
    path.write_text("\n".join(texts))
    return path


def generating(path: Path, *generators: AnyGenerator, **settings: object) -> GenerateSettings:
    return GenerateSettings(generators=generators or (liar(),), prompts=path, width=8, height=6, **settings)  # type: ignore[arg-type]


def rows(folder: Path) -> list[dict[str, object]]:
    return Store(folder).read("generations").to_dicts()


def contents(folder: Path) -> dict[str, bytes]:
    """Every image, and the table without costs."""
    files = [*(folder / "generations").rglob("*"), folder / "tables" / "generations.parquet"]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files if file.is_file()}


def test_every_image_has_its_row_and_its_cost(tmp_path: Path) -> None:
    path = prompts(tmp_path / "in", "a cat", "a dog")
    outcome = run(
        tmp_path / "out", generating=generating(path, liar(template="{prompt}, best quality"), samples=2)
    )
    assert (outcome.skipped, outcome.rows) == (False, {"generations": 4, "generation_costs": 4})
    table = rows(tmp_path / "out")
    assert Counter((row["text"], row["sample"]) for row in table) == {
        (text, sample): 1 for text in ("a cat", "a dog") for sample in (0, 1)
    }
    first = table[0]
    assert first["sent"] == f"{first['text']}, best quality"
    assert first["rewritten"] == "A rewritten prompt"
    assert (first["width"], first["height"], first["status"], first["fault"]) == (8, 6, "done", None)
    assert (first["kind"], first["model"], first["weights"]) == ("worker", "liar", "aa" * 32)
    assert first["settings"] == '{"steps": 3}'
    assert len({row["seed"] for row in table}) == 4
    for row in table:
        file = tmp_path / "out" / str(row["path"])
        assert hashlib.sha256(file.read_bytes()).hexdigest() == row["sha256"]
    costs = Store(tmp_path / "out").read("generation_costs")
    assert costs["seconds"].min() > 0  # type: ignore[operator]
    assert costs["energy_wh"].null_count() == 4  # none without its method
    assert not (tmp_path / "out" / "generations" / "journal.jsonl").exists()


@pytest.mark.parametrize(
    ("word", "status", "fault", "reason"),
    [
        ("small", "failed", "wrong-size", "wrong size: 4 × 6 pixels, expected 8 × 6"),
        ("text", "failed", "not-an-image", "it begins: 'I cannot draw that'"),
        ("refuse", "refused", "refused", "not that"),
        ("fail", "failed", "error", "out of memory"),
        ("crash", "failed", "crashed", "killed by SIGKILL"),
        ("hang", "failed", "timeout", "no reply for 0.5 s"),
    ],
)
def test_what_goes_wrong_has_its_reason_and_stops_nothing(
    tmp_path: Path, word: str, status: str, fault: str, reason: str
) -> None:
    path = prompts(tmp_path, "a cat", f"{word} it", "a dog")
    patience, longer = (0.5, 2.0) if word == "hang" else (20.0, 20.0)  # both get the prompt at which they hang
    faulty, other = liar("faulty", timeout=patience), liar("other", timeout=longer)
    outcome = run(tmp_path / "out", generating=generating(path, faulty, other))
    table = rows(tmp_path / "out")
    assert len(table) == 6
    wrong = [row for row in table if str(row["text"]).startswith(word)]
    assert {row["status"] for row in wrong if row["generator"] == "faulty"} == {status}
    (row,) = (row for row in wrong if row["generator"] == "faulty")
    assert row["fault"] == fault
    assert reason in str(row["reason"])
    assert row["path"] is row["sha256"] is None
    assert [row["status"] for row in table if row not in wrong] == ["done"] * 4
    assert f"faulty: 1 × {fault}: " in outcome.note


def test_a_generator_that_always_fails_is_given_up_on_and_the_next_goes_on(tmp_path: Path) -> None:
    path = prompts(tmp_path, *(f"fail {number}" for number in range(5)))
    run(
        tmp_path / "out",
        generating=generating(path, liar("faulty", give_up=2), liar("z", template="draw {prompt}")),
    )
    table = Store(tmp_path / "out").read("generations")
    assert Counter(table.filter(generator="faulty")["fault"]) == {"error": 2, "not-attempted": 3}
    last = table.filter(generator="faulty", fault="not-attempted")["reason"][0]
    assert "not attempted: 2 failures in a row, the last: " in last
    assert "out of memory" in last
    assert table.filter(generator="z")["status"].to_list() == ["done"] * 5


def test_a_generator_that_cannot_start_is_tried_once(tmp_path: Path) -> None:
    path = prompts(tmp_path, "a cat", "a dog")
    broken = WorkerGenerator(name="broken", command=("no-such-program",))
    run(tmp_path / "out", generating=generating(path, broken, liar()))
    table = Store(tmp_path / "out").read("generations")
    assert table.filter(generator="broken")["fault"].to_list() == ["start", "start"]
    assert table.filter(generator="liar")["status"].to_list() == ["done", "done"]


def test_what_is_there_is_not_made_again(tmp_path: Path) -> None:
    path, out = prompts(tmp_path, "a cat", "fail this"), tmp_path / "out"
    run(out, generating=generating(path))
    before = contents(out)
    assert run(out, generating=generating(path)).skipped
    assert contents(out) == before
    one = next(file for file in (out / "generations").rglob("*.png"))
    stamp = one.stat().st_mtime_ns
    run(out, generating=generating(path, liar("second")))  # another generator
    assert one.stat().st_mtime_ns == stamp
    assert len(rows(out)) == 4
    assert run(out, generating=generating(path)).skipped  # the first plan is still done
    one.unlink()
    run(out, generating=generating(path, retry=True))
    assert one.is_file()


def test_failures_are_tried_again_only_on_request(tmp_path: Path) -> None:
    path, out = prompts(tmp_path, "a cat"), tmp_path / "out"
    switch = out / "ready"
    out.mkdir()
    program = "import sys; sys.stdout.buffer.write(open('ready', 'rb').read())"  # fails while it is not there
    command = CommandGenerator(name="c", command=(sys.executable, "-S", "-c", program))
    run(out, generating=generating(path, command))
    assert rows(out)[0]["fault"] == "crashed"
    first = rows(out)[0]["seed"]
    donor = tmp_path / "donor"
    run(donor, generating=generating(path))
    switch.write_bytes(next((donor / "generations").rglob("*.png")).read_bytes())
    assert run(out, generating=generating(path, command)).skipped
    run(out, generating=generating(path, command, retry=True))
    assert (rows(out)[0]["status"], rows(out)[0]["fault"], rows(out)[0]["seed"]) == ("done", None, first)


def test_images_are_not_replaced_silently(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, out = prompts(tmp_path, "a cat", "a dog"), tmp_path / "out"
    run(out, generating=generating(path))
    before = contents(out)
    with pytest.raises(StageError, match="2 images of 'liar' are there already, with another seed"):
        run(out, generating=generating(path, seed=5))
    with pytest.raises(StageError, match="with another prompt as sent"):
        run(out, generating=generating(path, liar(template="{prompt}!")))
    monkeypatch.setenv("LIAR_WEIGHTS", "bb" * 32)
    more = prompts(tmp_path / "more", "a cat", "a dog", "a fox")
    with pytest.raises(StageError, match=r"'liar' is not what it was: .* hash of the weights aaaa.*, now bbbb"):
        run(out, generating=generating(more))
    assert {name: content for name, content in contents(out).items() if name.endswith("png")} == {
        name: content for name, content in before.items() if name.endswith("png")
    }
    run(out, generating=generating(more), force=True)
    assert {row["weights"] for row in rows(out)} == {"bb" * 32}


def test_images_of_a_folder_become_generations(tmp_path: Path) -> None:
    path, out = prompts(tmp_path, "a cat", "a dog"), tmp_path / "out"
    donor = tmp_path / "donor"
    run(donor, generating=generating(prompts(tmp_path / "one", "a cat")))
    file = next((donor / "generations").rglob("*.png"))
    file.with_suffix(".txt").write_text("a cat")
    folder = FolderGenerator(name="old", path=str(file.parent))
    run(out, generating=generating(path, folder))
    by_text = {str(row["text"]): row for row in rows(out)}
    assert by_text["a cat"]["status"] == "done"
    assert by_text["a cat"]["seed"] is None
    assert by_text["a dog"]["fault"] == "missing"


def test_all_faults_before_any_work(tmp_path: Path) -> None:
    path = prompts(tmp_path, "a cat")
    with pytest.raises(StageError, match="no generators: name one, such as --generator best=painter:aurora"):
        run(tmp_path / "out", generating=GenerateSettings(prompts=path))
    with pytest.raises(UserError, match=r"generator 'lier' is not known; known: liar\. Did you mean 'liar'"):
        run(tmp_path / "out", generating=generating(path, only=("lier",)))
    broken = [FolderGenerator(name=name, path="nowhere") for name in "ab"]
    with pytest.raises(StudyError) as caught:
        run(tmp_path / "out", generating=generating(path, *broken))
    assert len(caught.value.faults) == 2
    assert not (tmp_path / "out").exists()


def test_another_process_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    path = prompts(tmp_path, "a cat")
    with (
        open_journal(tmp_path / "out"),
        pytest.raises(StageError, match="another process is generating images here"),
    ):
        run(tmp_path / "out", generating=generating(path))


def test_what_a_killed_run_left_is_recovered(tmp_path: Path) -> None:
    """A journal with one complete line and one cut short: the first counts, the second image is made again."""
    path = prompts(tmp_path, "a cat", "a dog")
    whole, cut = tmp_path / "a", tmp_path / "b"
    journal = cut / "generations" / "journal.jsonl"

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    run(whole, generating=generating(path))
    with pytest.raises(KeyboardInterrupt):
        run(cut, generating=generating(path), progress=stop)
    assert not Store(cut).has("generations")
    journal.write_bytes(journal.read_bytes() + b'[{"generator": "li')
    assert len(recovered(cut)) == 1
    orphan = cut / "generations" / "liar" / ".x.png.part"
    orphan.write_bytes(b"half an image")
    run(cut, generating=generating(path))
    orphan.unlink()
    assert contents(cut) == contents(whole)


def test_a_file_that_did_not_reach_the_disk_is_made_again(tmp_path: Path) -> None:
    """As after a loss of power: the line is there, the file is empty."""
    path, out = prompts(tmp_path, "a cat", "a dog"), tmp_path / "out"

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(out, generating=generating(path), progress=stop)
    (file,) = (out / "generations").rglob("*.png")
    assert len(recovered(out)) == 1
    file.write_bytes(b"")
    assert recovered(out) == []
    run(out, generating=generating(path))
    assert [row["status"] for row in rows(out)] == ["done", "done"]
    assert file.stat().st_size > 0


def recovered(folder: Path) -> list[Key]:
    """What the journal of a folder still counts."""
    with open_journal(folder) as journal:
        return list(journal.generations)


def test_prices_are_those_of_the_settings(tmp_path: Path) -> None:
    path = prompts(tmp_path, "a cat")
    run(tmp_path / "out", generating=generating(path, liar(cost_per_image=0.04, currency="EUR")))
    costs = Store(tmp_path / "out").read("generation_costs")
    assert costs.select("cost", "currency").rows() == [(0.04, "EUR")]
