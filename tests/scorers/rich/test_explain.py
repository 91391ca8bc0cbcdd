"""From images to the feedback of models and raters on them."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import beholder
from beholder.errors import ImageError, StudyError, WeightsError
from beholder.feedback.image_feedback import AspectScore
from beholder.scorers.rich.members import load_members
from beholder.scorers.rich.rater_feedback import open_rater_feedback
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.study import FILE_NAME, Study, dump_study

SaveModel = Callable[..., Path]


def test_feedback_of_a_model_next_to_that_of_raters(save_model: SaveModel, rich_study: Path) -> None:
    model = save_model(0, {"within": {"plausibility": 0.125}})
    explanations = beholder.explain(
        images=[rich_study / f"{name}.png" for name in "xyz"], model=model, study=rich_study
    )
    x, y, z = explanations.explained
    assert {explained.prompt for explained in explanations.explained} == {"a red cat, on a mat"}  # the study's
    score = x.model.scores["plausibility"]
    assert [score.low, score.high] == pytest.approx([score.value - 0.125, score.value + 0.125])
    assert x.model.scores["overall"].basis is None
    assert x.people is not None
    assert x.people.scores == {  # from the scale of 1 to 5: (2 − 1) / 4; ends of the interval stay on the scale
        "plausibility": AspectScore(0.25, 0.0, 0.625, "people"),
        "overall": AspectScore(1.0),
    }
    assert x.people.heatmaps["implausibility"].shape == (20, 30)
    assert x.people.heatmaps["implausibility"].sum() == 25
    assert x.people.missed is not None
    assert x.people.missed.tolist() == pytest.approx([0, 0, 2 / 3, 0, 0, 0])
    assert x.people.people == 3
    assert y.people is not None  # found by its path
    assert y.people.scores == {"overall": AspectScore(0.0)}
    assert z.people is None  # an image of the study, but nobody was asked about it
    assert x.model.missed is not None
    assert np.isnan(x.model.missed).tolist() == [False] * 6


def test_another_prompt_has_other_answers(save_model: SaveModel, rich_study: Path) -> None:
    model = load_members([save_model(0)])[0]
    explained = beholder.explain(
        images=rich_study / "x.png", prompts="a mat", model=model, study=rich_study
    ).explained[0]
    assert explained.people is None
    assert explained.note == "people were asked about another prompt: “a red cat, on a mat”"
    assert explained.model.missed is not None
    assert len(explained.model.missed) == 2


def test_several_models_are_combined(save_model: SaveModel, rich_study: Path) -> None:
    first, second = save_model(1), save_model(2, heatmaps=("implausibility",), keywords=False)
    image = rich_study / "x.png"
    alone = [
        beholder.explain(images=image, prompts="a cat", model=model).explained[0].model
        for model in (first, second)
    ]
    both = beholder.explain(images=image, prompts="a cat", model=[first, second]).explained[0].model
    for aspect, score in both.scores.items():
        values = [model.scores[aspect].value for model in alone]
        assert [score.value, score.low, score.high] == pytest.approx([np.mean(values), min(values), max(values)])
        assert score.basis == "members"
    maps = [model.heatmaps["implausibility"] for model in alone]
    np.testing.assert_allclose(both.heatmaps["implausibility"], np.mean(maps, axis=0), atol=1e-6)
    assert both.missed is not None
    np.testing.assert_allclose(both.missed, alone[0].missed if alone[0].missed is not None else [])
    assert alone[1].missed is None


def test_the_batch_changes_nothing(save_model: SaveModel) -> None:
    rng = np.random.default_rng(1)
    images = [rng.integers(0, 256, (8, 8 + size, 3), dtype=np.uint8) for size in range(20)]
    model = load_members([save_model(0)])[0]
    batched = beholder.explain(images=images, prompts="a red cat", model=model, workers=2).explained
    alone = beholder.explain(images=images[17], prompts="a red cat", model=model).explained[0]
    assert len(batched) == 20
    assert batched[17].model.scores["overall"].value == pytest.approx(
        alone.model.scores["overall"].value, abs=1e-5
    )


def test_all_faults_at_once(save_model: SaveModel, rich_study: Path, tmp_path: Path) -> None:
    broken, unknown = tmp_path / "broken.png", tmp_path / "unknown.png"
    broken.write_bytes((rich_study / "x.png").read_bytes()[:200])
    unknown.write_bytes((rich_study / "z.png").read_bytes() + b" ")
    model = save_model(0)
    places = [rich_study / "x.png", broken, unknown]
    with pytest.raises(ImageError) as raised:
        beholder.explain(images=places, model=model, study=rich_study)
    assert "2 faults" in str(raised.value)
    assert "unknown.png: has no prompt" in str(raised.value)
    assert "broken.png: damaged or cut short" in str(raised.value)
    assert "--skip-broken" in str(raised.value)
    explanations = beholder.explain(images=places, prompts="a", model=model, skip_broken=True)
    assert [image.name for image in explanations.broken] == [str(broken)]
    assert len(explanations.explained) == 2


def test_models_that_cannot_be_used_are_named_together(save_model: SaveModel, tmp_path: Path) -> None:
    odd = save_model(3, {"within": 3})
    with pytest.raises(WeightsError) as raised:
        load_members([tmp_path / "nowhere", odd])
    assert "nowhere: no model.json here" in str(raised.value)
    assert "about.within must hold a number for each aspect" in str(raised.value)


def test_a_study_without_rich_feedback(tmp_path: Path) -> None:
    study = Study(name="s", title="S", questions=(RatingQuestion(name="opinion"),))
    (tmp_path / FILE_NAME).write_text(dump_study(study), encoding="utf-8")
    with pytest.raises(StudyError, match=r"no question of rich feedback; found: opinion \(rating\)"):
        open_rater_feedback(tmp_path)
