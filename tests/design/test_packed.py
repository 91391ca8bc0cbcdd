"""Studies of images in tar and Parquet files: what is in them is unpacked into the study, with the prompts."""

from pathlib import Path

import polars as pl
import pytest
from tests.design.test_intake import paint

from beholder.cli.main import main
from beholder.design.new import make_study
from beholder.design.packed import may_be_packed
from beholder.errors import StudyError
from beholder.images.sources import ImageFile
from beholder.images.tar_shards import Sample, write_shards
from beholder.tables.store import Store

NUMBERS = {"raters": 4, "trials": 6}


@pytest.fixture
def pictures(tmp_path: Path) -> dict[str, list[Path]]:
    """Six images of each of two generators, with their prompts beside them."""
    files = {
        name: [paint(tmp_path / "loose" / name / f"{number}.png", 10 * shade + number) for number in range(6)]
        for shade, name in enumerate(("aurora", "borealis"))
    }
    for file in (*files["aurora"], *files["borealis"]):
        file.with_suffix(".txt").write_text(f"prompt {file.stem}")
    return files


def tar(files: list[Path], folder: Path) -> Path:
    samples = [Sample(f"{file.stem}", ImageFile(file.name, file), f"prompt {file.stem}") for file in files]
    (path,) = write_shards(samples, folder, 100)
    return path


def parquet(files: list[Path], path: Path) -> Path:
    rows = [
        {
            "image": {"bytes": file.read_bytes(), "path": None},
            "image_id": file.stem,
            "prompt": f"prompt {file.stem}",
        }
        for file in files
    ]
    pl.DataFrame(rows).write_parquet(path)
    return path


@pytest.mark.parametrize("kind", ["tar", "folder of tars", "parquet"])
def test_a_study_of_packed_images_has_their_bytes_and_prompts(
    pictures: dict[str, list[Path]], tmp_path: Path, kind: str
) -> None:
    if kind == "parquet":
        place = parquet(pictures["aurora"], tmp_path / "aurora.parquet")
    else:
        place = tar(pictures["aurora"], tmp_path / "packed")
        place = place if kind == "tar" else place.parent
    loose = tmp_path / "loose" / "borealis"
    folder = tmp_path / "study"
    arguments = [f"--generated=aurora={place}", f"--generated=borealis={loose}", "--raters=4", "--trials=6"]
    assert main(["new", "mos", str(folder), *arguments]) == 0
    images = Store(folder).read("images")
    aurora = images.filter(pl.col("generator") == "aurora").sort("image")
    assert aurora["image"].to_list() == [f"aurora/{number}" for number in range(6)]
    assert aurora["path"].to_list() == [f"images/aurora/{number}.png" for number in range(6)]
    for row, file in zip(aurora["path"], pictures["aurora"], strict=True):
        assert (folder / row).read_bytes() == file.read_bytes()
    texts = dict(Store(folder).read("prompts").select("prompt", "text").iter_rows())
    assert [texts[prompt] for prompt in aurora["prompt"]] == [f"prompt {number}" for number in range(6)]
    others = images.filter(pl.col("generator") == "borealis")["path"].to_list()
    assert all(path.startswith("../loose/borealis/") for path in others)  # which lie where they were
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


def test_faults_name_the_file_that_an_image_is_in(pictures: dict[str, list[Path]], tmp_path: Path) -> None:
    pictures["aurora"][2].write_bytes(b"no image")
    place = tar(pictures["aurora"], tmp_path / "packed")
    (tmp_path / "empty.tar").write_bytes(b"")
    (tmp_path / "list.parquet").write_bytes(b"PAR1")
    with pytest.raises(StudyError) as refused:
        make_study(
            ["mos"],
            tmp_path / "study",
            generated=[("aurora", place), ("empty", tmp_path / "empty.tar"), ("list", tmp_path / "list.parquet")],
            numbers=NUMBERS,
        )
    text = str(refused.value)
    assert f"{place.name}/2.png: not an image that can be read" in text
    assert "unpacked-" not in text
    assert str(tmp_path / "empty.tar") in text
    assert str(tmp_path / "list.parquet") in text
    assert not (tmp_path / "study").exists()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_loose_images_need_no_room(pictures: dict[str, list[Path]], tmp_path: Path) -> None:
    assert not may_be_packed(tmp_path / "loose" / "aurora")
    parquet(pictures["aurora"], tmp_path / "loose" / "aurora" / "extra.parquet")
    study = make_study(
        ["mos"], tmp_path / "study", generated=[("aurora", tmp_path / "loose" / "aurora")], numbers=NUMBERS
    )
    assert study.images == {"aurora": 6}
    assert not (tmp_path / "study" / "images").exists()
