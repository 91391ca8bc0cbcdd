"""The realism predictor: its likelihood, its calibration, both ways to see, and its checkpoints."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from scipy import special
from tests.models.caption_folders import write_caption_folder

from beholder.errors import LabelsError, RecipeError, WeightsError
from beholder.models.realism import Realism, build, configure, log_likelihood
from beholder.models.trainable import Batch, Calibratable, UsesEncoders
from beholder.models.weights.checkpoint import Record, load_checkpoint, save_checkpoint
from beholder.stats.prediction import beta_binomial
from beholder.tables.provenance import Plain

SMALL: dict[str, Plain] = {"side": 16, "widths": [4, 8], "hidden": 8}
FEATURES: dict[str, Plain] = {"encoders": ["pixel"], "hidden": 8}
NAN = float("nan")


def model(aspects: tuple[str, ...] = ("realism",), **settings: Plain) -> Realism:
    torch.manual_seed(0)
    realism = build(configure(SMALL | settings, [], aspects), fresh=True)
    realism.module.eval()
    return realism


def batch(
    shares: list[list[float]], answers: list[list[float]], aspects: tuple[str, ...] = ("realism",), side: int = 16
) -> Batch:
    torch.manual_seed(1)
    return Batch(
        prompts=("",),
        pixels=torch.randn(len(shares), 3, side, side),
        prompt_of=torch.zeros(len(shares), dtype=torch.int64),
        pairs=torch.empty(0, 2, dtype=torch.int64),
        soft_labels=torch.empty(0),
        pair_weights=torch.empty(0),
        aspects=aspects,
        ratings=torch.tensor(shares),
        answers=torch.tensor(answers),
    )


class TestLoss:
    def test_by_hand(self) -> None:
        # 2 of 3, μ = .4, θ = .5 as worked in the tests of the statistic: .072; nobody asked: 0
        logit = float(special.logit(0.4))
        likelihood = log_likelihood(
            torch.tensor([[2.0], [0.0]]),
            torch.tensor([[3.0], [0.0]]),
            torch.tensor([[logit], [logit]]),
            torch.tensor([np.log(0.5)]),
        )
        assert likelihood[:, 0].tolist() == pytest.approx([np.log(0.072), 0.0])

    def test_it_is_the_statistic(self) -> None:
        rng = np.random.default_rng(0)
        n = rng.integers(1, 30, 200).astype(np.float64)
        k, logits = np.floor(rng.random(200) * (n + 1)), rng.normal(0, 3, 200)
        for dispersion in (1e-6, 0.2, 4.0):
            generated, answers, tensor_logits = (torch.from_numpy(array)[:, None] for array in (k, n, logits))
            spread = torch.tensor([np.log(dispersion)], dtype=torch.float64)
            likelihood = log_likelihood(generated, answers, tensor_logits, spread)[:, 0]
            expected = beta_binomial.log_likelihood(k, n, special.expit(logits), dispersion)
            np.testing.assert_allclose(likelihood.numpy(), expected, atol=1e-9)

    def test_gradients_are_finite_however_certain(self) -> None:
        logits = torch.tensor([[-200.0], [200.0], [0.0]], requires_grad=True)
        dispersion = torch.tensor([-10.0], requires_grad=True)
        likelihood = log_likelihood(
            torch.tensor([[1.0], [0.0], [1.0]]), torch.full((3, 1), 2.0), logits, dispersion
        )
        torch.autograd.backward(likelihood.sum())
        assert logits.grad is not None
        assert dispersion.grad is not None
        assert logits.grad[:, 0].tolist() == pytest.approx([1.0, -1.0, 0.0], abs=1e-3)
        assert dispersion.grad.isfinite().all()

    def test_labels_without_answers_do_not_count(self) -> None:
        realism = model()
        alone, more = batch([[0.5]], [[4.0]]), batch([[0.5], [NAN]], [[4.0], [0.0]])
        assert torch.equal(more.pixels[:1], alone.pixels)
        assert realism.loss(more).item() == pytest.approx(realism.loss(alone).item(), rel=1e-5)

    def test_nobody_asked_is_refused(self) -> None:
        with pytest.raises(LabelsError, match="nobody was asked about realism"):
            model().loss(batch([[0.5]], [[0.0]]))

    @pytest.mark.parametrize("value", [-0.5, 3.0, NAN])
    def test_what_is_no_share_is_refused(self, value: float) -> None:
        with pytest.raises(LabelsError, match="shares from 0 to 1 are expected"):
            model().loss(batch([[0.5], [value]], [[2.0], [4.0]]))

    def test_it_learns_the_direction_of_the_answers(self) -> None:
        """Bright images are called generated: the predicted proportions of bright ones are high."""
        realism = model(dropout=0.0)
        labelled = batch([[0.0]] * 64, [[5.0]] * 64)
        bright = labelled.pixels.mean((1, 2, 3))
        labelled.pixels[:] += 20 * bright[:, None, None, None]
        labelled.ratings[:] = (bright > 0).float()[:, None]
        optimiser = torch.optim.AdamW(realism.parameter_groups(1e-2, 0.0))
        realism.module.train()
        for _ in range(40):
            optimiser.zero_grad()
            torch.autograd.backward(realism.loss(labelled))
            optimiser.step()
            realism.after_step()
        realism.module.eval()
        shares = realism.predict(labelled)["realism"].detach()
        assert shares[bright > 0].mean() > 0.8
        assert shares[bright < 0].mean() < 0.2


class TestCalibration:
    def labelled(self, realism: Realism, aspects: tuple[str, ...] = ("realism",)) -> list[Batch]:
        """Answers of people who follow twice the model's logit, and lean to *generated*."""
        rng = np.random.default_rng(0)
        parts = []
        for _ in range(4):
            images = batch([[NAN] * len(aspects)] * 500, [[0.0] * len(aspects)] * 500, aspects)
            images.pixels[:] = torch.from_numpy(rng.normal(0, 1, images.pixels.shape))
            with torch.no_grad():
                logits = realism.module(images.pixels)[:, 0].numpy()
            generated = rng.binomial(10, special.expit(2 * logits + 1))
            images.ratings[:, -1], images.answers[:, -1] = torch.from_numpy(generated / 10), 10.0
            parts.append(images)
        return parts

    def test_a_planted_line_is_found_and_the_order_stays(self) -> None:
        realism = model()
        with torch.no_grad():
            realism.module.head[-1].weight.mul_(20)  # type: ignore[operator]
        labelled = self.labelled(realism)
        before = realism.predict(labelled[0])["realism"].detach().numpy()
        assert isinstance(realism, Calibratable)
        realism.calibrate(labelled)
        assert realism.module.slope.item() == pytest.approx(2, rel=0.15)
        assert realism.module.offset.item() == pytest.approx(1, rel=0.15)
        after = realism.predict(labelled[0])["realism"].detach().numpy()
        assert np.array_equal(np.argsort(before), np.argsort(after))
        expected = special.expit(realism.module.slope.item() * special.logit(before.astype(np.float64)) + 1)
        np.testing.assert_allclose(after, expected, atol=0.05)

    def test_only_what_people_were_asked_about_changes(self) -> None:
        realism = model(("other", "realism"))
        realism.calibrate(self.labelled(realism, ("other", "realism")))
        assert (realism.module.slope[0].item(), realism.module.offset[0].item()) == (1, 0)
        assert realism.module.offset[1].item() != 0


class TestSight:
    def test_its_own_network_takes_pixels_and_mirrors_some_in_training(self) -> None:
        realism = model()
        pixels = np.random.default_rng(0).integers(0, 255, (40, 30, 3), np.uint8)
        plain = realism.prepare(Image.fromarray(pixels), None)
        assert plain.shape == (3, 16, 16)
        drawn = [realism.prepare(Image.fromarray(pixels), np.random.default_rng(seed)) for seed in range(8)]
        mirrored = [np.array_equal(array, plain[:, :, ::-1]) for array in drawn]
        assert {True, False} == set(mirrored)
        assert all(turned or np.array_equal(array, plain) for turned, array in zip(mirrored, drawn, strict=True))
        assert realism.encoders == ()

    def test_features_are_those_of_the_encoders(self) -> None:
        realism = build(configure(FEATURES, [], ["realism"]), fresh=True)
        assert isinstance(realism, UsesEncoders)
        pixels = np.random.default_rng(0).integers(0, 255, (40, 40, 3), np.uint8)
        likelihood = realism.prepare(Image.fromarray(pixels), np.random.default_rng(0))
        np.testing.assert_array_equal(likelihood, realism.encoders[0].encode([pixels])[0])
        assert realism.config["dims"] == len(likelihood)
        realism.module.eval()
        assert realism.module(torch.from_numpy(likelihood)[None]).shape == (1, 1)


@pytest.mark.parametrize("settings", [SMALL, FEATURES])
def test_a_checkpoint_gives_the_same_shares_calibrated(tmp_path: Path, settings: dict[str, Plain]) -> None:
    realism = build(configure(settings, [], ["realism"]), fresh=True)
    realism.module.eval()
    realism.module.set_line(0, 1.7, -0.4, 0.2)
    labelled = torch.rand(5, 3072) if settings is FEATURES else torch.rand(5, 3, 16, 16)
    save_checkpoint(tmp_path, realism, Record("realism", realism.config, ("realism",)))
    loaded, _ = load_checkpoint(tmp_path)
    assert isinstance(loaded, Realism)
    torch.testing.assert_close(
        loaded.module.proportions(loaded.module(labelled)), realism.module.proportions(realism.module(labelled))
    )
    assert loaded.module.log_dispersion.exp().item() == pytest.approx(0.2)


def test_all_faults_of_settings_at_once() -> None:
    wrong: dict[str, Plain] = {"encoders": ["eyes"], "side": 18, "widths": [4, 8]}
    with pytest.raises(RecipeError) as caught:
        configure(wrong, [], ["realism"])
    for part in ("encoder 'eyes' is not known", "must be halved 2 times"):
        assert part in str(caught.value)
    with pytest.raises(RecipeError, match="depth"):
        configure({"depth": 3}, [], ["realism"])


def test_features_by_weights_of_a_folder(tmp_path: Path) -> None:
    folder = write_caption_folder(tmp_path / "clip", "clip")
    realism = model(encoders=["clip"], weights={"clip": str(folder)})
    assert realism.config["dims"] == 12
    image = Image.new("RGB", (32, 32), "red")
    assert realism.prepare(image, None).shape == (12,)
    save_checkpoint(tmp_path / "model", realism, Record("realism", realism.config, ("realism",)))
    write_caption_folder(folder, "clip", seed=2)
    with pytest.raises(WeightsError, match="train it again"):
        load_checkpoint(tmp_path / "model")[0].prepare(image, None)
    with pytest.raises(RecipeError, match="not among the encoders"):
        model(weights={"clip": str(folder)})
