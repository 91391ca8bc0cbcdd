"""Verified claims about a scorer as pairs to train on, and the attackers who are held out.

Attacks of one person are alike, so people are held out, not claims. Whether somebody is held out depends on their
name alone: it stays the same from round to round and from model to model, and nobody's attacks are trained on
first and tested on later.
"""

import hashlib
from collections.abc import Collection
from dataclasses import dataclass

HELD_OUT = 0.3
"""Proportion of the attackers who are held out, on average."""


@dataclass(frozen=True, slots=True)
class Attack:
    """A verified claim: of two images of one prompt, the scorer prefers the worse."""

    round: int
    attacker: str
    better: str
    """The image that others find better."""
    worse: str


@dataclass(frozen=True, slots=True)
class RoundCounts:
    """What became of the claims of a round."""

    round: int
    target: str
    """The model that was attacked, as the question names it."""
    claims: int
    verified: int
    refuted: int
    credit: float


@dataclass(frozen=True, slots=True)
class AttackRounds:
    """The verified claims of all rounds of a study, and the rounds that a model is trained on."""

    counts: tuple[RoundCounts, ...]
    attacks: tuple[Attack, ...]
    trained_on: tuple[int, ...]
    held_out: frozenset[str]
    """The attackers whose claims no model is trained on."""

    @property
    def parent(self) -> str:
        """The model that was attacked in the last round that is trained on."""
        (target,) = (count.target for count in self.counts if count.round == max(self.trained_on))
        return model_name(target)

    @property
    def training(self) -> tuple[Attack, ...]:
        """Attacks that a model may be trained on."""
        return tuple(
            attack
            for attack in self.attacks
            if attack.round in self.trained_on and attack.attacker not in self.held_out
        )

    @property
    def testing(self) -> tuple[Attack, ...]:
        """Attacks of held-out attackers, of all rounds."""
        return tuple(attack for attack in self.attacks if attack.attacker in self.held_out)


def held_out_attackers(attackers: Collection[str], proportion: float = HELD_OUT) -> frozenset[str]:
    """Return who is held out: by a hash of the name, at least one, and not all if there are several."""
    ranked = sorted((_fraction(name), name) for name in set(attackers))
    held = [name for fraction, name in ranked if fraction < proportion]
    if ranked and not held:
        held = [ranked[0][1]]
    if len(held) == len(ranked) > 1:
        held = held[:-1]
    return frozenset(held)


def model_name(target: str) -> str:
    """Return the name of the model that a target is: ``models/NAME``, or a fold of it; others stay as they are."""
    parts = target.strip("/").split("/")
    return parts[1] if parts[0] == "models" and len(parts) > 1 else target


def _fraction(name: str) -> float:
    """A number from 0 to 1 that depends on the name alone."""
    return int.from_bytes(hashlib.sha256(f"attacker {name}".encode()).digest()[:8], "big") / 2**64
