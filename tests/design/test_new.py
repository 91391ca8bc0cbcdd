"""Making a study: complete or not at all."""

import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from beholder.design.new import NewStudy, make_study
from beholder.errors import StudyError
from beholder.study.protocols.catalogue import PROTOCOLS
from beholder.study.study import load_study
from beholder.tables.store import Store


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Folders real, a, b, bad with three images each; generated ones with prompts."""
    rng = np.random.default_rng(0)
    for generator in ("real", "a", "b", "bad"):
        for i in range(3):
            file = tmp_path / "in" / generator / f"{i}.png"
            file.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(rng.integers(0, 256, (6, 8, 3), dtype=np.uint8)).save(file)
            file.with_suffix(".txt").write_text(f"prompt {i}")
    return tmp_path / "in"


def tree(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def make_complete(
    protocols: list[str],
    folder: Path,
    sources: Path,
    *,
    seed: int = 0,
    raters: int | None = None,
    trials: int | None = None,
) -> NewStudy:
    """A study of all four folders."""
    return make_study(
        protocols,
        folder,
        real=[sources / "real"],
        generated=[("a", sources / "a"), ("b", sources / "b")],
        gold=[("bad", sources / "bad")],
        seed=seed,
        raters=raters,
        trials=trials,
    )


@pytest.mark.parametrize("protocol", list(PROTOCOLS))
def test_every_protocol_makes_a_study(tmp_path: Path, sources: Path, protocol: str) -> None:
    for prompt in sources.rglob("*.txt"):
        prompt.write_text("prompt 0" if protocol == "hpd-ranking" else prompt.read_text())  # a row of one prompt
    prompts = 1 if protocol == "hpd-ranking" else 3
    new_study = make_complete([protocol], tmp_path / "My Study!", sources, seed=7)
    study = load_study(tmp_path / "My Study!")
    assert study == new_study.study
    assert (study.name, study.title, study.seed) == ("my-study", "My study", 7)
    assert [q.protocol for q in study.questions] == [protocol]
    assert new_study.images == {"real": 3, "a": 3, "b": 3, "bad": 3}
    store = Store(tmp_path / "My Study!")
    images = store.read("images")
    assert images.height == 12
    assert images.filter("gold")["generator"].unique().to_list() == ["bad"]
    assert all((store.folder / path).is_file() for path in images["path"])
    assert store.read("prompts").height == prompts
    record = store.provenance("images")
    assert record is not None
    assert (record.stage, record.seed, record.settings) == ("new", 7, {"protocols": [protocol], "copy": False})
    assert tree(tmp_path / "My Study!") == [
        "study.toml",
        "tables",
        "tables/images.parquet",
        "tables/prompts.parquet",
    ]


def test_raters_for_each_generator_that_is_judged(tmp_path: Path, sources: Path) -> None:
    """30 a generator in HYPE, 25 in Layer 6; two generators are judged, gold and real ones are not."""
    new_study = make_complete(["hype-infinity", "mos"], tmp_path / "s", sources)
    assert [(q.name, q.design.raters) for q in new_study.study.questions] == [("realism", 60), ("opinion", 15)]
    assert "raters" not in [change.setting for change in new_study.changes["realism"]]
    single_generator = make_study(
        ["layer6-realism"], tmp_path / "t", real=[sources / "real"], generated=[("a", sources / "a")]
    )
    assert single_generator.study.questions[0].design.raters == 25
    own = make_complete(["hype-infinity"], tmp_path / "u", sources, raters=12, trials=4)
    assert (own.study.questions[0].design.raters, own.study.questions[0].design.trials) == (12, 4)


def test_questions_of_one_name_are_told_apart(tmp_path: Path, sources: Path) -> None:
    protocols = ["hype-infinity", "layer6-realism", "hpd-pairs"]
    new_study = make_complete(protocols, tmp_path / "s", sources)
    names = [q.name for q in new_study.study.questions]
    assert names == ["realism-hype-infinity", "realism-layer6-realism", "preference"]


def test_notes_name_the_target_of_the_staircase(tmp_path: Path, sources: Path) -> None:
    new_study = make_complete(["hype-time"], tmp_path / "s", sources)
    assert any("settles where 75% of the answers are right" in note for note in new_study.notes)


def test_copies_make_the_folder_stand_alone(tmp_path: Path, sources: Path) -> None:
    make_study(["mos"], tmp_path / "s", generated=[("a", sources / "a")], copy=True)
    (tmp_path / "s").rename(tmp_path / "moved")
    images = Store(tmp_path / "moved").read("images")
    assert images["path"].to_list() == ["images/a/0.png", "images/a/1.png", "images/a/2.png"]
    for path in images["path"]:
        assert (tmp_path / "moved" / path).read_bytes() == (sources / "a" / Path(path).name).read_bytes()


def test_a_manifest_is_recorded(tmp_path: Path, sources: Path) -> None:
    (sources / "list.csv").write_text("path,generator\na/0.png,a\n")
    make_study(["hype-infinity"], tmp_path / "s", real=[sources / "real"], manifest=sources / "list.csv")
    record = Store(tmp_path / "s").provenance("images")
    assert record is not None
    assert len(record.inputs["manifest"]) == 64


def test_the_same_call_makes_the_same_bytes(tmp_path: Path, sources: Path) -> None:
    for name in ("s", "t"):
        make_study(["mos"], tmp_path / name, generated=[("a", sources / "a")], name="same", seed=1)
    for file in ("study.toml", "tables/images.parquet", "tables/prompts.parquet"):
        assert (tmp_path / "s" / file).read_bytes() == (tmp_path / "t" / file).read_bytes()


def test_a_study_is_never_overwritten(tmp_path: Path, sources: Path) -> None:
    generated = [("a", sources / "a")]
    make_study(["mos"], tmp_path / "s", generated=generated)
    before = (tmp_path / "s/study.toml").read_bytes()
    with pytest.raises(StudyError, match="there is a study here already"):
        make_study(["rich-feedback"], tmp_path / "s", generated=generated)
    assert (tmp_path / "s/study.toml").read_bytes() == before
    with pytest.raises(StudyError, match="not empty; a study needs a folder of its own"):
        make_study(["mos"], sources, generated=generated)
    with pytest.raises(StudyError, match="a file; a study needs a folder of its own"):
        make_study(["mos"], sources / "a/0.png", generated=generated)


def test_an_empty_folder_will_do_and_parents_are_made(tmp_path: Path, sources: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    make_study(["mos"], tmp_path / "link", generated=[("a", sources / "a")])
    assert (tmp_path / "empty/study.toml").is_file()
    make_study(["mos"], tmp_path / "x/y/z", generated=[("a", sources / "a")])
    assert (tmp_path / "x/y/z/study.toml").is_file()


def test_all_faults_are_in_one_list_and_nothing_is_written(tmp_path: Path, sources: Path) -> None:
    (sources / "a/broken.png").write_text("text")
    (sources / "a/1.txt").unlink()
    before = tree(tmp_path)
    with pytest.raises(StudyError) as caught:
        make_study(
            ["hpd-pairs", "hype-time", "nope", "mos", "mos"],
            tmp_path / "deep/s",
            generated=[("a", sources / "a")],
            raters=7,
            trials=3,
            numbers={"repeats": 4},
            name="Not A Slug",
            seed=-1,
        )
    text = str(caught.value)
    for expected in (
        "protocol 'nope' is not known; known: hype-time, ",
        "protocol 'mos' is named 2 times",
        "hpd-pairs: repeats (4) cannot exceed trials (3)",
        "mos: repeats (4) cannot exceed trials (3)",
        "broken.png: not an image that can be read",
        "hype-time needs real images, and there are none",
        "hpd-pairs needs a prompt for every generated image; without: a/1, a/broken. Put a prompts.csv "
        "with the columns file and prompt into the folder, or a text file next to each image",
        "hpd-pairs compares generators: at least 2 are needed, found 1 (a)",
        "name: only small letters, digits and hyphens",
        "seed: ",
    ):
        assert expected in text
    assert tree(tmp_path) == before


@pytest.mark.parametrize("protocol", ["hpd-pairs", "hpd-ranking", "side-by-side"])
def test_comparing_needs_two_generators_besides_gold(tmp_path: Path, sources: Path, protocol: str) -> None:
    with pytest.raises(StudyError, match="at least 2 are needed, found 1"):
        make_study([protocol], tmp_path / "s", generated=[("a", sources / "a")], gold=[("bad", sources / "bad")])


def test_folders_that_are_missing_are_one_fault_each(tmp_path: Path, sources: Path) -> None:
    """Not also too few generators, or no real images, which would send the user to look for another mistake."""
    generated = [("a", sources / "a"), ("b", sources / "nowhere")]
    with pytest.raises(StudyError) as caught:
        make_study(["hype-time", "side-by-side"], tmp_path / "s", generated=generated, real=[sources / "gone"])
    assert sorted(fault.rpartition("/")[2] for fault in caught.value.faults) == [
        "gone: no such folder",
        "nowhere: no such folder",
    ]


def test_no_protocol_and_no_images(tmp_path: Path) -> None:
    with pytest.raises(StudyError) as caught:
        make_study([], tmp_path / "s")
    assert [fault.split(";")[0].split(":")[0] for fault in caught.value.faults] == [
        "no protocol was named",
        "no images were given",
    ]


def test_a_folder_that_cannot_be_made(sources: Path) -> None:
    with pytest.raises(StudyError, match="cannot be made here"):
        make_study(["mos"], sources / "a/0.png/s", generated=[("a", sources / "a")])


KILLED = """
import os, sys
from pathlib import Path
import beholder.design.new as new

def die(*args, **kwargs):
    os._exit(9)

{place} = die
new.make_study(["mos"], Path(sys.argv[1]), generated=[("a", Path(sys.argv[2]))], copy=True)
"""


@pytest.mark.parametrize(
    "place", ["new.shutil.copyfile", "new.dump_study", "new.Store.write", "Path.replace", "os.fsync"]
)
def test_a_killed_run_leaves_no_study(tmp_path: Path, sources: Path, place: str) -> None:
    script = textwrap.dedent(KILLED.format(place=place))
    ended = subprocess.run([sys.executable, "-c", script, tmp_path / "out/s", sources / "a"], check=False)
    assert ended.returncode == 9
    assert not (tmp_path / "out/s").exists()
    assert all(path.name.startswith(".s.new-") for path in (tmp_path / "out").iterdir())
    make_study(["mos"], tmp_path / "out/s", generated=[("a", sources / "a")])
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["s"]


def test_a_failure_while_writing_leaves_nothing(
    tmp_path: Path, sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr("beholder.design.new.shutil.copyfile", fail)
    before = tree(tmp_path)
    with pytest.raises(OSError, match="no space left"):
        make_study(["mos"], tmp_path / "s", generated=[("a", sources / "a")], copy=True)
    assert tree(tmp_path) == before
