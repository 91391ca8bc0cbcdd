"""Attacks to train and to test on: no leak between the parts, both errors by hand, and what is refused."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from beholder.errors import LabelsError, RecipeError
from beholder.learn.examples import LabelledImages
from beholder.learn.figures.figure import EvaluationSettings
from beholder.learn.recipe import load_recipe
from beholder.learn.rounds.attacks import AttackData, read_attack_data, require_held_out
from beholder.learn.rounds.models import spans, write_round_table
from beholder.learn.splits import Item, Role, Split
from beholder.rounds.attacks import Attack, AttackRounds, RoundCounts
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Plain, Provenance
from beholder.tables.store import Store

PROMPTS = ("one cat", "two cats", "three cats", "four cats")
ROLES: dict[str, Role] = {"one cat": "train", "two cats": "validation", "three cats": "test"}
"""The fourth prompt has attacks and no labels."""


def images_of(prompt: str) -> tuple[str, str]:
    return f"{prompt}-a", f"{prompt}-b"


def labelled_images() -> LabelledImages:
    items = tuple(Item(image, prompt, image[-1], image) for prompt in ROLES for image in images_of(prompt))
    rows = [
        {"image": first, "other": second, "aspect": "preference", "value": 1.0}
        for first, second in map(images_of, ROLES)
    ]
    labels = pl.DataFrame(rows).with_columns(raters=3, answers=3, low=0.0, high=1.0)
    return LabelledImages(labels, items, {item.image: item.image for item in items}, ("preference",), 3)


def attack_data(trained_on: tuple[int, ...] = (1,)) -> AttackData:
    """Ann and Bob attack all prompts: the second image is better; Bob is held out."""
    attacks = tuple(
        Attack(1, who, images_of(prompt)[1], images_of(prompt)[0]) for who in ("ann", "bob") for prompt in PROMPTS
    )
    counts = (RoundCounts(1, "models/first", 10, 8, 1, 5.5),)
    prompts = {image: prompt for prompt in PROMPTS for image in images_of(prompt)}
    return AttackData(AttackRounds(counts, attacks, trained_on, frozenset({"bob"})), prompts, {})


def split_of(fold: int = 0, folds: int = 1) -> Split:
    roles = {image: role for prompt, role in ROLES.items() for image in images_of(prompt)}
    return Split("prompt", 0, fold, folds, roles)


def test_only_prompts_that_are_trained_on_give_examples() -> None:
    (example,) = attack_data().training(labelled_images(), split_of())
    assert (example.prompt, example.images) == ("one cat", ("one cat-b", "one cat-a"))
    (pair,) = example.pairs
    assert (pair.first, pair.second, pair.proportion) == (0, 1, 1.0)


def test_held_out_attacks_are_tested_on_prompts_of_the_test_part_or_of_none() -> None:
    tested = dict(attack_data().tested_images(labelled_images(), split_of()))
    assert set(tested.values()) == {"three cats", "four cats"}
    in_folds = [dict(attack_data().tested_images(labelled_images(), split_of(fold, 3))) for fold in range(3)]
    assert sum("four cats" in part.values() for part in in_folds) == 1  # in one fold, whichever


def test_nothing_to_train_or_to_test_on_is_said_before_training() -> None:
    data = attack_data()
    require_held_out(data, labelled_images(), [split_of()])
    nobody = replace(data, rounds=replace(data.rounds, held_out=frozenset({"ann", "bob"})))
    with pytest.raises(LabelsError, match="no verified claim of a training attacker"):
        require_held_out(nobody, labelled_images(), [split_of()])
    everybody = replace(data, rounds=replace(data.rounds, held_out=frozenset()))
    with pytest.raises(LabelsError, match="--folds 5"):
        require_held_out(everybody, labelled_images(), [split_of()])


def test_recipes_of_other_labels_or_splits_are_refused(tmp_path: Path) -> None:
    recipe = load_recipe("tiny-realism", ["split.by=generator"])
    with pytest.raises(RecipeError) as raised:
        read_attack_data(Store(tmp_path), attack_data().rounds, recipe)
    assert len(raised.value.faults) == 2


def trained(folder: Path, model: str, settings: dict[str, Plain]) -> None:
    """The record of a model whose training has ended."""
    place = folder / "models" / model
    place.mkdir(parents=True)
    record = Provenance("learn", {"model": model, "recipe": {"split": {}}, **settings}, 0, {})
    place.joinpath("figures.json").write_text(f'{{"provenance": {record.to_json()}, "figures": []}}')


def test_both_errors_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Held-out attacks: Bob's on "three cats" and "four cats", where b is better; static: a of "three cats" is.
    # The first model prefers a everywhere: both attacks wrong, static right. The second scores b higher on "four
    # cats" and both alike on "three cats": (1/2 + 0) / 2 of the attacks, 1/2 of the static pair.
    folder = tmp_path / "study"
    trained(folder, "first", {})
    trained(folder, "second", {"rounds": [1], "parent": "first"})
    trained(folder, "another", {})
    scores = {
        "first": {"three cats-a": 1.0, "three cats-b": 0.0, "four cats-a": 1.0, "four cats-b": 0.0},
        "second": {"three cats-a": 1.0, "three cats-b": 1.0, "four cats-a": 0.0, "four cats-b": 1.0},
        "another": {"three cats-a": 1.0},
    }
    rows = [
        {"model": model, "fold": 0, "aspect": "preference", "image": image, "score": score}
        | {"better": "higher", "held_out": True}
        for model, by_image in scores.items()
        for image, score in by_image.items()
    ]
    pictures = [
        {"image": image, "path": image, "generator": image[-1], "real": False, "gold": False}
        | {"width": 8, "height": 8, "sha256": image}
        for prompt in PROMPTS
        for image in images_of(prompt)
    ]
    Store(folder).write({"images": TABLES["images"].frame(pictures)}, Provenance("new", {}, 0, {}))
    Store(folder).write({"predictions": TABLES["predictions"].frame(rows)}, Provenance("learn", {}, 0, {}))
    monkeypatch.setattr("beholder.learn.rounds.models.split", lambda *_: [split_of()])
    settings = EvaluationSettings(0.95, 100, 3)
    table = write_round_table(folder, labelled_images(), attack_data(), settings)
    first, second = table.to_dicts()
    assert (first["model"], first["parent"], first["rounds"], first["pairs"]) == ("first", None, None, 0)
    assert (first["attack_error"], first["static_error"], first["reduction"]) == (1.0, 0.0, None)
    assert (second["model"], second["parent"], second["rounds"], second["pairs"]) == ("second", "first", "1", 1)
    assert (second["attack_error"], second["static_error"]) == (0.25, 0.5)
    assert (second["reduction"], second["static_change"]) == (0.75, 0.5)
    assert (second["claims"], second["verified"], second["refuted"], second["credit"]) == (10, 8, 1, 5.5)
    assert (second["attacks"], second["attackers"], second["prompts"]) == (2, 1, 1)
    assert (table["attack_low"] <= table["attack_error"]).all()


def test_rounds_as_a_span() -> None:
    assert [spans(rounds) for rounds in ((), (2,), (1, 2, 3), (1, 3))] == ["", "2", "1-3", "1, 3"]
