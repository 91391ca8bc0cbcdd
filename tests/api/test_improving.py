"""An improvement from findings to proof, on a small synthetic study, with a scorer that sees pixels alone."""

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from PIL import Image

from beholder.api.improving import filter as filtering
from beholder.api.improving import repair as repairing
from beholder.api.improving import steps as walking
from beholder.api.improving.filter import filter_images
from beholder.api.improving.loop import improve
from beholder.api.improving.prompts import real_images
from beholder.api.improving.proof import prove
from beholder.api.improving.repair import repair
from beholder.cli.main import main
from beholder.collect.stage import run as collect
from beholder.consolidate.stage import run as consolidate
from beholder.design.stage import run as design
from beholder.errors import UserError
from beholder.generators.generator import Generator
from beholder.improve import candidates as candidates_module
from beholder.improve.candidates import Candidate
from beholder.improve.critic import Critic, Pixels
from beholder.improve.repair_run import RepairOptions
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.question import Design
from beholder.tables.store import Store


def contrast_critic(name: str, device: str | None = None) -> Critic:
    """Calls images with little detail plausible, and finds the upper left implausible."""
    assert device is None

    def score(images: Sequence[Pixels], prompts: Sequence[str]) -> np.ndarray:
        assert len(images) == len(prompts)
        return np.array([1 - np.abs(np.diff(image.astype(float), axis=0)).mean() / 255 for image in images])

    def heatmaps(images: Sequence[Pixels], prompts: Sequence[str]) -> list[np.ndarray]:
        assert len(images) == len(prompts)
        levels = np.zeros((32, 32), np.float32)
        levels[4:20, 4:20] = 0.8
        return [levels for _ in images]

    return Critic(name, "plausibility", score, 0.0, heatmaps)


@pytest.fixture
def study(painted_study: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    for module in (filtering, walking, repairing):
        monkeypatch.setattr(module, "load_critic", contrast_critic)
    folder = painted_study(RatingQuestion(name="mos", design=Design(raters=8, trials=60)))
    design(folder)
    collect(folder, people=8)
    consolidate(folder)
    return folder


def test_repair_writes_images_tables_and_a_page(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--held-out", "other", "--tries", "1", "--images", "12"]
    assert main(["improve", "repair", str(study), "--scorer", "own", "--inpainter", "exact", *options]) == 0
    printed = capsys.readouterr().out
    assert "of 12 images changed" in printed
    assert "ground truth" in printed
    changes = Store(study).read("changes")
    assert changes.height == 12
    measures = Store(study).read("gains")["measure"].to_list()
    assert measures == ["own", "held-out", "ground truth", "control"]
    assert changes["kept"].any()
    for row in changes.filter("kept").iter_rows(named=True):
        assert (study / row["after"]).is_file()
        assert (study / row["mask"]).is_file()
        assert row["own_after"] > row["own_before"] + row["margin"]
    page = (study / "improvements" / "repair" / "improvement.html").read_text(encoding="utf-8")
    assert "Before and after" in page
    assert "http" not in page.replace("http://www.w3.org", "")
    with pytest.raises(UserError, match="--force"):
        repair(study, scorer="own", inpainter="exact")
    assert main(["improve", "repair", str(study), "--scorer", "own", "--inpainter", "magic", "--force"]) == 2
    assert "known: exact, erring" in capsys.readouterr().err
    assert Store(study).has("changes")  # what there was stays


def test_a_proof_by_simulated_raters_and_the_same_for_people(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repair(study, scorer="own", inpainter="exact", options=RepairOptions(tries=1, control=False))
    proof = prove(study, "repair", simulate=True, raters=8, pairs=8)
    assert proof.pairs == 8
    assert proof.raters == 8
    table = Store(study).read("proofs")
    assert table["simulated"].all()
    assert table["method"].n_unique() == len(proof.rows) == 2  # by raters, and by raters and scores
    counts = table.select("much_better", "better", "same", "worse", "much_worse").row(0)
    assert table["net"][0] == pytest.approx((counts[0] + counts[1] - counts[3] - counts[4]) / sum(counts))
    truth = Store(study).read("changes").select(pl.col("truth_after") - pl.col("truth_before")).sum().item()
    assert np.sign(truth) == np.sign(table["net"][0])
    assert main(["improve", "status", str(study)]) == 0
    assert "ground truth" in capsys.readouterr().out

    again = repair(study, scorer="own", inpainter="exact", name="people", options=RepairOptions(tries=1))
    assert any(repair.accepted for repair in again.repairs)
    assert main(["improve", "proof", str(study), "--name", "people", "--raters", "6"]) == 0
    assert "Next: beholder collect" in capsys.readouterr().out
    assert Store(study / "improvements" / "people" / "proof").has("trials")


def test_a_filter_forecasts_its_gain(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--candidates", "3", "--prompts", "8", "--precision", ".2", "--json"]
    generator = ["--generator", "poor=painter:dune"]
    assert main(["improve", "filter", str(study), *generator, "--scorer", "own", *options]) == 0
    assert json.loads(capsys.readouterr().out)["settings"]["options"]["candidates"] == 3
    gains = Store(study).read("gains")
    assert gains["measure"].to_list() == ["own", "forecast", "ground truth"]
    changes = Store(study).read("changes")
    assert changes.height == 8
    assert (changes["own_after"] >= changes["own_before"]).all()
    kept = changes["kept"].sum()
    listed = pl.read_csv(study / "improvements" / "filter" / "after" / "prompts.csv")
    assert listed.height == kept
    with pytest.raises(UserError, match="NAME=KIND:ARGUMENT"):
        filter_images(study, generator="poor", scorer="own", name="second")


def test_all_steps_on_one_page(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    heard: list[tuple[int, int]] = []
    options: dict[str, Any] = {
        "generator": "poor=painter:ember",
        "scorer": "own",
        "inpainter": "exact",
        "candidates": 2,
        "prompts": 10,
        "skip": ["tune"],
    }
    improved = improve(
        study, **options, simulate=True, progress=lambda _, done, total: heard.append((done, total))
    )
    assert set(improved["step"]) == {"filter", "repair"}
    assert improved.left_out == ("tune: left out: as it was asked to be",)
    assert improved.proof is not None
    assert improved.proof.rows
    assert [done for done, _ in heard] == sorted(done for done, _ in heard)  # one count, which never goes back
    assert {total for _, total in heard} == {1000}
    changes = Store(study).read("changes")
    assert changes["method"].unique().sort().to_list() == ["filter", "repair"]
    page = improved.page.read_text(encoding="utf-8")
    assert "then repaired" in page
    assert "Simulated raters call the image after better" in page
    assert "as it was asked to be" in page

    before = improved.page.parent.joinpath("changes.parquet").stat().st_mtime_ns
    again = improve(study, **options)  # all is done: nothing is done again
    assert again.rows.equals(improved.rows)
    assert again.proof is not None
    assert again.proof.rows == improved.proof.rows
    assert improved.page.parent.joinpath("changes.parquet").stat().st_mtime_ns == before
    with pytest.raises(UserError, match="candidates was 2, now 3"):
        improve(study, **options | {"candidates": 3})
    assert main(["improve", str(study), "--generator", "nobody", "--scorer", "own", "--name", "other"]) == 2
    assert "NAME=KIND:ARGUMENT" in capsys.readouterr().err
    with pytest.raises(UserError, match="known: exact, erring"):
        improve(study, **options | {"inpainter": "magic", "name": "other"})
    assert not (study / "improvements" / "other").exists()


def test_a_walk_that_was_killed_goes_on_where_it_was(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed in the middle of its candidates and before its repair, it generates no image twice."""
    calls: list[str] = []
    real = candidates_module._generate

    def counted(place: Path, generator: Generator, name: str, prompt: str, *rest: Any) -> Candidate:  # noqa: ANN401 - passed along
        before = set(place.iterdir())
        candidate = real(place, generator, name, prompt, *rest)
        if set(place.iterdir()) != before:
            calls.append(candidate.picture.path.name)
            if len(calls) == 7:
                raise KeyboardInterrupt
        return candidate

    monkeypatch.setattr(candidates_module, "_generate", counted)
    options: dict[str, Any] = {"generator": "poor=painter:ember", "scorer": "own", "inpainter": "exact"}
    options |= {"candidates": 2, "prompts": 6, "skip": ["tune", "proof"]}
    with pytest.raises(KeyboardInterrupt):
        improve(study, **options)
    with monkeypatch.context() as patch:
        patch.setattr(walking, "repair_split", _killed)
        with pytest.raises(KeyboardInterrupt):
            improve(study, **options)
    improved = improve(study, **options)
    assert len(calls) == len(set(calls)) == 12
    assert set(improved["step"]) == {"filter", "repair"}
    whole = improve(study, **options | {"name": "whole"})
    assert whole.rows.equals(improved.rows)


def _killed(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_what_cannot_be_tuned_or_simulated_is_said(study: Path) -> None:
    pictures = study / "pictures"
    pictures.mkdir()
    images = Store(study).read("images").filter(~pl.col("real") & ~pl.col("gold"))
    texts = dict(Store(study).read("prompts").select("prompt", "text").iter_rows())
    lines = ["file,prompt"]
    for number, row in enumerate(images.unique("prompt", maintain_order=True).iter_rows(named=True)):
        shutil.copy(row["path"], pictures / f"{number}.png")
        lines.append(f'{number}.png,"{texts[row["prompt"]]}"')
    (pictures / "prompts.csv").write_text("\n".join(lines), encoding="utf-8")
    options: dict[str, Any] = {
        "generator": f"old=folder:{pictures}",  # the same image for each seed, so nothing changes
        "scorer": "own",
        "candidates": 2,
        "prompts": 8,
    }
    with pytest.raises(UserError, match=r"simulated raters need the ground truth.*not 'old'"):
        improve(study, **options, simulate=True)
    assert not (study / "improvements").exists()  # said before anything was done
    improved = improve(study, **options)
    assert [note.partition(":")[0] for note in improved.left_out] == ["repair", "tune", "proof"]
    assert "reached by its images alone (folder)" in improved.left_out[1]
    assert improved.proof is None


@pytest.mark.parametrize(("reals", "references"), [(47, None), (60, 48)])
def test_real_images_are_a_reference_where_there_are_enough(
    bare_study: Callable[..., Path], reals: int, references: int | None
) -> None:
    """Also for a look at fewer images than a reference needs."""
    folder = bare_study(RatingQuestion(name="quality"), reals=reals)
    (folder / "images" / "real").mkdir(parents=True)
    for number in range(reals):
        Image.new("RGB", (8, 8), (number, 0, 0)).save(folder / "images" / "real" / f"{number:02d}.png")
    images = real_images(folder, 40, (6, 4))
    assert (None if images is None else images.shape) == (None if references is None else (references, 6, 4, 3))
