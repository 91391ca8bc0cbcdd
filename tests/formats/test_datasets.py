"""A study for Hugging Face's datasets: loaded by the real package, and pushed to a fake hub."""

from pathlib import Path
from typing import Any, ClassVar

import datasets as hugging_face
import numpy as np
import polars as pl
import pytest
import yaml
from huggingface_hub.errors import LocalTokenNotFoundError
from PIL import Image
from tests.formats.conftest import Making, study_of

from beholder.cli.main import main
from beholder.errors import UserError
from beholder.formats import datasets, hub
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.study import FILE_NAME, dump_study
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store

PAIRS, RATED = PairQuestion(name="pairs"), RatingQuestion(name="opinion")


@pytest.fixture
def judged(making: Making) -> Making:
    making.prompt("p1", 'a cat: "asleep" — #1\n---\nlicense: mit')
    for number, name in enumerate("abc"):
        making.image(name, f"gen-{name}", prompt="p1" if number else None)
    for rater, choice in (("anna@example.org", "left"), ("ben", "tie")):
        making.session(rater, "pairs")
        making.judged(rater, PAIRS, ["a", "b"], {"preference": {"choice": choice}}, prompt="p1", seconds=2.5)
    making.session("ben", "opinion")
    making.judged("ben", RATED, ["c"], {"quality": {"value": 4.0}})
    return making


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A study folder with the files of two of its three images."""
    rng = np.random.default_rng(0)
    folder = tmp_path / "study"
    (folder / "images").mkdir(parents=True)
    for name in "ab":
        Image.fromarray(rng.integers(0, 255, (8, 8, 3), np.uint8)).save(folder / "images" / f"{name}.png")
    return folder


def labels() -> pl.DataFrame:
    row = {"question": "pairs", "aspect": "preference", "method": "preference", "image": "a", "other": "b"}
    return TABLES["labels"].frame([row | {"value": 0.75, "choice": "image", "answers": 2, "raters": 2}])


def load(folder: Path, name: str, cache: Path) -> Any:  # noqa: ANN401 - a dataset
    return hugging_face.load_dataset(str(folder), name, split="train", cache_dir=str(cache))


def test_the_real_package_loads_it(judged: Making, source: Path, tmp_path: Path) -> None:
    out, cache = tmp_path / "out", tmp_path / "cache"
    out.mkdir()
    tables = judged.tables() | {"labels": labels()}
    written = datasets.write(study_of(PAIRS, RATED), tables, out, source=source, licence="cc-by-4.0")
    images = load(out, "images", cache)
    assert isinstance(images.features["image"], hugging_face.Image)
    assert images["image_id"][:] == ["a", "b", "c"]
    assert np.array_equal(np.asarray(images[0]["image"]), np.asarray(Image.open(source / "images" / "a.png")))
    assert images[2]["image"] is None
    assert images["prompt"][:] == [None, judged.rows["prompts"][0]["text"], judged.rows["prompts"][0]["text"]]
    answers = load(out, "answers", cache)
    assert answers["rater"][:] == [0, 1, 1]
    assert answers["choice"][:] == ["left", "tie", None]
    assert answers["value"][:] == [None, None, 4.0]
    assert answers[0]["image_ids"] == ["a", "b"]
    assert answers[0]["answered"].isoformat() == "2026-01-31T13:00:00+00:00"
    assert load(out, "labels", cache)[0]["value"] == 0.75
    assert {file.name for file in written.files} == {"README.md", "train-00000-of-00001.parquet"}
    assert "the files of 1 of 3 images are not available; their rows have no image" in written.notes
    assert "anna" not in "".join(path.read_text("latin-1") for path in out.rglob("*") if path.is_file())


def test_the_card_states_features_splits_and_licence(judged: Making, source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    written = datasets.write(study_of(PAIRS, RATED), judged.tables(), out, source=source)
    head = yaml.safe_load((out / "README.md").read_text().split("---\n")[1])
    assert head["license"] == "unknown"
    assert [config["config_name"] for config in head["configs"]] == ["images", "answers"]
    assert head["dataset_info"][0]["features"][0] == {"name": "image", "dtype": "image"}
    assert head["dataset_info"][1]["splits"][0]["num_examples"] == 3
    assert any("no licence is claimed" in note for note in written.notes)
    assert any("no labels yet" in note for note in written.notes)
    assert "2 raters took part" in (out / "README.md").read_text()


def test_simulated_raters_are_no_people(judged: Making, source: Path, tmp_path: Path) -> None:
    for session in judged.rows["sessions"]:
        session["simulated"] = True
    datasets.write(study_of(PAIRS, RATED), judged.tables(), tmp_path, source=source)
    assert "All 2 raters are simulated" in (tmp_path / "README.md").read_text()


def test_many_images_are_several_files(
    judged: Making, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(datasets, "SHARD_BYTES", 10)
    out = tmp_path / "out"
    out.mkdir()
    written = datasets.write(study_of(PAIRS, RATED), judged.tables(), out, source=source)
    assert sum(file.parent.name == "images" for file in written.files) == 3
    assert load(out, "images", tmp_path / "cache")["image_id"][:] == ["a", "b", "c"]


class FakeHub:
    """What a push asks of the hub."""

    calls: ClassVar[list[tuple[str, dict[str, Any]]]] = []

    def whoami(self) -> dict[str, str]:
        return {"name": "anna"}

    def create_repo(self, name: str, **settings: object) -> None:
        self.calls.append((name, settings))

    def upload_folder(self, **settings: object) -> None:
        self.calls.append(("upload", settings))


@pytest.fixture
def study(judged: Making, source: Path) -> Path:
    (source / FILE_NAME).write_text(dump_study(study_of(PAIRS, RATED)))
    Store(source).write(judged.tables(), Provenance("import", {}, 0, {}))
    return source


@pytest.fixture
def fake_hub(monkeypatch: pytest.MonkeyPatch) -> type[FakeHub]:
    FakeHub.calls = []
    monkeypatch.setattr(hub, "HfApi", FakeHub)
    return FakeHub


def test_it_is_pushed_by_the_users_login(study: Path, fake_hub: type[FakeHub], tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "secret.txt").write_text("not of the dataset")
    arguments = ["export", str(study), "--format", "datasets", "--out", str(out), "--push", "cats"]
    assert main(arguments) == 0
    (name, created), (_, uploaded) = fake_hub.calls
    assert name == "anna/cats"
    assert created["private"] is True
    assert created["repo_type"] == uploaded["repo_type"] == "dataset"
    assert set(uploaded["allow_patterns"]) == {
        "README.md",
        "images/train-00000-of-00001.parquet",
        "answers/train-00000-of-00001.parquet",
    }
    assert main([*arguments[:-1], "lab/cats", "--public"]) == 0
    assert fake_hub.calls[2] == ("lab/cats", {"repo_type": "dataset", "private": False, "exist_ok": True})


def test_without_a_login_nothing_is_written(
    study: Path,
    fake_hub: type[FakeHub],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def nobody(_: FakeHub) -> dict[str, str]:
        raise LocalTokenNotFoundError("no token")

    monkeypatch.setattr(fake_hub, "whoami", nobody)
    out = tmp_path / "out"
    assert main(["export", str(study), "--format", "datasets", "--out", str(out), "--push", "cats"]) == 2
    assert "log in with: hf auth login" in capsys.readouterr().err
    assert not out.exists()


def test_a_hub_that_refuses_is_an_error_of_one_sentence(
    fake_hub: type[FakeHub], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("403 Forbidden")

    monkeypatch.setattr(fake_hub, "create_repo", refuse)
    repository = hub.open_repository("lab/cats", private=True)
    with pytest.raises(UserError, match="lab/cats cannot be pushed: 403 Forbidden"):
        repository.push(tmp_path, [])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--format", "csv", "--push", "cats", "--licence", "mit"],
            "--licence goes with --format datasets (found csv)",
        ),
        (["--format", "datasets", "--public"], "--public goes with --push"),
    ],
)
def test_options_that_mean_nothing_together(
    study: Path, tmp_path: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(study), "--out", str(tmp_path / "out"), *options]) == 2
    assert message in capsys.readouterr().err
