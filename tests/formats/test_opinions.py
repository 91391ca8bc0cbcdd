"""AGIQA-3K and AIGCIQA2023: mean opinion scores by hand, there and back, and the real file."""

import base64
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from openpyxl import Workbook
from polars.testing import assert_frame_equal
from scipy import io
from tests.formats.conftest import Making, study_of

from beholder.consolidate import stage as consolidate
from beholder.errors import StudyError, TableError
from beholder.formats import agiqa, aigciqa
from beholder.formats.aigciqa_release import read_release
from beholder.formats.folder import write_folder
from beholder.rank import stage as rank
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.question import Aspect
from beholder.tables.store import Store

SHARED = Path(os.environ.get("BEHOLDER_SHARED", Path(__file__).parents[3] / "shared")) / "data" / "agiqa-3k"
needs_release = pytest.mark.skipif(not SHARED.exists(), reason=f"AGIQA-3K is not at {SHARED}")

SMALLEST_PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNgYGAAAAAEAAH2FzhVAAAAAElFTkSuQmCC"
)
AGIQA = ",".join(agiqa.LAYOUT.columns)
AIGCIQA = ",".join(aigciqa.LAYOUT.columns)
ASPECTS = {"quality": "Quality", "alignment": "Alignment", "authenticity": "Authenticity"}


def rows_of(path: Path, head: str, *rows: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


def rated(making: Making, *aspects: str) -> RatingQuestion:
    """Two raters on one image: 2 and 4, so a mean of 3 and a spread of √2."""
    question = RatingQuestion(
        name="opinion", aspects=tuple(Aspect(name=name, text=ASPECTS[name]) for name in aspects)
    )
    making.prompt("p1", "a cat, asleep")
    making.image("x", "gen", prompt="p1")
    for rater, value in (("r1", 2.0), ("r2", 4.0)):
        making.session(rater, "opinion")
        making.judged(rater, question, ["x"], {name: {"value": value} for name in aspects}, prompt="p1")
    return question


def test_agiqa_is_written_from_answers(making: Making, tmp_path: Path) -> None:
    question = rated(making, "quality", "alignment")
    written = agiqa.write(study_of(question), making.tables(), tmp_path)
    assert [file.name for file in written.files] == ["opinion.csv"]
    root = "1.4142135623730951"
    assert (tmp_path / "opinion.csv").read_text() == (
        f'{AGIQA}\nimages/x.png,"a cat, asleep",,,,3.0,{root},3.0,{root}\n'
    )


def test_aigciqa_is_written_from_answers(making: Making, tmp_path: Path) -> None:
    question = rated(making, "quality", "alignment", "authenticity")
    aigciqa.write(study_of(question), making.tables(), tmp_path)
    root = "1.4142135623730951"
    assert (tmp_path / "opinion.csv").read_text() == (
        f'{AIGCIQA}\n0,images/x.png,"a cat, asleep",,,3.0,3.0,3.0,{root},{root},{root}\n'
    )


def test_a_study_that_lacks_an_aspect_cannot_be_written(making: Making, tmp_path: Path) -> None:
    question = rated(making, "quality")
    with pytest.raises(StudyError, match="opinion: nobody rated authenticity, alignment"):
        aigciqa.write(study_of(question), making.tables(), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_agiqa_becomes_tables(tmp_path: Path, sound: Callable[..., None]) -> None:
    file = rows_of(
        tmp_path / "data.csv",
        AGIQA,
        'sd1.5_lowstep_001.jpg,"a cat, warm color",warm color,,anime style,1.5,0.5,2.5,0.25',
        "glide_normal_001.jpg,a dog,,,,0.5,,3.0,1.0",
        "plain.jpg,a dog,,,,4.0,0.1,5.0,0.1",
    )
    imported = agiqa.read_study(file)
    sound(dict(imported.tables))
    images = imported.tables["images"]
    assert images["generator"].to_list() == ["sd1.5-lowstep", "glide", "unknown"]
    assert images["style"].to_list() == ["anime style", None, None]
    published = imported.tables["published"]
    assert published.filter(pl.col("aspect") == "quality").select("image", "value", "spread", "raters").rows() == [
        ("sd1.5_lowstep_001.jpg", 1.5, 0.5, 21),
        ("glide_normal_001.jpg", 0.5, None, 21),
        ("plain.jpg", 4.0, 0.1, 21),
    ]
    assert published["method"].unique().to_list() == ["published-mean"]
    assert agiqa.read_study(tmp_path).study == imported.study


def test_the_faults_of_a_file_are_told_at_once(tmp_path: Path) -> None:
    file = rows_of(
        tmp_path / "x.csv",
        AGIQA,
        "a.jpg,p,,,,5.5,0.1,2.0,0.1",
        "a.jpg,p,,,,,0.1,2.0,-1.0",
    )
    with pytest.raises(TableError) as caught:
        agiqa.read(file)
    assert caught.value.faults == (
        "line 3: a.jpg occurs before",
        "line 2: mos_quality is 5.5; a number from 0 to 5 was expected",
        "line 3: mos_quality is None; a number from 0 to 5 was expected",
        "line 3: std_align is -1.0; at least 0 was expected",
    )
    with pytest.raises(TableError, match="expected name, prompt, adj1"):
        agiqa.read(rows_of(tmp_path / "y.csv", AIGCIQA))


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"\xff\xfe", "not UTF-8 text"), (b"", "columns nothing"), (b"a\rb\n", "not a CSV file")],
)
def test_bytes_that_are_no_table_are_refused(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(content)
    with pytest.raises(TableError, match=message):
        agiqa.read(tmp_path / "x.csv")


def test_aigciqa_comes_back_but_for_the_class(tmp_path: Path) -> None:
    """All of the release's 2,400 images: six blocks of 400 are the six models."""
    rows = [
        f'{n},{n}.png,"prompt {n % 400 // 4}",style {n % 3},,{n / 24},{n / 48},{n / 96},1.5,2.5,3.5'
        for n in range(2400)
    ]
    imported = aigciqa.read_study(rows_of(tmp_path / "in" / "a.csv", AIGCIQA, *rows))
    models = imported.tables["images"].group_by("generator", maintain_order=True).len().rows()
    assert models == [(f"model-{n}", 400) for n in range(1, 7)]
    empty = {name: making_empty(name) for name in ("answers", "trials", "sessions")}
    (tmp_path / "out").mkdir()
    written = aigciqa.write(imported.study, dict(imported.tables) | empty, tmp_path / "out")
    assert_frame_equal(aigciqa.read(written.files[0]), aigciqa.read(tmp_path / "in" / "a.csv"))
    part = aigciqa.read_study(rows_of(tmp_path / "part.csv", AIGCIQA, *rows[:5]))
    assert part.tables["images"]["generator"].unique().to_list() == ["unknown"]


def write_release(
    folder: Path, prompts: int = 100, *, header: bool = False, means: dict[str, NDArray[np.float64]] | None = None
) -> pl.DataFrame:
    """AIGCIQA2023 in its authors' layout with invented scores, and the rows of AAPMT's CSV file for it."""
    rng = np.random.default_rng(0)
    count = 6 * 4 * prompts
    columns: dict[str, list[str] | list[float]] = {"name": [f"{n}.png" for n in range(count)]}
    numbered = [n // 4 % prompts for n in range(count)]
    columns |= {"prompt": [f"a cat, number {n}" for n in numbered], "style": [f"style {n % 5}" for n in numbered]}
    for stem, variable, suffix in (("MOS/mosz", "MOSz", "mos"), ("STD/SD", "SD", "std")):
        for number, aspect in enumerate(("quality", "authenticity", "correspondence"), start=1):
            path = folder / "DATA" / f"{stem}{number}.mat"
            path.parent.mkdir(parents=True, exist_ok=True)
            scores = rng.uniform(10, 90, (count, 1))
            if means and suffix == "mos":
                scores = means[aspect][:, None]
            io.savemat(path, {variable: scores})
            columns[f"{aspect}_{suffix}"] = scores.ravel().tolist()
    book = Workbook()
    sheet = book.active
    if header:
        sheet.append(["style", "class", "prompt", "object"])
    for n in range(prompts):
        sheet.append([f"style {n % 5}", "class", f"a cat, number {n}", None])
    book.save(folder / "AIGCIQA2023_Prompts.xlsx")
    return pl.DataFrame(columns)


@pytest.mark.parametrize("header", [False, True])
def test_aigciqa_is_read_as_its_authors_publish_it(tmp_path: Path, header: bool) -> None:
    expected = write_release(tmp_path, header=header)
    assert_frame_equal(read_release(tmp_path).drop("class").select(expected.columns), expected)
    imported = aigciqa.read_study(tmp_path)
    assert imported.tables["images"]["generator"].unique().sort().to_list() == [f"model-{n}" for n in range(1, 7)]
    published = imported.tables["published"].filter(pl.col("aspect") == "alignment").sort("image")
    by_name = expected.sort("name")
    assert published["value"].to_list() == by_name["correspondence_mos"].to_list()
    assert published["spread"].to_list() == by_name["correspondence_std"].to_list()


def test_images_of_the_release_are_found_in_its_own_folder(tmp_path: Path) -> None:
    write_release(tmp_path)
    folder = tmp_path / "Image" / "allimg"
    folder.mkdir(parents=True)
    for n in range(2400):
        (folder / f"{n}.png").write_bytes(SMALLEST_PNG)
    images = aigciqa.read_study(tmp_path).tables["images"]
    assert (images["width"] == 1).all()


def test_all_faults_of_the_release_are_listed(tmp_path: Path) -> None:
    write_release(tmp_path)
    io.savemat(tmp_path / "DATA" / "MOS" / "mosz2.mat", {"other": np.ones(3)})
    (tmp_path / "DATA" / "STD" / "SD1.mat").write_bytes(b"no MATLAB")
    (tmp_path / "DATA" / "STD" / "SD3.mat").unlink()
    (tmp_path / "AIGCIQA2023_Prompts.xlsx").write_bytes(b"no Excel")
    with pytest.raises(TableError) as caught:
        aigciqa.read_study(tmp_path)
    message = str(caught.value)
    for part in (
        "MOSz was expected; found other",
        "SD1.mat: not a MATLAB",
        "SD3.mat: no such file",
        "not an Excel",
    ):
        assert part in message


def test_scores_of_other_numbers_of_images_are_refused(tmp_path: Path) -> None:
    write_release(tmp_path)
    io.savemat(tmp_path / "DATA" / "MOS" / "mosz1.mat", {"MOSz": np.full((2399, 1), 50.0)})
    with pytest.raises(TableError, match="2399 numbers; 2400 were expected, 6 models × 100 prompts × 4 images"):
        aigciqa.read_study(tmp_path)


def making_empty(name: str) -> pl.DataFrame:
    return Making().tables()[name]


@needs_release
def test_the_release_comes_back_but_for_its_adjectives(tmp_path: Path) -> None:
    before = agiqa.read(SHARED / "data.csv")
    imported = agiqa.read_study(SHARED / "data.csv")
    empty = {name: making_empty(name) for name in ("answers", "trials", "sessions")}
    written = agiqa.write(imported.study, dict(imported.tables) | empty, tmp_path)
    after = agiqa.read(written.files[0])
    assert_frame_equal(after.drop("adj1", "adj2"), before.drop("adj1", "adj2"))


@needs_release
def test_generators_are_ranked_by_mean_with_intervals_over_prompts(tmp_path: Path) -> None:
    """The rating is the plain mean over images; the raters are told, and none of them is resampled."""
    folder = tmp_path / "study"
    write_folder(agiqa.read_study(SHARED / "data.csv"), folder, form="agiqa", source=SHARED / "data.csv")
    consolidate.run(folder)
    rank.run(folder)
    raw = agiqa.read(SHARED / "data.csv").with_columns(
        generator=pl.col("name").map_elements(agiqa.generator_of, return_dtype=pl.String)
    )
    means = dict(raw.group_by("generator").agg(pl.col("mos_quality").mean()).iter_rows())
    store = Store(folder)
    ratings = store.read("ratings").filter((pl.col("aspect") == "quality") & (pl.col("slice") == "all"))
    assert ratings.height == len(means) == 10
    for row in ratings.to_dicts():
        assert row["method"] == "published-mean"
        assert row["rating"] == pytest.approx(means[row["generator"]], abs=1e-12)
        assert row["low"] < row["rating"] < row["high"]
        assert row["raters"] == 21
        assert row["answers"] == 21 * row["images"]
    assert store.read("separations")["more_raters"].null_count() == store.read("separations").height
    label = store.read("labels").filter(pl.col("aspect") == "quality").row(0, named=True)
    first = raw.row(0, named=True)
    # t.975 with 20 degrees of freedom is 2.085963
    half = 2.085963447265837 * first["std_quality"] / 21**0.5
    assert (label["image"], label["value"]) == (first["name"], first["mos_quality"])
    assert label["high"] - label["value"] == pytest.approx(half, abs=1e-12)
