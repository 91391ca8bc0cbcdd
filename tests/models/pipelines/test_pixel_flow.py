"""The pixel flow: training that resumes to equal bits, words that can be left out, and inpainting."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from beholder.errors import WeightsError
from beholder.models.pipelines.flow_inpainter import FlowInpainter
from beholder.models.pipelines.inpainter import inpaint_within
from beholder.models.pipelines.pixel_flow.generator import PixelFlowGenerator
from beholder.models.pipelines.pixel_flow.network import PixelFlowNetwork, PixelFlowSettings
from beholder.models.pipelines.pixel_flow.training import (
    CURVE,
    PixelFlowTraining,
    load_pixel_flow,
    save_pixel_flow,
    train_pixel_flow,
    word_numbers,
)
from beholder.models.pipelines.sampling import matching_errors, sample

PROMPTS = ("a red ball", "two blue cubes")
TRAINING = PixelFlowTraining(steps=4, batch=2, save_every=2)


@pytest.fixture
def images() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (2, 32, 32, 3)).astype(np.uint8)


class KilledError(Exception):
    """Stands for the end of the process."""


def kill(done: int, _: int) -> None:
    if done == 2:
        raise KilledError


def test_a_training_that_was_killed_ends_with_equal_bits(images: np.ndarray, tmp_path: Path) -> None:
    at_once = train_pixel_flow(images, PROMPTS, tmp_path / "at-once", TRAINING)
    with pytest.raises(KilledError):
        train_pixel_flow(images, PROMPTS, tmp_path / "parts", TRAINING, progress=kill)
    again = train_pixel_flow(images, PROMPTS, tmp_path / "parts", TRAINING)
    for name, tensor in at_once.state_dict().items():
        assert torch.equal(tensor, again.state_dict()[name]), name
    assert not (tmp_path / "parts" / "state.pt").exists()
    curves = [json.loads((tmp_path / name / CURVE).read_text(encoding="utf-8")) for name in ("at-once", "parts")]
    assert [note["step"] for note in curves[0]] == [2, 4]
    assert curves[0] == curves[1]
    loaded, settings = load_pixel_flow(tmp_path / "parts")
    assert settings.vocabulary == ("a", "ball", "blue", "cubes", "red", "two")
    assert torch.equal(loaded.enter.weight, at_once.enter.weight)
    with pytest.raises(WeightsError, match="no pixel flow can be read here"):
        load_pixel_flow(tmp_path)


def test_words_that_are_unknown_or_left_out_have_a_number_of_their_own() -> None:
    settings = PixelFlowSettings(vocabulary=("ball", "red"), longest=4)
    numbers = word_numbers(["red ball", "red sun", "", "red ball"], settings, [(), (), (), (0,)])
    assert numbers.tolist() == [[3, 2, 0, 0], [3, 1, 0, 0], [1, 0, 0, 0], [1, 2, 0, 0]]


@pytest.fixture
def generator(tmp_path: Path) -> PixelFlowGenerator:
    torch.manual_seed(0)
    settings = PixelFlowSettings(vocabulary=("ball", "red"))
    save_pixel_flow(tmp_path / "flow", PixelFlowNetwork(settings), settings)
    return PixelFlowGenerator(tmp_path / "flow")


def test_it_samples_and_its_words_matter(generator: PixelFlowGenerator) -> None:
    drawn = sample(generator, ["red ball", "red ball"], [1, 2], steps=2)
    assert drawn.images.shape == (2, 3, 32, 32)
    assert torch.equal(drawn.images, sample(generator, ["red ball", "red ball"], [1, 2], steps=2).images)
    noise = generator.noise(["red ball"], [1])
    moment = torch.tensor([0.5])
    leaving: tuple[list[list[int]] | None, ...] = (None, [[0]], [[]])
    velocities = [
        generator.velocity(noise, moment, generator.context(["red ball"], [1], without)) for without in leaving
    ]
    assert not torch.equal(velocities[0], velocities[1])
    assert torch.equal(velocities[0], velocities[2])


def test_the_loss_of_training_by_hand(generator: PixelFlowGenerator) -> None:
    context, clean = generator.context(["ball"], [1]), torch.zeros(1, 3, 32, 32)
    noise, moment = torch.ones_like(clean), torch.tensor([0.25])
    velocity = generator.velocity(torch.full_like(clean, 0.25), moment, context)
    with torch.no_grad():
        error = matching_errors(generator, clean, context, noise, moment)
        assert error.item() == pytest.approx(float((velocity - 1).square().mean().detach()), rel=1e-5)
        left = torch.zeros_like(clean)
        left[..., :16] = 1
        weighed = matching_errors(generator, clean, context, noise, moment, left)
        assert weighed.item() == pytest.approx(float((velocity - 1)[..., :16].square().mean().detach()), rel=1e-5)


def test_it_inpaints_larger_images_and_nothing_outside_the_mask(generator: PixelFlowGenerator) -> None:
    image = np.random.default_rng(0).integers(0, 256, (48, 40, 3)).astype(np.uint8)
    mask = np.zeros((48, 40), np.bool_)
    mask[10:30, 5:20] = True
    (painted,) = inpaint_within(FlowInpainter(generator), [image], [mask], ["red ball"], [4])
    assert (painted[~mask] == image[~mask]).all()
    assert (painted[mask] != image[mask]).any()
