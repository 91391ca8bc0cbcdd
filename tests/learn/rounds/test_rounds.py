"""Two rounds against a trained model: claims are trained on, attackers held out, and both errors on record."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from tests.learn.test_stage import SMALL, recipe

from beholder.cli.main import main
from beholder.learn.stage import run
from beholder.learn.trained_models import trained_settings
from beholder.rounds.attacks import Attack, AttackRounds, RoundCounts
from beholder.tables.store import TRUTH_ROOM, Store

SETTINGS = ("split.folds=2", "training.steps=2")


@pytest.fixture
def attacked(paired_study: Path) -> tuple[Path, AttackRounds]:
    """A study with a trained model, and attacks on every prompt: of its first two images, by the ground truth."""
    run(paired_study, recipe(*SETTINGS), name="first")
    store = Store(paired_study)
    truth = Store(paired_study, TRUTH_ROOM).read("scores").filter(pl.col("aspect") == "overall")
    quality = dict(truth.select("image", "score").iter_rows())
    generated = store.read("images").filter(~pl.col("gold") & ~pl.col("real"))
    attacks = []
    for number, part in enumerate(generated.partition_by("prompt", maintain_order=True)):
        better, worse = sorted(part["image"].to_list()[:2], key=lambda image: -quality[image])
        attacks.append(Attack(1 + number % 2, "ann" if number % 3 else "bob", better, worse))
    counts = (RoundCounts(1, "models/first", 9, 5, 2, 3.0), RoundCounts(2, "models/second", 7, 4, 1, 2.5))
    return paired_study, AttackRounds(counts, tuple(attacks), (1,), frozenset({"bob"}))


def test_both_errors_of_every_model_are_on_record(attacked: tuple[Path, AttackRounds]) -> None:
    folder, rounds = attacked
    run(folder, recipe(*SETTINGS), name="second", rounds=rounds)
    again = run(folder, recipe(*SETTINGS), name="second", rounds=rounds)
    assert again.skipped
    outcome = run(folder, recipe(*SETTINGS), name="third", rounds=replace(rounds, trained_on=(1, 2)))
    table = Store(folder).read("rounds")
    assert table.select("model", "parent", "rounds").rows() == [
        ("first", None, None),
        ("second", "first", "1"),
        ("third", "second", "1-2"),
    ]
    assert table["attacks"].to_list() == [len(rounds.testing)] * 3  # two folds test every prompt
    assert 0 == table["pairs"][0] < table["pairs"][1] < table["pairs"][2]
    assert table["claims"].to_list() == [0, 9, 16]
    assert table["static_error"].is_between(0, 1).all()
    settings = trained_settings(outcome.folder)
    assert settings is not None
    assert (settings["rounds"], settings["parent"]) == ([1, 2], "second")
    card = (outcome.folder / "README.md").read_text(encoding="utf-8")
    assert "verified claims of rounds 1-2 against `second`" in card
    assert "## Rounds" in card
    assert card.count("| second |") == 2  # as a model and as a parent
    assert "## Rounds" not in (folder / "models" / "first" / "README.md").read_text(encoding="utf-8")


def test_other_claims_are_another_training(attacked: tuple[Path, AttackRounds]) -> None:
    folder, rounds = attacked
    run(folder, recipe(*SETTINGS), name="second", rounds=rounds)
    fewer = replace(rounds, attacks=rounds.attacks[:-3])
    assert not run(folder, recipe(*SETTINGS), name="second", rounds=fewer).skipped


def test_the_command_line_prints_both_errors(
    attacked: tuple[Path, AttackRounds], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, rounds = attacked
    monkeypatch.setattr("beholder.api.learning.read_attack_rounds", lambda *_: rounds)
    settings = [part for change in (*SMALL, *SETTINGS) for part in ("--set", change)]
    arguments = ["learn", str(folder), "--recipe", "tiny-two-tower", *settings, "--rounds"]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert "error on held-out attacks" in printed
    assert "tiny-two-tower-round-1" in printed  # named after the recipe and its last round
    assert "Against the first model" in printed
