"""Distances that grow batch by batch: equal to torchmetrics and prdc on the same features."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from PIL import Image
from prdc import compute_prdc
from torchmetrics.image.fid import FrechetInceptionDistance
from torchmetrics.image.kid import KernelInceptionDistance

from beholder.distances.catalogue import Sets, compute_distances
from beholder.distances.frechet import frechet
from beholder.errors import UserError
from beholder.metrics import PRDC, FrechetDistance, ImageSetMetric, KernelDistance
from beholder.models.encoders.catalogue import load_encoder

SIDE, DIMS = 8, 6


class Projection(torch.nn.Module):
    """A feature extractor that torchmetrics takes: pixels times a fixed matrix."""

    num_features = DIMS

    def __init__(self) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        self.matrix = torch.randn(3 * SIDE * SIDE, DIMS, generator=generator, dtype=torch.float64)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return (images.double() / 255 - 0.5).flatten(1) @ self.matrix


@pytest.fixture(scope="module")
def batches() -> list[tuple[torch.Tensor, bool]]:
    """Forty real and forty generated images in batches of different sizes."""
    generator = torch.Generator().manual_seed(1)
    shapes = ((16, True), (10, False), (24, True), (30, False))
    return [
        (torch.randint(0, 200 if real else 256, (n, 3, SIDE, SIDE), generator=generator, dtype=torch.uint8), real)
        for n, real in shapes
    ]


def features(batches: list[tuple[torch.Tensor, bool]], *, real: bool) -> NDArray[np.float64]:
    return torch.cat([Projection()(images) for images, is_real in batches if is_real is real]).numpy()


class TestOracles:
    def test_the_frechet_distance_is_that_of_torchmetrics(self, batches: list[tuple[torch.Tensor, bool]]) -> None:
        ours = FrechetDistance(encoder=Projection())
        theirs = FrechetInceptionDistance(feature=Projection()).set_dtype(torch.float64)
        for images, real in batches:
            ours.update(images, real=real)
            theirs.update(images, real=real)
        assert float(ours.compute()) == pytest.approx(float(theirs.compute()), rel=1e-9)

    @pytest.mark.filterwarnings("ignore:Metric `Kernel Inception Distance` will save all extracted features")
    def test_the_kernel_distance_is_that_of_torchmetrics(self, batches: list[tuple[torch.Tensor, bool]]) -> None:
        ours = KernelDistance(encoder=Projection())
        subsets: dict[str, Any] = {"subsets": 1, "subset_size": 40}  # one subset of all images: nothing is drawn
        theirs = KernelInceptionDistance(feature=Projection(), **subsets)
        for images, real in batches:
            ours.update(images, real=real)
            theirs.update(images, real=real)
        assert float(ours.compute()) == pytest.approx(float(theirs.compute()[0]), rel=1e-6)
        by_subsets = KernelDistance(encoder=Projection(), subsets=2, subset_size=40)
        by_subsets.merge_state(ours.metric_state)
        assert float(by_subsets.compute()) == pytest.approx(float(ours.compute()), rel=1e-9)

    def test_precision_and_the_others_are_those_of_prdc(self, batches: list[tuple[torch.Tensor, bool]]) -> None:
        ours = PRDC(encoder=Projection(), k=3)
        for images, real in batches:
            ours.update(images, real=real)
        theirs = compute_prdc(features(batches, real=True), features(batches, real=False), nearest_k=3)
        assert {name: float(figure) for name, figure in ours.compute().items()} == pytest.approx(theirs)


class TestState:
    def test_batches_shards_and_order_do_not_matter(self, batches: list[tuple[torch.Tensor, bool]]) -> None:
        expected = frechet(features(batches, real=True), features(batches, real=False))
        first, second = FrechetDistance(encoder=None), FrechetDistance(encoder=None)
        for place, (images, real) in enumerate(batches):
            (first, second)[place % 2].update(Projection()(images), real=real)
        second.merge_state(first)
        assert second.compute().value == pytest.approx(expected.value, rel=1e-12)
        assert second.compute().low == pytest.approx(expected.low, rel=1e-9)
        assert (second.compute().real, second.compute().generated) == (40, 40)

    def test_a_reset_forgets_all_or_only_what_was_generated(self) -> None:
        rng = np.random.default_rng(0)
        real, generated = rng.normal(0, 1, (30, 2)), rng.normal(1, 1, (30, 2))
        keeping = FrechetDistance(encoder=None, reset_real_features=False)
        keeping.update(real, real=True)
        keeping.update(rng.normal(5, 1, (30, 2)), real=False)
        keeping.reset()
        keeping.update(generated, real=False)
        assert float(keeping.compute()) == pytest.approx(frechet(real, generated).value)
        forgetting = FrechetDistance(encoder=None)
        forgetting.update(real, real=True)
        forgetting.reset()
        assert repr(forgetting) == "FrechetDistance(own features): 0 real, 0 generated"
        with pytest.raises(UserError, match="real"):
            forgetting.compute()

    def test_only_the_same_settings_are_merged(self) -> None:
        with pytest.raises(UserError, match="settings differ"):
            PRDC(encoder=None, k=3).merge_state(PRDC(encoder=None, k=5))
        with pytest.raises(UserError, match="settings differ"):
            FrechetDistance("pixel").merge_state(FrechetDistance("pixel", background="#000000"))
        with pytest.raises(UserError, match="real, generated is expected; found: scores"):
            FrechetDistance(encoder=None).merge_state({"scores": np.zeros((1, 1))})

    def test_features_of_another_width_are_refused(self) -> None:
        metric = KernelDistance(encoder=None)
        metric.update(np.zeros((3, 4)), real=True)
        with pytest.raises(UserError, match="use one encoder"):
            metric.update(np.zeros((3, 5)), real=False)
        with pytest.raises(UserError, match=r"\(images, dims\); found \(3,\)"):
            metric.update(np.zeros(3), real=False)


class TestEncoders:
    def test_images_are_encoded_as_files_are(self, photographs: Path) -> None:
        files = sorted(photographs.iterdir())
        encoder = load_encoder("pixel")
        opened = [Image.open(file).convert("RGB") for file in files]
        metric = KernelDistance("pixel")
        metric.update(opened[:12], real=True)
        metric.update(opened[12:], real=False)
        vectors = encoder.encode(np.asarray(image) for image in opened)
        expected = compute_distances(["kernel"], Sets(vectors[:12], vectors[12:]))["kernel"]
        assert metric.compute() == expected

    def test_any_distance_by_its_name(self) -> None:
        rng = np.random.default_rng(0)
        metric = ImageSetMetric("frechet_infinity", encoder=None, seed=3)
        real, generated = rng.normal(0, 1, (120, 3)), rng.normal(1, 1, (120, 3))
        metric.update(real, real=True)
        metric.update(generated, real=False)
        assert (
            metric.compute()
            == compute_distances(["frechet_infinity"], Sets(real, generated, seed=3))["frechet_infinity"]
        )
        with pytest.raises(UserError, match="Did you mean 'frechet'"):
            ImageSetMetric("frechett", encoder=None)
        with pytest.raises(UserError, match="metric 'ct' is not known"):
            ImageSetMetric("ct", encoder=None)  # it needs training images, which an update cannot name
