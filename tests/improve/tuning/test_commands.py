"""The commands guide, tune and words on a study, with a scorer of random weights: what they write and print."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import torch
from click.testing import CliRunner
from PIL import Image

from beholder.cli.improve import improve
from beholder.errors import RefusalError
from beholder.improve.tuning import worker
from beholder.models.rich_feedback.cnn import CnnSettings, RichCnn
from beholder.models.rich_feedback.grounded.model import GroundedModel
from beholder.models.rich_feedback.grounded.settings import GroundedSettings
from beholder.models.rich_feedback.settings import Heads
from beholder.models.weights.checkpoint import Record, save_checkpoint
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.words import split_words
from beholder.workers.messages import ImageRequest

PROMPT = "two red balls, in a meadow, photo style"


@pytest.fixture(scope="module")
def scorer(tmp_path_factory: pytest.TempPathFactory) -> str:
    torch.manual_seed(0)
    settings = CnnSettings(
        side=32,
        stem=8,
        widths=(8, 16),
        depths=(1, 1),
        blocks="basic",
        heads=Heads(heatmap=(8,), score=(8,), dense=(8,)),
    )
    folder = tmp_path_factory.mktemp("scorer")
    save_checkpoint(folder, RichCnn(settings), Record("rich-cnn", RichCnn(settings).config, settings.scores))
    return str(folder)


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model that reads prompts, with random weights: it calls about half of all words misaligned."""
    torch.manual_seed(1)
    vocabulary = tuple(sorted(set(split_words(PROMPT))))
    settings = GroundedSettings(
        width=16, blocks=1, heads=2, layers=1, channels=4, pointers=2, head_width=8, words=vocabulary
    )
    model, folder = GroundedModel(settings), tmp_path_factory.mktemp("reader")
    save_checkpoint(folder, model, Record("rich-grounded", model.config, settings.scores))
    return str(folder)


def run(*arguments: str) -> str:
    outcome = CliRunner().invoke(improve, list(arguments))
    assert outcome.exit_code == 0, outcome.output
    return outcome.stdout


def test_guide_tune_and_their_tables(painted_study: Callable[..., Path], scorer: str) -> None:
    folder = painted_study(RatingQuestion(name="quality"))
    common = (str(folder), "--generator", "painted:32", "--images", "10")
    guided = json.loads(
        run("guide", *common, "--scorer", f"{scorer}:plausibility", "--noise-steps", "2", "--json")
    )
    own = next(row for row in guided["gains"] if row["measure"] == "own")
    assert own["gain"] > 0
    assert {row["name"] for row in guided["gains"] if row["measure"] == "ground truth"} >= {"overall", "alignment"}
    printed = run(
        "tune", *common, "--scorer", f"{scorer}:implausibility-map", "--steps", "2", "--held-out", scorer
    )
    assert "2 steps; the weights of step" in printed
    place = folder / "improvements" / "tune"
    assert (place / "lora" / "lora.safetensors").is_file()
    assert not place.with_name("tune.state").exists()
    changes = pl.read_parquet(place / "changes.parquet")
    assert changes["method"].unique().to_list() == ["tune"]
    assert all((folder / path).is_file() for path in (*changes["before"], *changes["after"]))
    assert changes["truth_before"].null_count() == 0
    watches = set(pl.read_parquet(place / "alarms.parquet")["watch"])
    assert {"diversity", "realism", "colour", "frequency", "distance"} < watches
    refused = CliRunner().invoke(improve, ["tune", *common, "--method", "dpo", "--name", "pairs"])
    assert refused.exit_code != 0
    assert "--pairs-of" in str(refused.exception)


def test_words_follows_what_the_recommended_model_says_is_missed(
    painted_study: Callable[..., Path], reader: str, scorer: str
) -> None:
    folder = painted_study(RatingQuestion(name="quality"))
    common = (str(folder), "--generator", "painted:32", "--images", "8")
    followed = json.loads(run("words", *common, "--scorer", reader, "--threshold", "0.1", "--json"))
    true, control = (
        {row["name"]: row for row in followed["gains"] if row["measure"] == measure}
        for measure in ("ground truth", "control")
    )
    assert {"alignment", "overall"} <= set(true)
    assert set(true) == set(control)
    assert all(row["images"] == 8 for row in true.values())
    changes = pl.read_parquet(folder / "improvements" / "words" / "changes.parquet")
    assert (changes["before"] != changes["after"]).all()
    assert changes["truth_before"].to_list() != changes["truth_after"].to_list()
    refused = CliRunner().invoke(improve, ["words", *common, "--scorer", scorer, "--name", "blind"])
    assert refused.exit_code != 0
    assert "predicts no misaligned words" in str(refused.exception)


@pytest.mark.parametrize("method", ["draft", "ddpo"])
def test_the_loop_tunes_by_the_scorer_s_gradients_or_without_any(
    painted_study: Callable[..., Path], scorer: str, method: str
) -> None:
    folder = painted_study(RatingQuestion(name="quality"))
    options = ["--generator", "poor=painter:ember", "--candidates", "2", "--prompts", "12", "--tune-steps", "2"]
    options += ["--skip", "repair", "--skip", "proof", "--scorer", scorer if method == "draft" else "colour-words"]
    printed = run(str(folder), *options)
    assert "tune: ground truth" in printed
    place = folder / "improvements" / "loop"
    walk = json.loads((place / "walk.json").read_text(encoding="utf-8"))
    assert walk["done"]["tune"]["method"] == method
    assert walk["done"]["tune"]["steps taken"] == 2
    assert (place / "lora" / "lora.safetensors").is_file()
    assert not (place / "tune.state").exists()
    changes = pl.read_parquet(place / "changes.parquet")
    tuned, filtered = (set(changes.filter(method=step)["prompt"]) for step in ("tune", "filter"))
    assert (len(tuned), len(filtered)) == (12, 12)
    assert not tuned & filtered  # compared on prompts that it was not tuned on
    assert pl.read_parquet(place / "alarms.parquet").height > 0


def test_the_worker_generates_tuned_and_guided_images(scorer: str) -> None:
    plain = worker.load(worker.parser().parse_args(["painted:32"]))
    guided = worker.load(worker.parser().parse_args(["painted:32", "--scorer", scorer, "--strength", "0.3"]))
    request = ImageRequest(prompt=PROMPT, seed=4)
    assert plain.generate is not None
    assert guided.generate is not None
    first = plain.generate(request).content
    assert Image.open(io.BytesIO(first)).size == (32, 32)
    assert plain.generate(request).content == first != guided.generate(request).content
    assert plain.settings != guided.settings
    with pytest.raises(RefusalError, match="expected count, size, colour"):
        plain.generate(ImageRequest(prompt="a photo of Paris", seed=1))
    with pytest.raises(RefusalError, match="this generator makes 32 × 32"):
        plain.generate(request.model_copy(update={"width": 64}))
