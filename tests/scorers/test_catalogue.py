"""Every scorer fulfils what its line in the catalogue declares."""

import sys

import numpy as np
import pytest
from PIL import Image

from beholder.errors import UserError, WeightsError
from beholder.scorers.catalogue import (
    BEST,
    BEST_WITH_PROMPTS,
    PIXELS,
    SCORERS,
    check_names,
    default_of_images,
    default_scorers,
    learned_scorer_remark,
    load_scorer,
)
from beholder.scorers.scorer import ScorerInput


@pytest.mark.parametrize("name", default_scorers())
def test_scores_are_finite_for_images_of_any_size(name: str) -> None:
    rng = np.random.default_rng(0)
    inputs = [
        ScorerInput(Image.fromarray(rng.integers(0, 256, (height, width, 3), dtype=np.uint8)), "a b")
        for height, width in ((1, 1), (2, 9), (24, 17))
    ]
    scores = load_scorer(name).score(inputs)
    assert scores.shape == (3,)
    assert np.isfinite(scores).all()


def test_what_needs_weights_is_not_run_by_default() -> None:
    published = {"hps-v2", "hps-v2.1", "pickscore", "image-reward"}
    parts = {"class-words", "colour-words", "object-words"}  # of agiqa-alignment, or nearly so
    assert set(SCORERS) - set(default_scorers()) == {"clip-score", "aesthetic", *published, *parts}


def test_without_the_extra_the_default_scorers_describe_pixels(monkeypatch: pytest.MonkeyPatch) -> None:
    assert default_of_images() == (BEST,)
    assert default_of_images(prompted=True) == (BEST, BEST_WITH_PROMPTS)
    assert learned_scorer_remark(default_scorers()) is None
    monkeypatch.setitem(sys.modules, "torch", None)
    assert default_scorers() == PIXELS
    assert set(PIXELS) - set(default_of_images()) == {"prompt-length"}
    assert 'agiqa-quality: pip install "beholder[models]"' in str(learned_scorer_remark(PIXELS))
    assert learned_scorer_remark(["sharpness"]) is None  # chosen, not the default


def test_unknown_names_are_listed_at_once() -> None:
    with pytest.raises(UserError, match=r"(?s)'sharp' is not known; known: sharpness.*'dino'.*aesthetic, clip"):
        check_names(["sharp"], {"dino": "x"})


def test_the_aesthetic_head_must_be_given() -> None:
    with pytest.raises(WeightsError, match="needs a file"):
        load_scorer("aesthetic")
