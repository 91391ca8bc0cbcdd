"""From labels to examples, worked by hand; and labels from which nothing can be learnt."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.learn.conftest import Rows, write_labels

from beholder.errors import LabelsError
from beholder.learn.examples import Compared, Example, examples, examples_by_role, judged, scales
from beholder.learn.recipe import Data, Splitting
from beholder.learn.splits import split
from beholder.study.kinds.pair import PairQuestion
from beholder.tables.store import Store

PAIRS = Data(labels="pairs")
RATINGS = Data(labels="ratings")


@pytest.fixture
def study(painted_study: Callable[..., Path]) -> Path:
    return painted_study(PairQuestion(name="q"))


def pair(one: str, two: str, value: float, **more: object) -> dict[str, object]:
    return {"aspect": "preference", "method": "preference", "image": one, "other": two, "value": value} | more


def rating(image: str, value: float, aspect: str = "quality", method: str = "mean") -> dict[str, object]:
    return {"aspect": aspect, "method": method, "image": image, "value": value}


THREE: Rows = [
    pair("aurora/0000", "dune/0000", 2 / 3),
    pair("aurora/0000", "ember/0000", 1.0),
    pair("aurora/0001", "dune/0001", 0.5),
]
"""Two pairs of one prompt, and a tie of another."""


def found(folder: Path, data: Data) -> list[Example]:
    there = judged(Store(folder), data)
    return examples(there, data, [item.image for item in there.items])


class TestPairs:
    def test_one_by_one(self, study: Path) -> None:
        write_labels(study, THREE)
        one, two, three = found(study, PAIRS)
        assert one.images == ("aurora/0000", "dune/0000")
        assert one.compared == (Compared(0, 1, 2 / 3),)
        assert one.prompt == two.prompt != three.prompt
        assert three.compared[0].share == 0.5

    def test_a_prompt_together_is_a_ranking_of_any_length(self, study: Path) -> None:
        write_labels(study, THREE)
        whole, tie = found(study, Data(labels="pairs", together="prompt"))
        assert whole.images == ("aurora/0000", "dune/0000", "ember/0000")
        assert whole.compared == (Compared(0, 1, 2 / 3), Compared(0, 2, 1.0))
        assert len(tie.images) == 2

    def test_each_prompt_weighs_alike(self, study: Path) -> None:
        write_labels(study, THREE)
        weights = [one.compared[0].weight for one in found(study, Data(labels="pairs", weights="prompt"))]
        assert weights == [0.5, 0.5, 1.0]

    def test_hard_labels_keep_ties_unless_they_are_dropped(self, study: Path) -> None:
        write_labels(study, THREE)
        hard = found(study, Data(labels="pairs", hard=True))
        assert [one.compared[0].share for one in hard] == [1.0, 1.0, 0.5]
        assert len(found(study, Data(labels="pairs", ties="drop"))) == 2

    def test_pairs_across_the_split_are_on_no_side(self, study: Path) -> None:
        write_labels(study, THREE)
        there = judged(Store(study), PAIRS)
        assert examples(there, PAIRS, ["aurora/0000", "ember/0000", "dune/0001"]) == found(study, PAIRS)[1:2]


class TestRatings:
    def test_every_aspect_of_an_image(self, study: Path) -> None:
        write_labels(
            study,
            [
                *(rating("aurora/0000", 4.0), rating("dune/0000", 2.0), rating("dune/0000", 3.5, "alignment")),
                rating("dune/0000", 9.0, method="z-mean"),
            ],
        )
        one, two = found(study, RATINGS)
        assert one.ratings == {"alignment": (None,), "quality": (4.0,)}
        assert two.ratings == {"alignment": (3.5,), "quality": (2.0,)}
        (both,) = found(study, Data(labels="ratings", together="prompt"))
        assert both.ratings == {"alignment": (None, 3.5), "quality": (4.0, 2.0)}

    def test_shares_of_generated_are_turned_round(self, study: Path) -> None:
        write_labels(study, [rating("aurora/0000", 0.25, "realism", "share")])
        assert found(study, RATINGS)[0].ratings == {"realism": (-0.25,)}

    def test_shares_stay_shares_and_keep_their_counts(self, study: Path) -> None:
        said = [
            rating("aurora/0000", 0.25, "realism", "share") | {"answers": 4},
            rating("dune/0000", 1.0, "realism", "share") | {"answers": 2},
            rating("ember/0000", 0.5, "realism", "share") | {"answers": 0},
            rating("ember/0001", 3.0),
        ]
        write_labels(study, said)
        shares = Data(labels="shares")
        one, two = found(study, shares)
        assert (one.ratings, one.answers) == ({"realism": (0.25,)}, {"realism": (4,)})
        assert (two.ratings, two.answers) == ({"realism": (1.0,)}, {"realism": (2,)})
        assert scales([one, two], Data(labels="shares", standardise=True)) == {}

    def test_scales_by_hand(self, study: Path) -> None:
        write_labels(study, [rating("aurora/0000", 1.0), rating("dune/0000", 3.0)])
        given = Data(labels="ratings", standardise=True)
        scale = scales(found(study, given), given)["quality"]
        assert (scale.mean, scale.deviation) == (2.0, 1.0)
        assert scales(found(study, given), RATINGS) == {}


class TestErrors:
    def test_no_labels_of_the_kind(self, study: Path) -> None:
        write_labels(study, THREE)
        with pytest.raises(LabelsError, match="no labels of ratings; methods found: preference"):
            judged(Store(study), RATINGS)

    def test_no_labels_at_all(self, study: Path) -> None:
        write_labels(study, [])
        with pytest.raises(LabelsError, match="methods found: none"):
            judged(Store(study), PAIRS)

    def test_unknown_question_and_aspects_at_once(self, study: Path) -> None:
        write_labels(study, THREE)
        with pytest.raises(LabelsError, match="2 faults") as caught:
            judged(Store(study), Data(labels="pairs", question="r", aspects=("beauty",)))
        assert "no aspect 'beauty' among labels of pairs; found: preference" in str(caught.value)

    def test_missing_images_are_listed(self, study: Path) -> None:
        write_labels(study, THREE)
        store = Store(study)
        record = store.provenance("images")
        assert record is not None
        gone = store.read("images").with_columns(
            path=pl.when(pl.col("image").str.starts_with("dune")).then(pl.lit("gone.png")).otherwise("path")
        )
        store.write({"images": gone}, record)
        with pytest.raises(LabelsError, match="2 faults"):
            judged(store, PAIRS)

    def test_only_ties(self, study: Path) -> None:
        write_labels(study, [pair(f"aurora/{n:04d}", f"dune/{n:04d}", 0.5) for n in range(12)])
        there = judged(Store(study), PAIRS)
        (one,) = split(there.items, Splitting())
        with pytest.raises(LabelsError, match="every pair is a tie"):
            examples_by_role(there, PAIRS, one)

    def test_one_class(self, study: Path) -> None:
        write_labels(study, [rating(f"aurora/{n:04d}", 3.0) for n in range(12)])
        there = judged(Store(study), RATINGS)
        (one,) = split(there.items, Splitting())
        with pytest.raises(LabelsError, match="all labels of 'quality' are 3: one class"):
            examples_by_role(there, RATINGS, one)

    def test_a_side_without_labels(self, study: Path) -> None:
        # pairs of two generators each: by generator, every pair lies across
        rows = [pair(f"{one}/0000", f"{two}/0000", 1.0) for one, two in (("aurora", "dune"), ("cirrus", "ember"))]
        write_labels(study, rows)
        there = judged(Store(study), PAIRS)
        (one,) = split(there.items, Splitting(by="generator"))
        with pytest.raises(LabelsError, match="no labels are left on this side"):
            examples_by_role(there, PAIRS, one)
