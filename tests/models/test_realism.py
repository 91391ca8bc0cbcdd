"""The realism predictor: its likelihood, its calibration, both ways to see, and its checkpoints."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from scipy import special

from beholder.errors import LabelsError, RecipeError
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
    made = build(configure(SMALL | settings, [], aspects), fresh=True)
    made.module.eval()
    return made


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
        found = log_likelihood(
            torch.tensor([[2.0], [0.0]]),
            torch.tensor([[3.0], [0.0]]),
            torch.tensor([[logit], [logit]]),
            torch.tensor([np.log(0.5)]),
        )
        assert found[:, 0].tolist() == pytest.approx([np.log(0.072), 0.0])

    def test_it_is_the_statistic(self) -> None:
        rng = np.random.default_rng(0)
        n = rng.integers(1, 30, 200).astype(np.float64)
        k, logits = np.floor(rng.random(200) * (n + 1)), rng.normal(0, 3, 200)
        for dispersion in (1e-6, 0.2, 4.0):
            said, asked, given = (torch.from_numpy(one)[:, None] for one in (k, n, logits))
            spread = torch.tensor([np.log(dispersion)], dtype=torch.float64)
            found = log_likelihood(said, asked, given, spread)[:, 0]
            expected = beta_binomial.log_likelihood(k, n, special.expit(logits), dispersion)
            np.testing.assert_allclose(found.numpy(), expected, atol=1e-9)

    def test_gradients_are_finite_however_certain(self) -> None:
        logits = torch.tensor([[-200.0], [200.0], [0.0]], requires_grad=True)
        dispersion = torch.tensor([-10.0], requires_grad=True)
        found = log_likelihood(torch.tensor([[1.0], [0.0], [1.0]]), torch.full((3, 1), 2.0), logits, dispersion)
        torch.autograd.backward(found.sum())
        assert logits.grad is not None
        assert dispersion.grad is not None
        assert logits.grad[:, 0].tolist() == pytest.approx([1.0, -1.0, 0.0], abs=1e-3)
        assert dispersion.grad.isfinite().all()

    def test_labels_without_answers_do_not_count(self) -> None:
        made = model()
        alone, more = batch([[0.5]], [[4.0]]), batch([[0.5], [NAN]], [[4.0], [0.0]])
        assert torch.equal(more.pixels[:1], alone.pixels)
        assert made.loss(more).item() == pytest.approx(made.loss(alone).item(), rel=1e-5)

    def test_nobody_asked_is_refused(self) -> None:
        with pytest.raises(LabelsError, match="nobody was asked about realism"):
            model().loss(batch([[0.5]], [[0.0]]))

    @pytest.mark.parametrize("value", [-0.5, 3.0, NAN])
    def test_what_is_no_share_is_refused(self, value: float) -> None:
        with pytest.raises(LabelsError, match="shares from 0 to 1 are expected"):
            model().loss(batch([[0.5], [value]], [[2.0], [4.0]]))

    def test_it_learns_the_way_round_that_people_answered(self) -> None:
        """Bright images are called generated: shares of bright ones come out high."""
        made = model(dropout=0.0)
        shown = batch([[0.0]] * 64, [[5.0]] * 64)
        bright = shown.pixels.mean((1, 2, 3))
        shown.pixels[:] += 20 * bright[:, None, None, None]
        shown.ratings[:] = (bright > 0).float()[:, None]
        optimiser = torch.optim.AdamW(made.parameter_groups(1e-2, 0.0))
        made.module.train()
        for _ in range(40):
            optimiser.zero_grad()
            torch.autograd.backward(made.loss(shown))
            optimiser.step()
            made.after_step()
        made.module.eval()
        shares = made.predict(shown)["realism"].detach()
        assert shares[bright > 0].mean() > 0.8
        assert shares[bright < 0].mean() < 0.2


class TestCalibration:
    def shown(self, made: Realism, aspects: tuple[str, ...] = ("realism",)) -> list[Batch]:
        """Answers of people who follow twice the model's logit, and lean to *generated*."""
        rng = np.random.default_rng(0)
        parts = []
        for _ in range(4):
            whole = batch([[NAN] * len(aspects)] * 500, [[0.0] * len(aspects)] * 500, aspects)
            whole.pixels[:] = torch.from_numpy(rng.normal(0, 1, whole.pixels.shape))
            with torch.no_grad():
                logits = made.module(whole.pixels)[:, 0].numpy()
            said = rng.binomial(10, special.expit(2 * logits + 1))
            whole.ratings[:, -1], whole.answers[:, -1] = torch.from_numpy(said / 10), 10.0
            parts.append(whole)
        return parts

    def test_a_planted_line_is_found_and_the_order_stays(self) -> None:
        made = model()
        with torch.no_grad():
            made.module.head[-1].weight.mul_(20)  # type: ignore[operator]
        shown = self.shown(made)
        before = made.predict(shown[0])["realism"].detach().numpy()
        assert isinstance(made, Calibratable)
        made.calibrate(shown)
        assert made.module.slope.item() == pytest.approx(2, rel=0.15)
        assert made.module.offset.item() == pytest.approx(1, rel=0.15)
        after = made.predict(shown[0])["realism"].detach().numpy()
        assert np.array_equal(np.argsort(before), np.argsort(after))
        expected = special.expit(made.module.slope.item() * special.logit(before.astype(np.float64)) + 1)
        np.testing.assert_allclose(after, expected, atol=0.05)

    def test_only_what_people_were_asked_about_changes(self) -> None:
        made = model(("other", "realism"))
        made.calibrate(self.shown(made, ("other", "realism")))
        assert (made.module.slope[0].item(), made.module.offset[0].item()) == (1, 0)
        assert made.module.offset[1].item() != 0


class TestSight:
    def test_its_own_network_takes_pixels_and_mirrors_some_in_training(self) -> None:
        made = model()
        pixels = np.random.default_rng(0).integers(0, 255, (40, 30, 3), np.uint8)
        plain = made.prepare(Image.fromarray(pixels), None)
        assert plain.shape == (3, 16, 16)
        drawn = [made.prepare(Image.fromarray(pixels), np.random.default_rng(seed)) for seed in range(8)]
        mirrored = [np.array_equal(one, plain[:, :, ::-1]) for one in drawn]
        assert {True, False} == set(mirrored)
        assert all(turned or np.array_equal(one, plain) for turned, one in zip(mirrored, drawn, strict=True))
        assert made.encoders == ()

    def test_features_are_those_of_the_encoders(self) -> None:
        made = build(configure(FEATURES, [], ["realism"]), fresh=True)
        assert isinstance(made, UsesEncoders)
        pixels = np.random.default_rng(0).integers(0, 255, (40, 40, 3), np.uint8)
        found = made.prepare(Image.fromarray(pixels), np.random.default_rng(0))
        np.testing.assert_array_equal(found, made.encoders[0].encode([pixels])[0])
        assert made.config["dims"] == len(found)
        made.module.eval()
        assert made.module(torch.from_numpy(found)[None]).shape == (1, 1)


@pytest.mark.parametrize("settings", [SMALL, FEATURES])
def test_a_checkpoint_gives_the_same_shares_calibrated(tmp_path: Path, settings: dict[str, Plain]) -> None:
    made = build(configure(settings, [], ["realism"]), fresh=True)
    made.module.eval()
    made.module.set_line(0, 1.7, -0.4, 0.2)
    shown = torch.rand(5, 3072) if settings is FEATURES else torch.rand(5, 3, 16, 16)
    save_checkpoint(tmp_path, made, Record("realism", made.config, ("realism",)))
    loaded, _ = load_checkpoint(tmp_path)
    assert isinstance(loaded, Realism)
    torch.testing.assert_close(
        loaded.module.proportions(loaded.module(shown)), made.module.proportions(made.module(shown))
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
