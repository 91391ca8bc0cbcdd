"""The models of adversarial rounds, side by side: error on held-out attacks and on the study's own labels.

All models are tested on the same attacks, those of held-out attackers in all rounds, and on the same prompts, by
their held-out predictions. A model without the one figure has no row: neither is ever stated alone.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import TypeAdapter

from beholder.learn.examples import EVEN, LabelledImages
from beholder.learn.figures.figure import EvaluationSettings
from beholder.learn.recipe import Splitting
from beholder.learn.rounds.attacks import AttackData
from beholder.learn.splits import split
from beholder.learn.trained_models import MODELS_FOLDER, trained_settings
from beholder.rounds.figures import improvement, round_figures
from beholder.stats.estimate import Estimate
from beholder.tables.catalogue import TABLES
from beholder.tables.stages import ATTACKED
from beholder.tables.store import Store
from beholder.tables.work import Work, provenance_of

Row = dict[str, object]


@dataclass(frozen=True, slots=True)
class Lineage:
    """A trained model, the model that its last round attacked, and its rounds; none for the first."""

    model: str
    parent: str | None = None
    rounds: tuple[int, ...] = ()
    splitting: Splitting | None = None


@dataclass(frozen=True, eq=False)
class Errors:
    """What one model gets wrong: 1 wrong, ½ undecided, 0 right."""

    attacks: Mapping[int, float]
    """Number of the held-out attack -> whether the worse is preferred."""
    prompts: Mapping[str, float]
    """Prompt -> proportion of its pairs on which model and raters disagree."""


def write_round_table(
    folder: Path, labelled: LabelledImages, data: AttackData, settings: EvaluationSettings
) -> pl.DataFrame:
    """Write ``rounds``: one row per model of rounds and per model that was attacked first."""
    store = Store(folder).within(ATTACKED)
    predictions = store.read("predictions").filter("held_out")
    lineages = _lineages(folder / MODELS_FOLDER)
    errors = {
        lineage.model: _errors(predictions.filter(pl.col("model") == lineage.model), labelled, data)
        for lineage in lineages
    }
    rows = [
        _row(lineage, errors, _first(lineage, lineages), labelled, data, settings)
        for lineage in lineages
        if errors[lineage.model].attacks and errors[lineage.model].prompts
    ]
    table = TABLES["rounds"].frame(rows)
    work = Work(ATTACKED, {"rounds": [count.round for count in data.rounds.counts]}, settings.seed)
    store.write({"rounds": table}, provenance_of(store, work))
    return table


def _lineages(models: Path) -> list[Lineage]:
    """Models of rounds and the models they come from, the first before those that were trained later."""
    lineages: dict[str, Lineage] = {}
    for folder in sorted(path for path in models.iterdir() if path.is_dir()):
        settings = trained_settings(folder) or {}
        if "rounds" in settings:
            rounds = TypeAdapter(tuple[int, ...]).validate_python(settings["rounds"])
            recipe = json.loads(json.dumps(settings["recipe"]))
            splitting = Splitting.model_validate(recipe["split"])
            lineages[folder.name] = Lineage(folder.name, str(settings["parent"]), rounds, splitting)
    parents = {lineage.parent for lineage in lineages.values() if lineage.parent is not None}
    for name in parents - set(lineages):
        if trained_settings(models / name) is not None:
            lineages[name] = Lineage(name)
    return sorted(lineages.values(), key=lambda lineage: (lineage.rounds, lineage.model))


def _first(lineage: Lineage, lineages: list[Lineage]) -> str:
    """The model before any round that this one goes back to."""
    by_name = {each.model: each for each in lineages}
    passed = {lineage.model}
    while lineage.parent in by_name and lineage.parent not in passed:
        lineage = by_name[lineage.parent]
        passed.add(lineage.model)
    return lineage.model


def _errors(predictions: pl.DataFrame, labelled: LabelledImages, data: AttackData) -> Errors:
    score = dict(predictions.select("image", "score").iter_rows())
    attacks = {
        number: _wrong(score[attack.better], score[attack.worse])
        for number, attack in enumerate(data.rounds.testing)
        if attack.better in score and attack.worse in score
    }
    prompt_of = {item.image: item.prompt or item.image for item in labelled.items}
    by_prompt: dict[str, list[float]] = {}
    for image, other, value in labelled.labels.select("image", "other", "value").iter_rows():
        if image in score and other in score and value != EVEN and prompt_of[image] == prompt_of[other]:
            better, worse = (image, other) if value > EVEN else (other, image)
            by_prompt.setdefault(prompt_of[image], []).append(_wrong(score[better], score[worse]))
    return Errors(attacks, {prompt: float(np.mean(wrong)) for prompt, wrong in sorted(by_prompt.items())})


def _wrong(better: float, worse: float) -> float:
    return 0.5 if better == worse else float(better < worse)


def _row(
    lineage: Lineage,
    errors: Mapping[str, Errors],
    first: str,
    labelled: LabelledImages,
    data: AttackData,
    settings: EvaluationSettings,
) -> Row:
    own = errors[lineage.model]
    attackers = _attackers(data)
    rng = np.random.default_rng([settings.seed, 24])
    figures = round_figures(
        max(lineage.rounds, default=0),
        lineage.parent,
        list(own.attacks.values()),
        attackers[list(own.attacks)],
        list(own.prompts.values()),
        rng=rng,
        level=settings.level,
    )
    counts = [count for count in data.rounds.counts if count.round in lineage.rounds]
    row: Row = {
        "model": lineage.model,
        "parent": lineage.parent,
        "rounds": spans(lineage.rounds) or None,
        "pairs": _pairs(lineage, labelled, data),
        "claims": sum(count.claims for count in counts),
        "verified": sum(count.verified for count in counts),
        "refuted": sum(count.refuted for count in counts),
        "credit": sum(count.credit for count in counts),
        "attackers": len(set(attackers[list(own.attacks)].tolist())),
        "attacks": len(own.attacks),
        "prompts": len(own.prompts),
    }
    row |= dict(_columns("attack", "error", figures.adversarial)) | dict(
        _columns("static", "error", figures.static)
    )
    before = errors.get(first)
    return row if first == lineage.model or before is None else row | _change(before, own, attackers, settings)


def _change(before: Errors, after: Errors, attackers: NDArray[np.int64], settings: EvaluationSettings) -> Row:
    """The later model against the first, on the attacks and prompts that both have predictions of."""
    attacks = [number for number in after.attacks if number in before.attacks]
    prompts = [prompt for prompt in after.prompts if prompt in before.prompts]
    if not prompts or not any(before.attacks[number] for number in attacks):
        return {}
    change = improvement(
        [before.attacks[number] for number in attacks],
        [after.attacks[number] for number in attacks],
        attackers[attacks],
        [before.prompts[prompt] for prompt in prompts],
        [after.prompts[prompt] for prompt in prompts],
        rng=np.random.default_rng([settings.seed, 25]),
        level=settings.level,
    )
    return dict(_columns("reduction", "", change.adversarial)) | dict(_columns("static_change", "", change.static))


def _columns(name: str, value: str, estimate: Estimate) -> Iterator[tuple[str, object]]:
    """The value and the ends of an estimate as columns."""
    yield f"{name}_{value}" if value else name, estimate.value
    yield f"{name}_low", estimate.low
    yield f"{name}_high", estimate.high


def _attackers(data: AttackData) -> NDArray[np.int64]:
    """Number of each held-out attack's author."""
    names = [attack.attacker for attack in data.rounds.testing]
    number = {name: place for place, name in enumerate(sorted(set(names)))}
    return np.array([number[name] for name in names], np.int64)


def _pairs(lineage: Lineage, labelled: LabelledImages, data: AttackData) -> int:
    """Attacks that a model of these rounds was trained on, in any of its folds."""
    if lineage.splitting is None:
        return 0
    trained = {
        example.images
        for each in split(labelled.items, lineage.splitting)
        for example in data.of_rounds(lineage.rounds).training(labelled, each)
    }
    return len(trained)


def spans(rounds: tuple[int, ...]) -> str:
    """Return rounds as a span, such as 1-3, or one by one where some are left out."""
    if len(rounds) > 1 and rounds == tuple(range(rounds[0], rounds[-1] + 1)):
        return f"{rounds[0]}-{rounds[-1]}"
    return ", ".join(str(number) for number in rounds)
