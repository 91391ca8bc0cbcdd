"""HPD v2 and ImageReward: hand-worked entries, there and back, and the real files."""

import json
import os
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import polars as pl
import pytest
from PIL import Image
from tests.formats.conftest import Making, Tables, study_of

from beholder.errors import ImageError, StudyError, TableError
from beholder.formats import hpd, imagereward
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.ranking import RankingQuestion
from beholder.study.kinds.rating import RatingQuestion

SHARED = Path(os.environ.get("BEHOLDER_SHARED", Path(__file__).parents[3] / "shared")) / "data"
PAIRS, RANKING = PairQuestion(name="pairs"), RankingQuestion(name="order", images=3)


@pytest.fixture
def small(making: Making) -> Making:
    making.prompt("p1", "a cat")
    for name in "abc":
        making.image(name, f"gen-{name}", prompt="p1")
    for rater in ("r1", "r2"):
        making.session(rater, "pairs")
        making.session(rater, "order")
    making.judged("r1", PAIRS, ["a", "b"], {"preference": {"choice": "left"}}, prompt="p1")
    making.judged("r2", PAIRS, ["b", "a"], {"preference": {"choice": "right"}}, prompt="p1")
    making.judged("r2", PAIRS, ["b", "c"], {"preference": {"choice": "tie"}}, prompt="p1")
    making.judged("r1", RANKING, ["a", "b", "c"], {"preference": {"ranking": [1, 2, 3]}}, prompt="p1")
    making.judged("r2", RANKING, ["c", "b", "a"], {"preference": {"ranking": [1, 1, 3]}}, prompt="p1")
    return making


def answer_set(tables: Tables, question: str) -> set[tuple[object, ...]]:
    """What was judged, whatever the ids: the rater, and what they said of each image."""
    answers = tables["answers"].filter(pl.col("question") == question)
    joined = answers.join(tables["trials"].select("trial", "images"), on="trial")
    judged: set[tuple[object, ...]] = set()
    for rater, images, choice, ranking in joined.select("rater", "images", "choice", "ranking").iter_rows():
        stems = [Path(image).stem for image in images]
        judged.add((rater, frozenset(zip(stems, ranking, strict=True)) if ranking else (tuple(stems), choice)))
    return judged


def test_both_files_by_hand(small: Making, tmp_path: Path) -> None:
    """Mean ranks: a (1 + 3)/2 = 2, b (2 + 1)/2 = 1.5, c (3 + 1)/2 = 2: b first, a and c share rank 2."""
    written = hpd.write(study_of(PAIRS, RANKING), small.tables(), tmp_path)
    assert [file.name for file in written.files] == ["train.json", "test.json"]
    assert written.notes == ("pairs: 1 ties are not in train.json",)
    a, b, c = (f"images/{name}.png" for name in "abc")
    assert json.loads((tmp_path / "train.json").read_text()) == [
        {"human_preference": [1, 0], "prompt": "a cat", "file_path": [a, b], "user_hash": "r1"},
        {"human_preference": [0, 1], "prompt": "a cat", "file_path": [b, a], "user_hash": "r2"},
    ]
    assert json.loads((tmp_path / "test.json").read_text()) == [
        {
            "prompt": "a cat",
            "image_path": [a, b, c],
            "rank": [2, 1, 2],
            "raw_annotations": [{"rank": [1, 2, 3], "user_hash": "r1"}, {"rank": [3, 1, 1], "user_hash": "r2"}],
        }
    ]


def test_what_was_written_is_read_again(small: Making, tmp_path: Path, sound: Callable[[Tables], None]) -> None:
    before = small.tables()
    hpd.write(study_of(PAIRS, RANKING), before, tmp_path)
    after = hpd.read(tmp_path)
    sound(after)
    decided = {answer for answer in answer_set(before, "pairs") if "tie" not in str(answer)}
    assert answer_set(after, hpd.PAIRS) == decided
    assert answer_set(after, hpd.RANKINGS) == answer_set(before, "order")
    assert after["prompts"]["text"].to_list() == ["a cat"]


def test_images_are_measured_where_they_are_at_hand(small: Making, tmp_path: Path) -> None:
    hpd.write(study_of(PAIRS), small.tables(), tmp_path)
    with pytest.raises(ImageError, match=r"none of the 2 images lies here, such as images/a\.png"):
        hpd.read(tmp_path, images=tmp_path)
    (tmp_path / "images").mkdir()
    for name in "ab":
        (tmp_path / "images" / f"{name}.png").write_bytes(b"no picture")
    with pytest.raises(ImageError) as caught:
        hpd.read(tmp_path, images=tmp_path)
    assert len(caught.value.faults) == 2
    for name in "ab":
        Image.new("RGB", (6, 4)).save(tmp_path / "images" / f"{name}.png")
    images = hpd.read(tmp_path, images=tmp_path)["images"]
    assert images.select("width", "height").unique().rows() == [(6, 4)]
    assert images["sha256"].str.len_chars().to_list() == [64, 64]


def test_the_names_of_the_readme_are_read_too(tmp_path: Path) -> None:
    entry = {"prompt": "x", "image_path": ["a", "b"], "rank": [2, 1]}
    content = [entry | {"raw_annotation": [{"rank": [5, 3], "user_hash": "u"}]}, entry]
    (tmp_path / "test.json").write_text(json.dumps(content))
    answers = hpd.read(tmp_path)["answers"]
    assert answers.select("rater", "ranking").rows() == [("u", [2, 1]), ("hpd-mean", [2, 1])]


def test_all_faults_of_a_file_are_told_at_once(tmp_path: Path) -> None:
    content = [
        {"prompt": "x", "image_path": ["a", "b"], "rank": [1], "raw_annotations": [{"rank": [1, "2"]}]},
        {"image_path": []},
        3,
    ]
    (tmp_path / "test.json").write_text(json.dumps(content))
    with pytest.raises(TableError) as caught:
        hpd.read(tmp_path)
    assert caught.value.faults == (
        "entry 0: rank: 2 whole numbers were expected; found [1]",
        "entry 0: raw_annotations[0].rank: 2 whole numbers were expected; found [1, '2']",
        "entry 1: prompt: a text was expected",
        "entry 1: image_path: a list of paths was expected",
        "entry 2: not an object but int",
    )
    (tmp_path / "test.json").unlink()
    (tmp_path / "train.json").write_text('[{"prompt": "x", "file_path": ["a"], "human_preference": [1, 1]}]')
    with pytest.raises(TableError, match=r"two paths(.|\n)*\[1, 0\] or \[0, 1\]"):
        hpd.read(tmp_path)


def test_an_empty_folder_and_a_study_without_pairs_are_refused(making: Making, tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"neither train\.json nor test\.json"):
        hpd.read(tmp_path)
    with pytest.raises(StudyError, match="no question of kind pair or ranking"):
        hpd.write(study_of(RatingQuestion(name="mos")), making.tables(), tmp_path)


@pytest.mark.skipif(
    not (SHARED / "hpsv2-benchmark").exists(), reason=f"the benchmark's prompts are not at {SHARED}"
)
def test_the_prompts_of_the_benchmark() -> None:
    prompts = hpd.read_prompts(SHARED / "hpsv2-benchmark" / "prompts.json")
    assert prompts.group_by("style").len().sort("style").rows() == [
        ("anime", 800),
        ("concept-art", 800),
        ("paintings", 800),
        ("photo", 800),
    ]
    assert prompts.filter(pl.col("style") == "photo")["text"][0] == "A man taking a drink from a water fountain."


def test_imagereward_by_hand(small: Making, tmp_path: Path, sound: Callable[[Tables], None]) -> None:
    (file,) = imagereward.write(study_of(RANKING), small.tables(), tmp_path).files
    a, b, c = (f"images/{name}.png" for name in "abc")
    assert json.loads(file.read_text()) == [
        {"id": "p1", "prompt": "a cat", "generations": [a, b, c], "ranking": [2, 1, 2]}
    ]
    again = imagereward.read(file)
    sound(again)
    assert again["answers"]["ranking"].to_list() == [[2, 1, 2]]
    assert again["trials"]["images"].to_list() == [[a, b, c]]


@pytest.mark.skipif(not (SHARED / "imagereward").exists(), reason=f"ImageReward's test set is not at {SHARED}")
def test_the_released_rankings(sound: Callable[[Tables], None]) -> None:
    """As facts has it: 466 prompts, 6,399 pairs that are decided and 831 that are tied; gaps are closed."""
    tables = imagereward.read(SHARED / "imagereward" / "test.json")
    sound(tables)
    rankings = tables["answers"]["ranking"].to_list()
    assert len(rankings) == 466
    assert rankings[0] == [1, 2, 4, 3]
    ties = [first == second for ranks in rankings for first, second in combinations(ranks, 2)]
    assert (ties.count(False), ties.count(True)) == (6399, 831)
    assert all(1 <= rank <= len(ranks) for ranks in rankings for rank in ranks)


def test_faults_of_imagereward(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('[{"id": 3, "prompt": "x", "generations": ["a", "a"], "ranking": [1, true]}, {"id": "1"}]')
    with pytest.raises(TableError) as caught:
        imagereward.read(path)
    assert caught.value.faults == (
        "entry 0: id: a text was expected",
        "entry 0: generations: a path occurs twice",
        "entry 0: ranking: 2 whole numbers were expected; found [1, True]",
        "entry 1: prompt: a text was expected",
        "entry 1: generations: a list of paths was expected",
    )
    for content, what in (("{", "not valid JSON"), ("{}", "a list of entries")):
        path.write_text(content)
        with pytest.raises(TableError, match=what):
            imagereward.read(path)
    with pytest.raises(TableError, match="no such file"):
        imagereward.read(tmp_path / "none.json")


def test_both_files_become_a_study(small: Making, tmp_path: Path, sound: Callable[[Tables], None]) -> None:
    hpd.write(study_of(PAIRS, RANKING), small.tables(), tmp_path)
    imported = hpd.read_study(tmp_path)
    sound(dict(imported.tables))
    assert [(q.name, q.kind, q.design.raters) for q in imported.study.questions] == [
        ("hpd-pairs", "pair", 2),
        ("hpd-ranking", "ranking", 2),
    ]
    assert hpd.read_study(tmp_path / "test.json").study.questions == imported.study.questions[1:]


def test_what_is_odd_in_rankings_is_told(tmp_path: Path) -> None:
    """Twice the same images by one rater, an image under two prompts, and nobody named."""
    entries = [
        {"prompt": "p", "image_path": ["a", "b", "c"], "rank": [1, 2, 3], "raw_annotations": []},
        {"prompt": "p", "image_path": ["c", "b", "a"], "rank": [1, 2, 3], "raw_annotations": []},
        {"prompt": "q", "image_path": ["a", "d", "e", "f"], "rank": [1, 2, 3, 4], "raw_annotations": []},
    ]
    (tmp_path / "test.json").write_text(json.dumps(entries))
    imported = hpd.read_study(tmp_path)
    assert imported.differences == (
        "hpd-ranking: 1 judgements of images that the same rater had judged before",
        "1 images stand under several prompts; the last counts",
    )
    notes = "\n".join(imported.notes)
    assert "Rankings differ in size: 2 of 3, 1 of 4 images." in notes
    assert "Rankings without raw_annotations" in notes


@pytest.mark.skipif(not SHARED.exists(), reason=f"ImageReward's rankings are not at {SHARED}")
def test_the_released_rankings_become_a_study(sound: Callable[[Tables], None]) -> None:
    """The released file as a whole: 6,399 pairs of images that differ in rank and 831 that share one."""
    imported = imagereward.read_study(SHARED / "imagereward" / "test.json")
    sound(dict(imported.tables))
    assert (imported.tables["answers"].height, imported.tables["images"].height) == (466, 2720)
    assert imported.differences == ()
    assert imported.study.question("imagereward").kind == "ranking"
