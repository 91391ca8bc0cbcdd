"""Verified attacks as training examples beside a study's own labels, and those that a model is tested on.

The split of the study stays as it is. An attack is trained on where its attacker is not held out and its prompt is
among those trained on. It is tested on where its attacker is held out and its prompt is in the test part, or in no
part.
"""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import polars as pl

from beholder.errors import LabelsError, RecipeError
from beholder.learn.examples import Example, LabelledImages, LabelledPair
from beholder.learn.recipe import Recipe
from beholder.learn.splits import Role, Split, normalise_prompt
from beholder.rounds.attacks import Attack, AttackRounds
from beholder.tables.provenance import Plain
from beholder.tables.store import Store


@dataclass(frozen=True)
class AttackData:
    """The attacks of a study with the prompts and files of their images."""

    rounds: AttackRounds
    prompts: Mapping[str, str]
    """Image -> text of its prompt."""
    paths: Mapping[str, str]
    """Image -> its file."""

    @property
    def settings(self) -> dict[str, Plain]:
        """What the records of a model say about its rounds."""
        return {"rounds": [*self.rounds.trained_on], "parent": self.rounds.parent}

    @cached_property
    def hashed(self) -> bytes:
        """Everything about attacks that a model depends on."""
        rows = [(a.round, a.attacker, a.better, a.worse) for a in self.rounds.training]
        return repr(sorted(rows)).encode()

    def of_rounds(self, numbers: tuple[int, ...]) -> "AttackData":
        """The same for a model that is trained on other rounds."""
        return replace(self, rounds=replace(self.rounds, trained_on=numbers))

    def training(self, labelled: LabelledImages, split: Split) -> list[Example]:
        """Return the examples of one fold."""
        roles = _prompt_roles(labelled, split)
        return [
            Example(self.prompts[attack.better], (attack.better, attack.worse), (LabelledPair(0, 1, 1.0),))
            for attack in self.rounds.training
            if roles.get(normalise_prompt(self.prompts[attack.better])) == "train"
        ]

    def tested_images(self, labelled: LabelledImages, split: Split) -> list[tuple[str, str]]:
        """Return image and prompt of what is scored in one fold: attacks of held-out attackers."""
        roles = _prompt_roles(labelled, split)
        images = {
            image: self.prompts[image]
            for attack in self.rounds.testing
            if self._is_tested(attack, roles, split)
            for image in (attack.better, attack.worse)
        }
        return list(images.items())

    def _is_tested(self, attack: Attack, roles: Mapping[str, Role], split: Split) -> bool:
        """A prompt that is in no part of the split is tested in one fold, whichever its text says."""
        prompt = normalise_prompt(self.prompts[attack.better])
        if prompt in roles:
            return roles[prompt] == "test"
        return zlib.crc32(prompt.encode()) % split.folds == split.fold


def read_attack_data(store: Store, rounds: AttackRounds, recipe: Recipe) -> AttackData:
    """Return the attacks with prompts and files; an error lists what they cannot be trained on with."""
    faults = list[str]()
    if recipe.data.labels != "pairs":
        faults.append(f"data.labels = '{recipe.data.labels}': rounds hold pairs, expected 'pairs'")
    if recipe.split.by != "prompt":
        faults.append(f"split.by = '{recipe.split.by}': attacks are split by prompt, expected 'prompt'")
    if faults:
        raise RecipeError(f"recipe {recipe.name} with rounds", faults)
    images = store.read("images")
    texts = dict(store.read_or_empty("prompts").select("prompt", "text").iter_rows())
    names = {image for attack in rounds.attacks for image in (attack.better, attack.worse)}
    rows = images.filter(pl.col("image").is_in(list(names)))
    missing = sorted(names - set(rows["image"]))
    if missing:
        named = [f"{name}: attacked, and no longer in the study" for name in missing]
        raise LabelsError("images of rounds", named[:20])
    return AttackData(
        rounds,
        {image: texts.get(prompt, "") for image, prompt in rows.select("image", "prompt").iter_rows()},
        {image: str(store.folder / path) for image, path in rows.select("image", "path").iter_rows()},
    )


def require_held_out(data: AttackData, labelled: LabelledImages, splits: Sequence[Split]) -> None:
    """Raise an error, before anything is trained, where there is nothing to train on, or to test on."""
    faults = []
    if not any(data.training(labelled, each) for each in splits):
        faults.append("no verified claim of a training attacker is about a prompt that is trained on")
    if not any(data.tested_images(labelled, each) for each in splits):
        faults.append("no verified claim of a held-out attacker is about a prompt of the test part")
    if faults:
        advice = "Ask for cross-validation, which tests on every prompt (--folds 5), or play another round."
        raise LabelsError("rounds", faults, advice=advice)


def _prompt_roles(labelled: LabelledImages, split: Split) -> dict[str, Role]:
    return {normalise_prompt(item.prompt): split.roles[item.image] for item in labelled.items}
