"""Three adversarial rounds against a scorer in a synthetic world: precision of verified claims, and both errors.

    python benchmarks/rounds.py [--seed 102] [--worlds 20]

A scorer prefers one of two images by features. Some of them are shortcuts: in the static data they go with
quality, in an attack they need not. In every round 40 people look for pairs of which the scorer prefers the worse
image, and claim them; a third of the people claim without looking. Five of 60 verifiers, who do not see the
claim, say which image is better or that they cannot tell; 20 % of them answer at random. The scorer is trained
again on the static data and the verified claims of rounds 1 … r by people who are not held out; people are held
out, not claims. Prints Markdown tables; ``docs/measured/rounds.md`` is a saved run. Settings were chosen on seeds
1, 2 and 101.
"""

import argparse
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from beholder.rounds.credit import credit_claims
from beholder.rounds.figures import improvement, round_figures
from beholder.rounds.verification import verify_claims
from beholder.stats.intervals.proportions import wilson

QUALITY, SHORTCUTS = 12, 4
PEOPLE, TRIES, VERIFIERS, PER_CLAIM, CARELESS = 40, 150, 60, 5, 0.2
HELD_OUT = 0.3
ROUNDS = 3
WEIGHT = 1.0
"""What a verified claim counts in training; an item of the static data counts 1."""

SHARP, BLURRED = 0.3, 1.2
"""How noisy the scorer sees what quality is made of: enough to do without shortcuts, or not."""


@dataclass(frozen=True)
class Pairs:
    """Differences of features of two images, first less second, and how much better the first truly is."""

    features: NDArray[np.float64]  # (pairs, QUALITY + SHORTCUTS)
    gap: NDArray[np.float64]  # (pairs,)


def draw(count: int, blur: float, rng: np.random.Generator, *, adversarial: bool) -> Pairs:
    """Pairs of the static world, or pairs in which shortcuts go their own way."""
    traits = rng.normal(0, 1, (count, QUALITY))
    gap = traits.sum(axis=1) / np.sqrt(QUALITY)
    seen = traits + rng.normal(0, blur, traits.shape)  # what the scorer sees of quality is noisy
    follow = rng.normal(0, 1, (count, 1)) if adversarial else gap[:, None]
    shortcuts = 0.9 * follow + rng.normal(0, 0.6, (count, SHORTCUTS))
    return Pairs(np.concatenate([seen, shortcuts], axis=1), gap)


def train(
    features: NDArray[np.float64], first_better: NDArray[np.bool_], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """A logistic preference model, with a light ridge."""

    def loss(beta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        sign = np.where(first_better, 1.0, -1.0)
        margin = sign * (features @ beta)
        slope = -(weight * sign * special.expit(-margin)) @ features + beta
        return float(-(weight * special.log_expit(margin)).sum() + beta @ beta / 2), slope

    return np.asarray(optimize.minimize(loss, np.zeros(features.shape[1]), jac=True, method="L-BFGS-B").x)


@dataclass(frozen=True)
class Round:
    """Claims of a round that was played."""

    pairs: Pairs
    claimed_first: NDArray[np.bool_]
    author: NDArray[np.int64]
    verified: NDArray[np.bool_]
    true: NDArray[np.bool_]
    credit: float


def play(model: NDArray[np.float64], blur: float, rng: np.random.Generator) -> Round:
    """People look for pairs that fool the model, and others verify what they claim."""
    parts, claims, authors = [], [], []
    for person in range(PEOPLE):
        pairs = draw(TRIES, blur, rng, adversarial=True)
        perceived = pairs.gap + rng.normal(0, 0.5, TRIES)
        says = pairs.features @ model > 0
        fooled = (perceived > 0) != says
        clear = (
            np.abs(perceived) > 0.8 if person % 3 else np.ones(TRIES, np.bool_)
        )  # a third claims without looking
        chosen = np.flatnonzero(fooled & clear)[:12]
        parts.append(Pairs(pairs.features[chosen], pairs.gap[chosen]))
        claims.append(~says[chosen] if person % 3 else rng.random(len(chosen)) < 0.5)
        authors.append(np.full(len(chosen), person))
    pairs = Pairs(np.concatenate([p.features for p in parts]), np.concatenate([p.gap for p in parts]))
    first, author = np.concatenate(claims), np.concatenate(authors)
    who, claim, said = answers(pairs.gap, rng)
    verdicts = verify_claims(who, claim, said, np.where(first, 0, 1), options=3, unsure=2)
    credit = credit_claims(author, np.arange(len(author)), verdicts, claimants=PEOPLE)
    honest = np.arange(PEOPLE) % 3 != 0
    share = credit.credit[honest].sum() / max(credit.credit.sum(), 1e-9)
    return Round(pairs, first, author, verdicts.verified, first == (pairs.gap > 0), float(share))


def answers(gap: NDArray[np.float64], rng: np.random.Generator) -> tuple[NDArray[np.int64], ...]:
    """Blind answers: 0 the first is better, 1 the second, 2 cannot tell."""
    claim = np.repeat(np.arange(len(gap)), PER_CLAIM)
    who = np.concatenate([rng.choice(VERIFIERS, PER_CLAIM, replace=False) for _ in gap])
    perceived = gap[claim] + rng.normal(0, 0.5, len(claim))
    said = np.where(np.abs(perceived) < 0.1, 2, np.where(perceived > 0, 0, 1))
    careless = who < CARELESS * VERIFIERS
    return who, claim, np.where(careless, rng.integers(0, 3, len(claim)), said)


def world(seed: list[int], blur: float) -> tuple[list[Round], list[NDArray[np.float64]], Pairs]:
    """Play all rounds; return them, the models after each, and the static test set."""
    rng = np.random.default_rng(seed)
    static, test = draw(3000, blur, rng, adversarial=False), draw(3000, blur, rng, adversarial=False)
    features, better, weight = static.features, static.gap > 0, np.ones(3000)
    models, rounds = [train(features, better, weight)], []
    for _ in range(ROUNDS):
        played = play(models[-1], blur, rng)
        rounds.append(played)
        use = played.verified & (played.author >= HELD_OUT * PEOPLE)
        features = np.concatenate([features, played.pairs.features[use]])
        better = np.concatenate([better, played.claimed_first[use]])
        weight = np.concatenate([weight, np.full(use.sum(), WEIGHT)])
        models.append(train(features, better, weight))
    return rounds, models, test


def held_out(rounds: list[Round]) -> tuple[Pairs, NDArray[np.int64]]:
    """Verified attacks of the people who are held out, of all rounds, and who made them."""
    keep = [played.verified & (played.author < HELD_OUT * PEOPLE) for played in rounds]
    pairs = Pairs(
        np.concatenate([played.pairs.features[k] for played, k in zip(rounds, keep, strict=True)]),
        np.concatenate([played.pairs.gap[k] for played, k in zip(rounds, keep, strict=True)]),
    )
    return pairs, np.concatenate([played.author[k] for played, k in zip(rounds, keep, strict=True)])


def wrong(model: NDArray[np.float64], pairs: Pairs) -> NDArray[np.float64]:
    return np.asarray((pairs.features @ model > 0) != (pairs.gap > 0), np.float64)


def figures(
    seed: int, blur: float, rng: np.random.Generator
) -> tuple[list[Round], list[NDArray[np.float64]], Pairs]:
    """Play one world and print both errors after every round."""
    rounds, models, test = world([seed, 0], blur)
    attacks, author = held_out(rounds)
    print("| model | error on held-out attacks of all rounds | error on the static test set |\n|---|---|---|")
    for number, model in enumerate(models):
        parent = None if number == 0 else f"round {number - 1}"
        both = round_figures(number, parent, wrong(model, attacks), author, wrong(model, test), rng=rng)
        print(f"| after round {number} | {both.adversarial} | {both.static} |")
    first, last = models[0], models[-1]
    change = improvement(
        wrong(first, attacks), wrong(last, attacks), author, wrong(first, test), wrong(last, test), rng=rng
    )
    print(f"\nReduction of the error on held-out attacks: {change.adversarial}")
    print(f"\nStatic error, later less earlier: {change.static}\n")
    return rounds, models, test


def many(seed: int, worlds: int, blur: float) -> None:
    """Precision of verified claims over worlds, and the spread of both changes."""
    parts = [world([seed, number], blur) for number in range(1, worlds + 1)]
    every = [played for part in parts for played in part[0]]
    right = sum(int((played.verified & played.true).sum()) for played in every)
    total = sum(int(played.verified.sum()) for played in every)
    low, high = (float(end) for end in wilson(right, total))
    print(f"| {worlds} more worlds | |\n|---|---|")
    print(f"| claims that are true before verification | {np.mean(np.concatenate([p.true for p in every])):.3f} |")
    print(f"| precision of verified claims | {right / total:.4f} ({low:.4f} to {high:.4f}), {total:,} claims |")
    print(f"| true claims that are verified | {right / sum(int(p.true.sum()) for p in every):.3f} |")
    print(f"| credit to people who look, two thirds of all | {np.mean([p.credit for p in every]):.3f} |")
    cuts, shifts = [], []
    for rounds, models, test in parts:
        own, _ = held_out(rounds)
        cuts.append(1 - wrong(models[-1], own).mean() / wrong(models[0], own).mean())
        shifts.append(wrong(models[-1], test).mean() - wrong(models[0], test).mean())
    print(f"| reduction on held-out attacks: least, mean | {min(cuts):.3f}, {np.mean(cuts):.3f} |")
    print(f"| static error: greatest, mean change | {max(shifts):+.4f}, {np.mean(shifts):+.4f} |\n")


def main() -> None:
    """Play both worlds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seed", type=int, default=102)
    parser.add_argument("--worlds", type=int, default=20)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    for name, blur in (("The scorer sees quality well enough", SHARP), ("The scorer sees quality badly", BLURRED)):
        print(f"{name} (noise {blur}):\n")
        figures(options.seed, blur, rng)
        many(options.seed, options.worlds, blur)


if __name__ == "__main__":
    main()
