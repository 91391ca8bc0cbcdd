"""From labels to examples, worked by hand; and labels from which nothing can be learned."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.learn.conftest import Rows, write_labels

from beholder.errors import LabelsError
from beholder.learn.examples import (
    Example,
    LabelledPair,
    build_examples,
    build_examples_by_role,
    label_scales,
    read_labelled_images,
    read_votes,
)
from beholder.learn.recipe import Data, Splitting
from beholder.learn.splits import split
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.ranking import RankingQuestion
from beholder.study.kinds.side_by_side import SideBySideQuestion
from beholder.study.study import Study
from beholder.tables.catalogue import TABLES
from beholder.tables.store import Store

PAIRS = Data(labels="pairs")
RATINGS = Data(labels="ratings")


@pytest.fixture
def study(painted_study: Callable[..., Path]) -> Path:
    return painted_study(PairQuestion(name="q"))


def pair(image: str, other: str, value: float, **more: object) -> dict[str, object]:
    return {"aspect": "preference", "method": "preference", "image": image, "other": other, "value": value} | more


def rating(image: str, value: float, aspect: str = "quality", method: str = "mean") -> dict[str, object]:
    return {"aspect": aspect, "method": method, "image": image, "value": value}


THREE: Rows = [
    pair("aurora/0000", "dune/0000", 2 / 3),
    pair("aurora/0000", "ember/0000", 1.0),
    pair("aurora/0001", "dune/0001", 0.5),
]
"""Two pairs of one prompt, and a tie of another."""


def examples_of(folder: Path, data: Data) -> list[Example]:
    labelled = read_labelled_images(Store(folder), data)
    return build_examples(labelled, data, [item.image for item in labelled.items])


class TestPairs:
    def test_one_by_one(self, study: Path) -> None:
        write_labels(study, THREE)
        first, second, tie = examples_of(study, PAIRS)
        assert first.images == ("aurora/0000", "dune/0000")
        assert first.pairs == (LabelledPair(0, 1, 2 / 3),)
        assert first.prompt == second.prompt != tie.prompt
        assert tie.pairs[0].proportion == 0.5

    def test_a_prompt_together_is_a_ranking_of_any_length(self, study: Path) -> None:
        write_labels(study, THREE)
        ranking, tie = examples_of(study, Data(labels="pairs", together="prompt"))
        assert ranking.images == ("aurora/0000", "dune/0000", "ember/0000")
        assert ranking.pairs == (LabelledPair(0, 1, 2 / 3), LabelledPair(0, 2, 1.0))
        assert len(tie.images) == 2

    def test_each_prompt_has_the_same_weight(self, study: Path) -> None:
        write_labels(study, THREE)
        weights = [
            example.pairs[0].weight for example in examples_of(study, Data(labels="pairs", weights="prompt"))
        ]
        assert weights == [0.5, 0.5, 1.0]

    def test_hard_labels_keep_ties_unless_they_are_dropped(self, study: Path) -> None:
        write_labels(study, THREE)
        hard = examples_of(study, Data(labels="pairs", hard=True))
        assert [example.pairs[0].proportion for example in hard] == [1.0, 1.0, 0.5]
        assert len(examples_of(study, Data(labels="pairs", ties="drop"))) == 2

    def test_pairs_across_the_split_are_in_no_part(self, study: Path) -> None:
        write_labels(study, THREE)
        labelled = read_labelled_images(Store(study), PAIRS)
        assert (
            build_examples(labelled, PAIRS, ["aurora/0000", "ember/0000", "dune/0001"])
            == examples_of(study, PAIRS)[1:2]
        )


class TestRatings:
    def test_every_aspect_of_an_image(self, study: Path) -> None:
        write_labels(
            study,
            [
                *(rating("aurora/0000", 4.0), rating("dune/0000", 2.0), rating("dune/0000", 3.5, "alignment")),
                rating("dune/0000", 9.0, method="z-mean"),
            ],
        )
        first, second = examples_of(study, RATINGS)
        assert first.ratings == {"alignment": (None,), "quality": (4.0,)}
        assert second.ratings == {"alignment": (3.5,), "quality": (2.0,)}
        (together,) = examples_of(study, Data(labels="ratings", together="prompt"))
        assert together.ratings == {"alignment": (None, 3.5), "quality": (4.0, 2.0)}

    def test_published_means_are_ratings(self, study: Path) -> None:
        write_labels(study, [rating("aurora/0000", 4.0, method="published-mean")])
        assert examples_of(study, RATINGS)[0].ratings == {"quality": (4.0,)}

    def test_proportions_of_generated_change_their_sign(self, study: Path) -> None:
        write_labels(study, [rating("aurora/0000", 0.25, "realism", "share")])
        assert examples_of(study, RATINGS)[0].ratings == {"realism": (-0.25,)}

    def test_soft_labels_stay_proportions_and_have_their_counts(self, study: Path) -> None:
        rows = [
            rating("aurora/0000", 0.25, "realism", "share") | {"answers": 4},
            rating("dune/0000", 1.0, "realism", "share") | {"answers": 2},
            rating("ember/0000", 0.5, "realism", "share") | {"answers": 0},
            rating("ember/0001", 3.0),
        ]
        write_labels(study, rows)
        soft_labels = Data(labels="shares")
        first, second = examples_of(study, soft_labels)
        assert (first.ratings, first.answers) == ({"realism": (0.25,)}, {"realism": (4,)})
        assert (second.ratings, second.answers) == ({"realism": (1.0,)}, {"realism": (2,)})
        assert label_scales([first, second], Data(labels="shares", standardise=True)) == {}

    def test_scales_by_hand(self, study: Path) -> None:
        write_labels(study, [rating("aurora/0000", 1.0), rating("dune/0000", 3.0)])
        standardised = Data(labels="ratings", standardise=True)
        scale = label_scales(examples_of(study, standardised), standardised)["quality"]
        assert (scale.mean, scale.standard_deviation) == (2.0, 1.0)
        assert label_scales(examples_of(study, standardised), RATINGS) == {}


class TestErrors:
    def test_no_labels_of_the_kind(self, study: Path) -> None:
        write_labels(study, THREE)
        with pytest.raises(LabelsError, match="no labels of ratings; methods found: preference"):
            read_labelled_images(Store(study), RATINGS)

    def test_no_labels_at_all(self, study: Path) -> None:
        write_labels(study, [])
        with pytest.raises(LabelsError, match="methods found: none"):
            read_labelled_images(Store(study), PAIRS)

    def test_unknown_question_and_aspects_at_once(self, study: Path) -> None:
        write_labels(study, THREE)
        with pytest.raises(LabelsError, match="2 faults") as caught:
            read_labelled_images(Store(study), Data(labels="pairs", question="r", aspects=("beauty",)))
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
            read_labelled_images(store, PAIRS)

    def test_only_ties(self, study: Path) -> None:
        write_labels(study, [pair(f"aurora/{n:04d}", f"dune/{n:04d}", 0.5) for n in range(12)])
        labelled = read_labelled_images(Store(study), PAIRS)
        (only_split,) = split(labelled.items, Splitting())
        with pytest.raises(LabelsError, match="every pair is a tie"):
            build_examples_by_role(labelled, PAIRS, only_split)

    def test_one_class(self, study: Path) -> None:
        write_labels(study, [rating(f"aurora/{n:04d}", 3.0) for n in range(12)])
        labelled = read_labelled_images(Store(study), RATINGS)
        (only_split,) = split(labelled.items, Splitting())
        with pytest.raises(LabelsError, match="all labels of 'quality' are 3: one class"):
            build_examples_by_role(labelled, RATINGS, only_split)

    def test_a_part_without_labels(self, study: Path) -> None:
        # pairs of two generators each: by generator, every pair lies across
        rows = [
            pair(f"{first}/0000", f"{second}/0000", 1.0)
            for first, second in (("aurora", "dune"), ("cirrus", "ember"))
        ]
        write_labels(study, rows)
        labelled = read_labelled_images(Store(study), PAIRS)
        (only_split,) = split(labelled.items, Splitting(by="generator"))
        with pytest.raises(LabelsError, match="no labels are left in this part"):
            build_examples_by_role(labelled, PAIRS, only_split)


VOTED_STUDY = Study(
    name="s",
    title="S",
    questions=(
        RankingQuestion(name="order", images=3),
        PairQuestion(name="pair"),
        SideBySideQuestion(name="five"),
    ),
)


def judgement(
    question: str, kind: str, image: str, other: str | None, value: float, **rest: object
) -> dict[str, object]:
    common: dict[str, object] = {"question": question, "aspect": "preference", "rater": "ann", "session": "s"}
    common |= {"trial": question, "attempt": 1, "place": 0, "used": True}
    return common | {"image": image, "other": other, "value": value, "value_kind": kind} | rest


class JudgementsStore(Store):
    """A folder that has only judgements."""

    def read_or_empty(self, name: str) -> pl.DataFrame:
        rows = [
            judgement("pair", "vote", "x", "y", 1.0),
            judgement("pair", "vote", "y", "x", 0.0, trial="again"),
            judgement("pair", "vote", "x", "y", -1.0, trial="third", used=False, reason="fast"),
            judgement("five", "graded-vote", "x", "y", 2.0),
            *(judgement("order", "rank", image, None, rank, place=n) for n, (image, rank) in enumerate(RANKS)),
        ]
        return TABLES[name].frame(rows)


RANKS = (("x", 2.0), ("y", 1.0), ("z", 2.0))


def test_used_votes_and_those_of_rankings_question_by_question(tmp_path: Path) -> None:
    votes = read_votes(JudgementsStore(tmp_path), VOTED_STUDY, None)
    assert votes.select("image", "other", "lead").rows() == [
        ("x", "y", -1),
        ("x", "z", 0),
        ("y", "z", 1),
        ("x", "y", 1),
        ("y", "x", 0),
    ]
    assert votes.schema["lead"] == pl.Int64()
    assert read_votes(JudgementsStore(tmp_path), VOTED_STUDY, "pair").height == 2


def test_a_study_without_answers_has_none(tmp_path: Path) -> None:
    assert read_votes(Store(tmp_path), VOTED_STUDY, None).is_empty()
