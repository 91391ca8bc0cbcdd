"""Three adversarial rounds against a scorer that is trained on rendered images, and again on the attacks.

    python benchmarks/rounds_scorer.py [--seed 105] [--cache FOLDER]

The scorer is the kernel ridge regression of the packaged quality scorer, on frozen features of EfficientNet-lite0;
its labels are mean ratings of plausibility by simulated raters. In its static images haze goes with implausible
regions, since worse generators have more of both. Attackers paint with any haze and any number of flaws, and claim
pairs of which the scorer prefers the less plausible image; a third of them claim either image at random. Five of
60 verifiers, a fifth of them careless, say which image is more plausible without the claim. Verified claims of
70 % of the attackers are trained on; those of the others measure the error on held-out attacks, beside the error
on a static test set. A control is trained on as many verified pairs that were drawn at random from the same images
instead of being looked for. Prints the tables of ``docs/measured/rounds.md``; settings were chosen on seed 1.
"""

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np
from agiqa_scorer_fit import HeadSettings
from numpy.typing import NDArray

from beholder.models.components import signed_roots
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.encoder import Encoder
from beholder.models.quality.head import KernelHead
from beholder.rounds.credit import credit_claims
from beholder.rounds.figures import improvement, round_figures
from beholder.rounds.verification import verify_claims
from beholder.simulate.grammar import Request, draw_requests
from beholder.simulate.painter import Policy, paint
from beholder.simulate.policies import GENERATORS
from beholder.stats.intervals.proportions import wilson

SIZE = 160
TRAIN, TEST = 160, 120
"""Prompts of the static training images and of the static test set; each by all five generators."""

ROUNDS, PEOPLE, HELD_OUT = 3, 40, 0.3
PROMPTS, IMAGES = 4, 5
"""Of one attacker in one round."""

PER_CLAIM, VERIFIERS, CARELESS = 5, 60, 0.2
RATING_NOISE, EYE_NOISE = 0.08, 0.10
"""Of the mean rating of an image, and of what one person perceives of one."""

CLEAR = 0.15
"""True difference in plausibility from which an attacker notices that the scorer is wrong."""

MARGIN, WEIGHT, RIDGE, GAMMA = 0.25, 0.5, 0.1, 1.0
"""Of the head: difference that a pair is trained towards, weight of a pair, ridge and kernel width."""

Floats = NDArray[np.float64]


class Scorer(Protocol):
    """A trained model."""

    def scores(self, vectors: NDArray[np.float32], /) -> Floats:
        """Scores of images by their vectors."""
        ...


@dataclass(frozen=True, eq=False)
class Images:
    """Rendered images as vectors, with their plausibility."""

    vectors: NDArray[np.float32]  # (images, dims)
    truth: Floats  # (images,)


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of images of one prompt: the first is claimed to be better."""

    better: NDArray[np.float32]  # (pairs, dims)
    worse: NDArray[np.float32]
    gap: Floats  # true plausibility, better less worse
    author: NDArray[np.int64]

    def where(self, keep: NDArray[np.bool_]) -> "Pairs":
        return Pairs(self.better[keep], self.worse[keep], self.gap[keep], self.author[keep])

    def wrong(self, model: Scorer) -> Floats:
        """1 where the model does not prefer the truly better one."""
        prefers = model.scores(self.better) > model.scores(self.worse)
        return np.asarray(prefers != (self.gap > 0), np.float64)


def joined(parts: Sequence[Pairs]) -> Pairs:
    columns = ("better", "worse", "gap", "author")
    return Pairs(*(np.concatenate([getattr(part, name) for part in parts]) for name in columns))


def render(requests: Sequence[Request], policies: Sequence[Policy], seed: list[int], encoder: Encoder) -> Images:
    """Paint request i by policy i, and encode."""
    pictures = [
        paint(request, policy, size=SIZE, rng=np.random.default_rng([*seed, number]))
        for number, (request, policy) in enumerate(zip(requests, policies, strict=True))
    ]
    vectors = encoder.encode([picture.pixels for picture in pictures])
    return Images(vectors, np.array([picture.truth.plausibility for picture in pictures]))


def static_images(count: int, seed: list[int], encoder: Encoder) -> Images:
    requests = [r for r in draw_requests(count, np.random.default_rng(seed)) for _ in GENERATORS]
    return render(requests, GENERATORS * count, seed, encoder)


def attack_plan(seed: list[int]) -> tuple[list[Request], list[Policy]]:
    """What one attacker paints in one round: haze and flaws have nothing to do with each other."""
    rng = np.random.default_rng(seed)
    requests = [r for r in draw_requests(PROMPTS, rng) for _ in range(IMAGES)]
    policies = [
        Policy("attack", rng.uniform(0, 3), 0.1, 0.2, haze=rng.uniform(0, 1), severity=rng.uniform(0.4, 0.9))
        for _ in requests
    ]
    return requests, policies


def attack_images(seed: list[int], encoder: Encoder) -> Images:
    return render(*attack_plan(seed), seed, encoder)


def pairs_of(images: Images, each: int, author: int) -> Pairs:
    """All pairs of images of one prompt, in a fixed order."""
    first, second = np.triu_indices(each, 1)
    start = each * np.repeat(np.arange(len(images.truth) // each), len(first))
    count = len(images.truth) // each
    a, b = start + np.tile(first, count), start + np.tile(second, count)
    gap = images.truth[a] - images.truth[b]
    return Pairs(images.vectors[a], images.vectors[b], gap, np.full(len(a), author))


def turned(pairs: Pairs, swap: NDArray[np.bool_]) -> Pairs:
    """The same pairs with the other image named as better, where ``swap``."""
    column = swap[:, None]
    return Pairs(
        np.where(column, pairs.worse, pairs.better),
        np.where(column, pairs.better, pairs.worse),
        np.where(swap, -pairs.gap, pairs.gap),
        pairs.author,
    )


def claims_of(pairs: Pairs, model: Scorer | None, rng: np.random.Generator, most: int) -> Pairs:
    """What a person claims: pairs on which the scorer is clearly wrong; without a model, pairs at random.

    A third of the people (numbers that 3 divides) do not look, and claim either image of pairs at random.
    """
    seen_gap = pairs.gap + rng.normal(0, EYE_NOISE * np.sqrt(2), len(pairs.gap))
    order = rng.permutation(len(pairs.gap))
    if pairs.author[0] % 3 == 0:
        chosen = order[:most]
        return turned(pairs.where(np.isin(np.arange(len(order)), chosen)), rng.random(len(chosen)) < 0.5)
    fits = np.abs(seen_gap) > CLEAR
    if model is not None:
        prefers_first = model.scores(pairs.better) > model.scores(pairs.worse)
        fits &= prefers_first != (seen_gap > 0)
    chosen = order[fits[order]][:most]
    keep = np.isin(np.arange(len(order)), chosen)
    return turned(pairs.where(keep), (seen_gap < 0)[keep])


def verified(claims: Pairs, rng: np.random.Generator) -> tuple[NDArray[np.bool_], float]:
    """Which claims five others confirm who do not see them; and the credit of people who look."""
    count = len(claims.gap)
    flip = rng.random(count) < 0.5  # verifiers see the pair in any order
    gap = np.where(flip, -claims.gap, claims.gap)
    claim = np.repeat(np.arange(count), PER_CLAIM)
    who = np.concatenate([rng.choice(VERIFIERS, PER_CLAIM, replace=False) for _ in range(count)])
    perceived = gap[claim] + rng.normal(0, EYE_NOISE * np.sqrt(2), len(claim))
    answer = np.where(np.abs(perceived) < 0.05, 2, np.where(perceived > 0, 0, 1))
    careless = who < CARELESS * VERIFIERS
    answer = np.where(careless, rng.integers(0, 3, len(claim)), answer)
    verdicts = verify_claims(who, claim, answer, np.where(flip, 1, 0), options=3, unsure=2)
    credit = credit_claims(claims.author, np.arange(count), verdicts, claimants=PEOPLE).credit
    honest = np.arange(PEOPLE) % 3 != 0
    return verdicts.verified, float(credit[honest].sum() / max(credit.sum(), 1e-9))


def train(static: Images, ratings: Floats, pairs: Pairs | None) -> KernelHead:
    """Fit the head to ratings, and to verified pairs as differences of MARGIN."""
    settings = HeadSettings(dims=256)
    values = signed_roots(static.vectors[:, : settings.moments])
    mean, deviation = values.mean(axis=0), values.std(axis=0) + 1e-6
    scaled = (values - mean) / deviation
    _, axes = np.linalg.eigh(scaled.T @ scaled)
    components = axes[:, ::-1][:, : settings.dims]
    points = [scaled @ components]
    if pairs is not None:
        for side in (pairs.better, pairs.worse):
            points.append((signed_roots(side[:, : settings.moments]) - mean) / deviation @ components)
    centres = np.concatenate(points)
    gamma, intercept = GAMMA / settings.moments, float(ratings.mean())
    squares = (centres**2).sum(axis=1)
    kernel = np.exp(-gamma * np.maximum(squares[:, None] + squares - 2 * centres @ centres.T, 0))
    count, extra = len(ratings), 0 if pairs is None else len(pairs.gap)
    rows, goal = kernel[:count], ratings - intercept
    if extra:
        gaps = kernel[count : count + extra] - kernel[count + extra :]
        rows = np.concatenate([rows, np.sqrt(WEIGHT) * gaps])
        goal = np.concatenate([goal, np.full(extra, np.sqrt(WEIGHT) * MARGIN)])
    coefficients = np.linalg.solve(rows.T @ rows + RIDGE * kernel + 1e-9 * np.eye(len(kernel)), rows.T @ goal)
    head = KernelHead(
        np.arange(settings.moments),
        mean,
        deviation,
        components,
        centres,
        coefficients,
        gamma,
        intercept,
        5,
        1.0,
        0.0,
    )
    return replace(head)


@dataclass(frozen=True, eq=False)
class Round:
    """One round: what was painted, claimed and verified."""

    pools: list[Pairs]
    claims: Pairs
    verified: NDArray[np.bool_]
    random: Pairs
    """Verified pairs that were not looked for, as many as the verified claims."""
    fooled: float
    credit: float

    def part(self, *, held_out: bool) -> Pairs:
        held = self.claims.author < HELD_OUT * PEOPLE
        return self.claims.where(self.verified & (held if held_out else ~held))


def play(model: KernelHead, number: int, seed: int, cache: Path, encoder: Encoder) -> Round:
    """All attackers of one round, against the model of the round before."""
    pools = [
        pairs_of(
            cached(cache / f"{seed}-{number}-{p}.npz", attack_images, [seed, 4, number, p], encoder), IMAGES, p
        )
        for p in range(PEOPLE)
    ]
    return played(model, pools, np.random.default_rng([seed, 5, number]))


def played(model: Scorer, pools: list[Pairs], rng: np.random.Generator) -> Round:
    """The claims of all attackers on their images, and what becomes of them."""
    claims = joined([claims_of(pool, model, rng, 12) for pool in pools])
    holds, credit = verified(claims, rng)
    drawn = joined([claims_of(pool, None, rng, 12) for pool in pools])
    drawn = drawn.where(verified(drawn, rng)[0] & (drawn.author >= HELD_OUT * PEOPLE))
    trained_on = int((holds & (claims.author >= HELD_OUT * PEOPLE)).sum())
    keep = np.isin(np.arange(len(drawn.gap)), rng.permutation(len(drawn.gap))[:trained_on])
    every = joined(pools)
    fooled = float(every.where(np.abs(every.gap) > CLEAR).wrong(model).mean())
    return Round(pools, claims, holds, drawn.where(keep), fooled, credit)


def cached(path: Path, make: object, *arguments: object) -> Images:
    """Images that were rendered and encoded before are read."""
    if path.is_file():
        stored = np.load(path)
        return Images(stored["vectors"], stored["truth"])
    images: Images = make(*arguments)  # type: ignore[operator]
    np.savez(path, vectors=images.vectors, truth=images.truth)
    return images


def main() -> None:
    """Play the rounds and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seed", type=int, default=105)
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "beholder-rounds")
    options = parser.parse_args()
    seed, cache, began = options.seed, options.cache, time.process_time()
    cache.mkdir(parents=True, exist_ok=True)
    encoder = load_encoder("efficientnet-lite0-moments")
    static = cached(cache / f"{seed}-train.npz", static_images, TRAIN, [seed, 1], encoder)
    test = pairs_of(
        cached(cache / f"{seed}-test.npz", static_images, TEST, [seed, 2], encoder), len(GENERATORS), 0
    )
    ratings = static.truth + np.random.default_rng([seed, 3]).normal(0, RATING_NOISE, len(static.truth))
    models, controls, rounds = [train(static, ratings, None)], [], list[Round]()
    for number in range(1, ROUNDS + 1):
        rounds.append(play(models[-1], number, seed, cache, encoder))
        models.append(train(static, ratings, joined([played.part(held_out=False) for played in rounds])))
        controls.append(train(static, ratings, joined([played.random for played in rounds])))
    report(models, controls[-1], rounds, test, np.random.default_rng([seed, 6]))
    print(f"\n{time.process_time() - began:.0f} s of CPU time; what was rendered before is not rendered again.")


def static_errors(test: Pairs, model: Scorer) -> Floats:
    """Proportion of wrong pairs by prompt, since prompts are resampled; ties have no right answer."""
    wrong = np.where(np.abs(test.gap) > 0.02, test.wrong(model), np.nan).reshape(TEST, -1)
    return np.asarray(np.nanmean(wrong[~np.all(np.isnan(wrong), axis=1)], axis=1), np.float64)


def report(
    models: Sequence[Scorer], control: Scorer, rounds: list[Round], test: Pairs, rng: np.random.Generator
) -> None:
    """Print both errors of every model, the change, the control, and the claims."""
    attacks = joined([played.part(held_out=True) for played in rounds])
    print("| model | parent | pairs trained on | error on held-out attacks | error on the static test set |")
    print("|---|---|---|---|---|")
    trained = np.cumsum([0, *(len(played.part(held_out=False).gap) for played in rounds)])
    named = [(f"after round {n}", f"after round {n - 1}" if n else "–", m) for n, m in enumerate(models)]
    for (name, parent, model), count in zip(
        [*named, ("control: random pairs", "–", control)], [*trained, trained[-1]], strict=True
    ):
        both = round_figures(0, parent, attacks.wrong(model), attacks.author, static_errors(test, model), rng=rng)
        print(f"| {name} | {parent} | {count} | {both.adversarial} | {both.static} |")
    for name, model in (("the last model", models[-1]), ("the control", control)):
        change = improvement(
            attacks.wrong(models[0]), attacks.wrong(model), attacks.author,
            static_errors(test, models[0]), static_errors(test, model), rng=rng,
        )  # fmt: skip
        print(f"\nReduction of the error on held-out attacks, {name}: {change.adversarial}")
        print(f"\nStatic error, {name} less the first: {change.static}")
    print("\n| round | pairs on which its attackers can fool the model | claims | true | verified | precision |")
    print("|---|---|---|---|---|---|")
    for number, played in enumerate(rounds, 1):
        good = played.claims.gap > 0
        print(
            f"| {number} | {played.fooled:.3f} | {len(good)} | {good.mean():.3f} | {played.verified.mean():.3f} "
            f"| {good[played.verified].mean():.3f} |"
        )
    right = sum(int((played.verified & (played.claims.gap > 0)).sum()) for played in rounds)
    total = sum(int(played.verified.sum()) for played in rounds)
    low, high = (float(end) for end in wilson(right, total))
    print(f"\nPrecision of all verified claims: {right / total:.4f} ({low:.4f} to {high:.4f}), {total} claims; ")
    print(f"credit to people who look, two thirds of all: {np.mean([played.credit for played in rounds]):.3f}")


if __name__ == "__main__":
    main()
