import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.feedback.image_feedback import AspectScore
from beholder.models.rich_feedback.trainable import RichFeedback
from beholder.scorers.rich.ensemble import ModelFeedback, combine_feedback, feedback_of_image

Map = np.ndarray[tuple[int, ...], np.dtype[np.float32]]


def model_feedback(
    scores: dict[str, float],
    half_widths: dict[str, float] | None = None,
    missed: list[float] | None = None,
    **maps: Map,
) -> ModelFeedback:
    return ModelFeedback(scores, maps, None if missed is None else np.array(missed), half_widths or {})


def test_one_model_by_hand() -> None:
    combined = combine_feedback([model_feedback({"a": 0.5, "b": 0.75, "c": 0.3}, {"a": 0.25, "b": 0.5})])
    assert combined.scores["a"] == AspectScore(0.5, 0.25, 0.75, "held-out")
    assert combined.scores["b"] == AspectScore(0.75, 0.25, 1.0, "held-out")  # ends with the scale
    assert combined.scores["c"] == AspectScore(0.3)
    assert (combined.heatmaps, combined.missed, combined.people) == ({}, None, 0)


def test_two_models_by_hand() -> None:
    # [¼, ¾] and [⅝, ⅞]: together from ¼ to ⅞; the mean of ½ and ¾ is ⅝
    models = [
        model_feedback({"a": 0.5, "b": 0.25}, {"a": 0.25}),
        model_feedback({"a": 0.75, "b": 0.5}, {"a": 0.125}),
    ]
    combined = combine_feedback(models)
    assert combined.scores["a"] == AspectScore(0.625, 0.25, 0.875, "held-out")
    assert combined.scores["b"] == AspectScore(0.375, 0.25, 0.5, "members")


unit = st.floats(0, 1)


@given(st.lists(st.tuples(unit, unit), min_size=1, max_size=4), unit)
def test_the_interval_holds_what_any_member_holds(members: list[tuple[float, float]], rater_mean: float) -> None:
    score = combine_feedback(
        [model_feedback({"a": value}, {"a": half_width}) for value, half_width in members]
    ).scores["a"]
    assert score.low is not None
    assert score.high is not None
    assert score.low <= score.value + 1e-12
    assert score.value <= score.high + 1e-12
    if any(abs(rater_mean - value) <= half_width for value, half_width in members):
        assert score.low - 1e-12 <= rater_mean <= score.high + 1e-12


def test_maps_and_words_are_averaged_over_the_models_that_give_them() -> None:
    small, large = np.full((2, 2), 0.2, np.float32), np.full((4, 4), 0.6, np.float32)
    combined = combine_feedback(
        [
            model_feedback({}, missed=[0.2, np.nan, np.nan], first=small, second=small),
            model_feedback({}, missed=[0.6, 0.4, np.nan], first=large),
            model_feedback({}),
        ]
    )
    assert combined.heatmaps["first"].shape == (4, 4)
    np.testing.assert_allclose(combined.heatmaps["first"], 0.4, atol=1e-6)
    np.testing.assert_allclose(combined.heatmaps["second"], 0.2)
    np.testing.assert_allclose(combined.missed if combined.missed is not None else [], [0.4, 0.4, np.nan])


def test_a_part_of_a_batch() -> None:
    scores = {"a": np.array([0.1, 0.2], np.float32)}
    maps = {"m": np.stack([np.zeros((2, 2)), np.ones((2, 2))]).astype(np.float32)}
    second_image = feedback_of_image(
        RichFeedback(maps, scores, (np.array([0.1]), np.array([0.2, 0.3]))), 1, {"a": 0.1}
    )
    assert second_image.scores == {"a": pytest.approx(0.2)}
    assert second_image.heatmaps["m"].all()
    assert second_image.missed is not None
    assert second_image.missed.tolist() == [0.2, 0.3]
    assert feedback_of_image(RichFeedback({}, scores, ()), 0, {}).missed is None
