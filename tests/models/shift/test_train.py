"""The warning of a model: its false alarms on images like its own, and its power on images unlike them."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import save_file
from scipy.stats import binom

from beholder.errors import WeightsError
from beholder.models.encoders.encoder import Encoder
from beholder.models.encoders.preprocessing import Preprocessing
from beholder.models.shift.train import DRAWN, PromptedVectors, held_out_scores, tolerance_bound, train_warning
from beholder.models.shift.warning import ShiftWarning, read_warning, write_warning

DIMS, STATISTICS, PER_PROMPT = (12, 20), 5, 4
BOUNDS = np.array([0, 12, 32])


def make_encoder(name: str, dims: int, groups: tuple[int, ...] = ()) -> Encoder:
    preprocessing = Preprocessing("shortest", 8, "bicubic", 8, scale=1.0)
    return Encoder(name, "none", dims, preprocessing, lambda images: images[:, 0, 0], groups=groups)


ENCODERS = (make_encoder("light", sum(DIMS), (6, 6, 10, 10)), make_encoder("pixels", STATISTICS))


def draw_usual(count: int, seed: int) -> PromptedVectors:
    """Features that vary in six directions, in part by prompt, and statistics of pixels."""
    rng = np.random.default_rng(seed)
    directions = np.random.default_rng(9).normal(size=(6, sum(DIMS)))
    prompts = np.arange(count) // PER_PROMPT
    points = rng.normal(size=(count, 6)) + rng.normal(size=(count, 6))[prompts]
    features = points @ directions + 0.1 * rng.normal(size=(count, sum(DIMS)))
    return PromptedVectors(np.hstack([features, rng.normal(size=(count, STATISTICS))]).astype(np.float32), prompts)


def alter(usual: PromptedVectors, kind: str, seed: int) -> PromptedVectors:
    """Change features off the directions, or statistics."""
    rng, vectors = np.random.default_rng(seed), usual.vectors.copy()
    if kind == "first":
        vectors[:, :12] += 4 * rng.normal(size=(len(vectors), 12))
    elif kind == "second":
        vectors[:, 12:32] += 4 * rng.normal(size=(len(vectors), 20))
    else:
        vectors[:, 32:] += 5 * rng.choice([-1, 1], (len(vectors), STATISTICS))
    return PromptedVectors(vectors.astype(np.float32), usual.prompts)


def joined(parts: list[PromptedVectors]) -> PromptedVectors:
    vectors = np.concatenate([part.vectors for part in parts])
    return PromptedVectors(vectors, np.concatenate([part.prompts for part in parts]))


def trained(seed: int, kinds: tuple[str, ...], count: int = 400) -> ShiftWarning:
    usual = draw_usual(count, seed)
    some = PromptedVectors(usual.vectors[::5], usual.prompts[::5])
    return train_warning(ENCODERS, usual, joined([alter(some, kind, 1) for kind in kinds]))


def test_the_limit_by_hand() -> None:
    # Of 100 images 5 would be above on average. P(at most 1) = .95¹⁰⁰ + 100 · .05 · .95⁹⁹ = .0371, and
    # P(at most 2) = .1183 > .1: so one may be above. .95⁴⁵ = .0994 < .1: of 45 none may; of 20 neither.
    assert tolerance_bound(np.arange(100.0)) == 98
    assert tolerance_bound(np.arange(45.0)) == 44
    assert tolerance_bound(np.arange(20.0)) == 19


def test_the_limit_bounds_false_alarms_in_nine_of_ten_draws() -> None:
    rng = np.random.default_rng(0)
    limits = np.array([tolerance_bound(rng.random(300)) for _ in range(500)])  # false alarms: 1 − limit
    assert (1 - limits > 0.05).sum() <= binom.ppf(0.999, 500, 0.1)


def test_false_alarms_on_other_prompts_are_no_more_than_one_in_twenty() -> None:
    alarms = [
        float((trained(seed, ("first", "second", "pixels")).shifts(draw_usual(400, seed + 50).vectors) > 1).mean())
        for seed in range(5)
    ]
    assert sum(alarms) * 400 <= binom.ppf(0.999, 5 * 400, 0.05)
    assert max(alarms) > 0


@pytest.mark.parametrize("kind", ["first", "second", "pixels"])
def test_each_way_to_be_unlike_is_reported(kind: str) -> None:
    warning = trained(0, ("first", "second", "pixels"))
    assert (warning.shifts(alter(draw_usual(200, 60), kind, 2).vectors) > 1).mean() > 0.9


def test_no_image_is_scored_by_a_detector_of_its_prompt() -> None:
    # Prompt 0 alone is marked in the statistics; its altered copies would show that, and lower its own scores.
    usual = draw_usual(200, 3)
    marked = usual.vectors.copy()
    marked[:PER_PROMPT, 32:] += 8
    usual = PromptedVectors(marked, usual.prompts)
    altered = joined([alter(usual, "first", 4), PromptedVectors(usual.vectors[50:60], np.full(10, DRAWN))])
    scores = held_out_scores(usual, altered, BOUNDS, STATISTICS)
    changed = PromptedVectors(altered.vectors.copy(), altered.prompts)
    changed.vectors[changed.prompts == 0] = 1e3  # whatever these are, the scores of their prompt stay
    again = held_out_scores(usual, changed, BOUNDS, STATISTICS)
    np.testing.assert_array_equal(scores[:PER_PROMPT], again[:PER_PROMPT])
    assert not np.array_equal(scores[PER_PROMPT:], again[PER_PROMPT:])


def test_statistics_of_pixels_alone() -> None:
    usual = draw_usual(200, 5)
    pixels = PromptedVectors(usual.vectors[:, 32:], usual.prompts)
    altered = PromptedVectors(alter(usual, "pixels", 6).vectors[::4, 32:], usual.prompts[::4])
    warning = train_warning(ENCODERS[1:], pixels, altered)
    assert warning.encoders == ("pixels@none",)
    assert (warning.shifts(alter(draw_usual(100, 7), "pixels", 8).vectors[:, 32:]) > 1).mean() > 0.9


def shifts_of(warning: ShiftWarning) -> NDArray[np.float64]:
    return warning.shifts(draw_usual(60, 70).vectors)


def test_a_file_gives_the_same_warning(tmp_path: Path) -> None:
    warning = trained(0, ("first", "pixels"), 120)
    write_warning(tmp_path / "shift.safetensors", warning)
    again = read_warning(tmp_path / "shift.safetensors")
    assert (again.encoders, again.images, again.altered) == (("light@none", "pixels@none"), 120, 48)
    np.testing.assert_allclose(shifts_of(again), shifts_of(warning), atol=1e-4)
    write_warning(tmp_path / "again.safetensors", trained(0, ("first", "pixels"), 120))
    assert (tmp_path / "again.safetensors").read_bytes() == (tmp_path / "shift.safetensors").read_bytes()


def test_files_that_are_damaged_or_of_an_earlier_version_are_named(tmp_path: Path) -> None:
    path = tmp_path / "shift.safetensors"
    save_file({"bounds": np.zeros(3, np.float32)}, path)
    with pytest.raises(WeightsError, match=r"shift\.safetensors: written by an earlier version; train the model"):
        read_warning(path)
    path.write_bytes(b"no")
    with pytest.raises(WeightsError, match=r"shift\.safetensors: not a warning of unlike images"):
        read_warning(path)


def test_columns_that_never_vary_do_not_break_it() -> None:
    usual = draw_usual(120, 0)
    usual.vectors[:, [3, 33]] = 2.0
    warning = train_warning(ENCODERS, usual, alter(usual, "first", 1))
    assert np.isfinite(warning.shifts(draw_usual(40, 1).vectors)).all()
