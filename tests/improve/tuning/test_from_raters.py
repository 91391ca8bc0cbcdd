"""Tuning by what raters say, and models of their answers: pairs, words, maps, realism, and resuming."""

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import torch
from click.testing import CliRunner
from tests.improve.tuning.test_commands import run, scorer  # noqa: F401 - a fixture
from tests.improve.tuning.toys import BRIGHT, Drifting
from tests.scorers.rich.conftest import SMALL

from beholder.cli.improve import improve
from beholder.collect.stage import run as collect
from beholder.consolidate.stage import run as consolidate
from beholder.design.stage import run as design
from beholder.errors import UserError
from beholder.improve.alarms.alarm import Alarm
from beholder.improve.tuning.adapters import base_weights, load_lora
from beholder.improve.tuning.losses import Prompts, _weighted_mean
from beholder.improve.tuning.material import best_material, pair_material, study_pairs
from beholder.improve.tuning.settings import TuneSettings
from beholder.improve.tuning.tune import Material, tune
from beholder.models.pipelines.pixel_flow.generator import PixelFlowGenerator
from beholder.models.pipelines.pixel_flow.network import PixelFlowNetwork, PixelFlowSettings
from beholder.models.pipelines.pixel_flow.training import save_pixel_flow
from beholder.models.pipelines.resumable import STATE
from beholder.models.pipelines.sampling import matching_errors
from beholder.models.realism import Realism, RealismSettings
from beholder.models.rich_feedback.model import RichFeedbackModel
from beholder.models.rich_feedback.trainable import FeedbackTensors
from beholder.models.weights.checkpoint import Record, save_checkpoint
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.question import Design
from beholder.tables.store import Store


@pytest.fixture
def compared(painted_study: Callable[..., Path]) -> Path:
    """A study whose simulated raters compared pairs of images."""
    folder = painted_study(PairQuestion(name="pairs", design=Design(raters=12, trials=60)))
    design(folder)
    collect(folder, people=12)
    consolidate(folder)
    return folder


@pytest.fixture
def flow(tmp_path: Path) -> Path:
    """A small flow in pixel space, with random weights."""
    torch.manual_seed(0)
    settings = PixelFlowSettings(vocabulary=("ball", "red"), widths=(8, 8, 16), text=16)
    save_pixel_flow(tmp_path / "flow", PixelFlowNetwork(settings), settings)
    return tmp_path / "flow"


def refused(*arguments: str) -> str:
    outcome = CliRunner().invoke(improve, list(arguments))
    assert isinstance(outcome.exception, UserError), outcome.output
    return str(outcome.exception)


def test_dpo_from_raters_own_pairs_prefers_what_they_preferred(compared: Path, flow: Path) -> None:
    name = f"pixel-flow:{flow}"
    options = ("--method", "dpo", "--steps", "8", "--rate", "0.01", "--images", "8")
    run("tune", str(compared), "--generator", name, *options)
    votes = study_pairs(compared)
    assert votes.height > 20
    generator = PixelFlowGenerator(flow)
    prompts = set(votes["text"])
    pairs = pair_material(compared, (), generator, prompts).pairs
    assert pairs is not None
    load_lora(compared / "improvements" / "tune" / "lora", generator)
    random = torch.Generator().manual_seed(5)
    noise = torch.randn(pairs.winners.shape, generator=random)
    times, rows = torch.rand(len(noise), generator=random), list(range(len(noise)))
    changes = []
    with torch.no_grad():
        for latents, first in ((pairs.winners, True), (pairs.losers, False)):
            context = pairs.context_of(rows, first)
            after = matching_errors(generator, latents, context, noise, times)
            with base_weights(generator):
                changes.append(after - matching_errors(generator, latents, context, noise, times))
    # The law: the denoising error of the image that more raters preferred falls relative to the other's.
    toward_first = changes[0] - changes[1]
    assert float((toward_first * (2 * pairs.share - 1)).mean()) < 0


def test_pairs_are_of_prompts_to_tune_on_and_of_generators_that_are_named(compared: Path, flow: Path) -> None:
    generators = (
        Store(compared).read("images").filter(~pl.col("real") & ~pl.col("gold"))["generator"].unique().sort()
    )
    two = study_pairs(compared, generators[:2].to_list())
    assert 0 < two.height < study_pairs(compared).height
    generator = PixelFlowGenerator(flow)
    prompt = two["text"][0]
    pairs = pair_material(compared, (), generator, [prompt]).pairs
    assert pairs is not None
    assert len(pairs.winners) == study_pairs(compared).filter(text=prompt).height
    common = (str(compared), "--method", "dpo", "--images", "8")
    assert "known: " in refused("tune", *common, "--generator", f"pixel-flow:{flow}", "--pairs-of", "nobody")
    assert "--pairs-of" in refused("tune", *common, "--generator", "painted:32")
    unknown_seeds = refused("tune", *common, "--generator", "painted:32", "--pairs-of", generators[0])
    assert "raters compared no two images" in unknown_seeds


def test_a_heatmap_weighs_the_loss(painted_study: Callable[..., Path], scorer: str) -> None:  # noqa: F811
    folder = painted_study(RatingQuestion(name="quality"))
    common = ("tune", str(folder), "--generator", "painted:32", "--method", "sft", "--steps", "3", "--images", "8")
    run(*common, "--scorer", f"{scorer}:plausibility", "--name", "plain")
    run(*common, "--scorer", f"{scorer}:plausibility", "--name", "weighed", "--weigh")
    files = [folder / "improvements" / name / "lora" / "lora.safetensors" for name in ("plain", "weighed")]
    assert files[0].read_bytes() != files[1].read_bytes()
    assert "rich-feedback model" in refused(*common, "--scorer", "sharpness", "--weigh", "--name", "other")


def test_an_image_that_weighs_less_as_a_whole_counts_less() -> None:
    # Errors 1 and 4 with weights .25 and .75: (.25 · 1 + .75 · 4) / 1 = 3.25.
    assert float(_weighted_mean(torch.tensor([1.0, 4.0]), torch.tensor([0.25, 0.75]))) == pytest.approx(3.25)


def test_weights_are_one_less_the_heatmap_at_the_size_of_the_latents(flow: Path) -> None:
    class UpperHalf:
        """Calls the upper half of every image implausible."""

        def with_gradients(self, images: torch.Tensor, prompts: list[str]) -> FeedbackTensors:
            levels = torch.zeros(len(prompts), *images.shape[2:])
            levels[:, : images.shape[2] // 2] = 0.75
            return FeedbackTensors(scores={}, heatmaps={"implausibility": levels})

    generator = PixelFlowGenerator(flow)
    prompts = ["red ball", "ball"]
    material = best_material(generator, prompts, BRIGHT, candidates=2, seed=0, heatmaps=UpperHalf())  # type: ignore[arg-type]
    assert material.examples is not None
    assert material.examples.weights is not None
    expected = torch.ones(2, 3, 32, 32)
    expected[:, :, :16] = 0.25
    assert torch.allclose(material.examples.weights, expected)


def test_words_by_the_command(painted_study: Callable[..., Path], tmp_path: Path) -> None:
    folder = painted_study(RatingQuestion(name="quality"))
    torch.manual_seed(0)
    model = RichFeedbackModel(SMALL.model_copy(update={"words": ("a", "photo", "red", "two")}))
    save_checkpoint(tmp_path / "rich", model, Record("rich-feedback", model.config, model.settings.scores))
    common = (str(folder), "--generator", "painted:32", "--scorer", str(tmp_path / "rich"), "--images", "8")
    printed = json.loads(run("words", *common, "--json"))
    measures = {row["measure"] for row in printed["gains"]}
    assert measures == {"ground truth", "control"}
    place = folder / "improvements" / "words"
    assert pl.read_parquet(place / "changes.parquet")["method"].unique().to_list() == ["words"]
    assert "control" in (place / "improvement.html").read_text(encoding="utf-8")
    wrong = refused(
        "words", str(folder), "--generator", "painted:32", "--scorer", str(tmp_path), "--name", "other"
    )
    assert str(tmp_path) in wrong


def test_a_realism_predictor_is_a_reward_by_the_command(
    painted_study: Callable[..., Path], tmp_path: Path
) -> None:
    folder = painted_study(RatingQuestion(name="quality"))
    torch.manual_seed(0)
    settings = RealismSettings(side=32, widths=(8, 8), hidden=8)
    config = {**settings.model_dump(mode="json"), "dims": 0, "aspects": ["realism"]}
    model = Realism(("realism",), settings, config)
    save_checkpoint(tmp_path / "realism", model, Record("realism", model.config, ("realism",)))
    common = (str(folder), "--generator", "painted:32", "--scorer", str(tmp_path / "realism"), "--images", "10")
    printed = json.loads(run("tune", *common, "--steps", "6", "--rate", "0.01", "--anchor", "0", "--json"))
    own = next(row for row in printed["gains"] if row["measure"] == "own")
    # The smaller the predicted proportion of raters who call it generated, the better: the reward is less that.
    assert -1 <= own["before"] <= 0
    assert own["gain"] > 0 or printed["step"] == 0
    assert {row["name"] for row in printed["gains"]} >= {"−detectability"}
    has_gradients = refused("tune", *common, "--method", "ddpo", "--name", "policy")
    assert "ddpo is for scorers without gradients" in has_gradients
    no_gradients = (*common[:4], "sharpness", *common[5:])
    assert "--method ddpo" in refused("tune", *no_gradients, "--name", "draft")


def test_a_command_that_was_killed_ends_with_equal_bits(
    painted_study: Callable[..., Path],
    scorer: str,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = painted_study(RatingQuestion(name="quality"))
    common = (str(folder), "--generator", "painted:32", "--scorer", f"{scorer}:plausibility", "--images", "8")
    options = ("--steps", "14", "--rate", "0.002")
    run("tune", *common, *options, "--name", "at-once")
    with monkeypatch.context() as patch:
        patch.setattr("beholder.models.pipelines.resumable.Run.__setattr__", _killed_at(12))
        outcome = CliRunner().invoke(improve, ["tune", *common, *options, "--name", "killed"])
    assert outcome.exit_code != 0
    state = folder / "improvements" / "killed.state" / STATE
    assert torch.load(state, weights_only=True)["step"] == 10
    assert not (folder / "improvements" / "killed").exists()
    run("tune", *common, *options, "--name", "killed")
    lora = [folder / "improvements" / name / "lora" / "lora.safetensors" for name in ("at-once", "killed")]
    assert lora[0].read_bytes() == lora[1].read_bytes()
    images = [pl.read_parquet(path.parents[1] / "changes.parquet")["after"] for path in lora]
    assert all(
        (folder / one).read_bytes() == (folder / other).read_bytes() for one, other in zip(*images, strict=True)
    )
    assert not state.parent.exists()


def _killed_at(step: int) -> Callable[[object, str, object], None]:
    def set_and_die(run_state: object, name: str, content: object) -> None:
        object.__setattr__(run_state, name, content)
        if name == "step" and content == step:
            raise KeyboardInterrupt

    return set_and_die


def test_a_run_that_an_alarm_ended_stays_ended_when_it_is_resumed(tmp_path: Path) -> None:
    def look() -> list[Alarm]:
        raised = len(looks) >= 2
        looks.append(1)
        return [Alarm("colour", 2.0, 1.5, 2.5, 1.0, raised, "colours changed")]

    looks: list[int] = []
    material = Material(prompts=Prompts(("1", "2"), (1, 2)), reward=BRIGHT)
    settings = TuneSettings(steps=40, check_every=5, batch=2)
    first = tune(Drifting(), material, settings, tmp_path, look=look)
    again = tune(Drifting(), material, settings, tmp_path, look=look)
    assert (first.steps, first.step) == (again.steps, again.step) == (10, 5)
    assert len(looks) == 3  # the second call takes no step, and so does not look
