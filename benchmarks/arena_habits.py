"""Rings and bots at a human pace: flagged by what they vote, with probes and without, beside the ideal test.

    python benchmarks/arena_habits.py [--seed 106] [--arenas 40] [--entries 3 6 10] [--informed]

300 voters vote 30 times each, side by side: every voter once, then every voter again. Ten of them favour the
middle entry at .85 whenever it is shown, ten toss a coin; the others follow the quality of images (standard
deviation 1.0) and their tastes (.4), both in natural-log odds, and slip in one vote of fifty. Ratings of images
are fitted again after every fifth turn, from what has been voted by then, rings and bots included. *Ideal* is the
most powerful test at 1 % of honest voters when all true parameters are known, pairs are drawn evenly and nobody
slips. Bias is that of propensity-weighted win rates against the chances of all voters on all pairs, with the
simulation's error. With ``--informed`` pairs are drawn as the arena draws them, half by expected information, and
then with probes alone. Settings were chosen on seeds 1 to 3.
"""

import argparse
from collections import defaultdict

import numpy as np
from numpy.typing import NDArray
from scipy import special

from beholder.arena.pair_choice import plan_arena
from beholder.arena.suspicion import FIRST_PROBE, PROBED, Suspicion, averaged, probe_pairs, suspect_voters
from beholder.arena.voter_flags import FAVOUR, estimate_taste
from beholder.arena.win_rates import weighted_win_rates
from beholder.stats.comparisons.active_pairs import PairPlan, all_pairs, laplace_posterior
from beholder.stats.intervals.proportions import wilson

VOTERS, RING, BOTS, TURNS = 300, 10, 10, 30
PROMPTS, PULL, IMAGE, REFIT = 30, 0.4, 1.0, 5

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

SLIP = 0.02
"""Proportion of honest votes that are slips."""

IDENTICAL, CARELESS = 1 / 12, 0.1
"""Proportion of identical pairs, and how often an honest voter prefers one of them."""


class Arena:
    """One simulated arena."""

    def __init__(self, entries: int, rng: np.random.Generator, *, probing: bool, informed: bool = False) -> None:
        self.entries, self.rng, self.probing, self.informed = entries, rng, probing, informed
        self.plan = plan_arena([], [], [], entries=entries)
        truth = np.linspace(-0.8, 0.8, entries)
        self.tastes = truth + rng.normal(0, PULL, (VOTERS, entries))
        self.quality = rng.normal(0, IMAGE, (entries, PROMPTS))
        self.truth = truth
        self.rows: dict[str, list[NDArray[np.float64]]] = defaultdict(list)
        pairs = all_pairs(entries)
        self.pool = np.repeat(pairs, PROMPTS, axis=0), np.tile(np.arange(PROMPTS), len(pairs))
        self.target = entries // 2
        self.checks: list[NDArray[np.float64]] = []

    def play(self) -> Suspicion:
        """All turns; returns what is thought of every voter at the end."""
        suspicion = None
        for turn in range(TURNS):
            if self.probing and turn >= FIRST_PROBE and turn % REFIT == 0:
                self.fit()
            if self.probing and turn >= FIRST_PROBE:
                suspicion = self.weigh()
            if self.informed and turn:
                self.plan = self.planned()
            self.turn(suspicion)
        self.fit()
        return self.weigh()

    def turn(self, suspicion: Suspicion | None) -> None:
        who = np.arange(VOTERS)
        (pool, prompts), rng = self.pool, self.rng
        place, chance = self.drawn()
        probe = np.zeros(VOTERS, bool)
        if suspicion is not None:
            for voter, habit in enumerate(suspicion.habits().tolist()):
                if habit < -1:
                    continue
                fits = self.probes(habit)
                if len(fits):
                    chance[voter] *= 1 - PROBED
                    if rng.random() < PROBED:
                        place[voter], probe[voter] = rng.choice(fits), True
        same = ~probe & (rng.random(VOTERS) < IDENTICAL)
        first, second, prompt = pool[place, 0], pool[place, 1], prompts[place]
        won = (rng.random(VOTERS) < self.chances(who, first, second, prompt)).astype(float)
        failed = rng.random(VOTERS) < np.where((who >= RING) & (who < RING + BOTS), 0.5, CARELESS)
        self.checks.append(np.stack([who[same], failed[same]]).astype(float))
        columns = (who, first, second, prompt, won, probe, chance)
        for name, column in zip(
            ("who", "first", "second", "prompt", "won", "probe", "chance"), columns, strict=True
        ):
            self.rows[name].append(np.asarray(column, float)[~same])

    def drawn(self) -> tuple[Whole, Floats]:
        """A pair and prompt for every voter as places in the pool, and the propensity of the pair."""
        if not self.informed:
            place = self.rng.integers(len(self.pool[0]), size=VOTERS)
            return place, np.full(VOTERS, PROMPTS / len(self.pool[0]))
        pair = self.rng.choice(len(self.plan.pairs), size=VOTERS, p=self.plan.propensity)
        return pair * PROMPTS + self.rng.integers(PROMPTS, size=VOTERS), self.plan.propensity[pair]

    def planned(self) -> PairPlan:
        """The arena's own plan, from the votes so far that count."""
        first, second, won, probe = self.columns("first", "second", "won", "probe")
        used = probe == 0
        return plan_arena(first[used], second[used], won[used], entries=self.entries)

    def chances(self, who: Whole, first: Whole, second: Whole, prompt: Whole) -> Floats:
        """Of the first to be preferred, by habit."""
        better = self.quality[first, prompt] - self.quality[second, prompt]
        honest = special.expit(self.tastes[who, first] - self.tastes[who, second] + better)
        honest = SLIP / 2 + (1 - SLIP) * honest
        ring = who < RING
        inside = np.where(first == self.target, FAVOUR, np.where(second == self.target, 1 - FAVOUR, honest))
        return np.where(ring, inside, np.where(who < RING + BOTS, 0.5, honest))

    def true_rates(self) -> Floats:
        """Win rate of each entry over all voters, rivals and prompts."""
        pool, prompts = self.pool
        won = self.chances(np.arange(VOTERS)[:, None], pool[:, 0], pool[:, 1], prompts).mean(axis=0)
        total = np.bincount(pool[:, 0], won, self.entries) + np.bincount(pool[:, 1], 1 - won, self.entries)
        return total / ((self.entries - 1) * PROMPTS)

    def bias(self) -> Floats:
        """Of propensity-weighted win rates."""
        who, first, second, won, probe = self.columns("who", "first", "second", "won", "probe")
        used = probe == 0
        chance = np.concatenate(self.rows["chance"])[used]
        rates = weighted_win_rates(who[used], first[used], second[used], won[used], chance, entries=self.entries)
        return rates.rate - self.true_rates()

    def columns(self, *names: str) -> list[NDArray[np.int64]]:
        return [np.concatenate(self.rows[name]).astype(np.int64) for name in names]

    def fit(self) -> None:
        who, first, second, prompt, won = self.columns("who", "first", "second", "prompt", "won")
        self.posterior = laplace_posterior(
            first * PROMPTS + prompt, second * PROMPTS + prompt, won.astype(float), self.entries * PROMPTS, 1.2
        )
        gap, variance = self.gaps(first, second, prompt)
        self.taste = estimate_taste(who, first, second, averaged(gap, variance), won.astype(float), self.entries)
        (pool, prompts) = self.pool
        self.pool_gap, self.pool_variance = self.gaps(pool[:, 0], pool[:, 1], prompts)
        self.fits: dict[int, NDArray[np.int64]] = {}

    def probes(self, habit: int) -> NDArray[np.int64]:
        if habit not in self.fits:
            pool = self.pool[0]
            self.fits[habit] = probe_pairs(
                habit, pool[:, 0], pool[:, 1], self.pool_gap, self.pool_variance + 2 * self.taste**2
            )
        return self.fits[habit]

    def gaps(self, first: Whole, second: Whole, prompt: Whole) -> tuple[Floats, Floats]:
        """Log odds by the fit, and their variance."""
        a, b = first * PROMPTS + prompt, second * PROMPTS + prompt
        cover = self.posterior.covariance
        return self.posterior.mean[a] - self.posterior.mean[b], cover[a, a] + cover[b, b] - 2 * cover[a, b]

    def weigh(self) -> Suspicion:
        who, first, second, prompt, won = self.columns("who", "first", "second", "prompt", "won")
        gap, variance = self.gaps(first, second, prompt)
        checks = np.concatenate(self.checks, axis=1)
        return suspect_voters(
            who, first, second, won, gap, variance, voters=VOTERS, entries=self.entries, taste=self.taste,
            identical=(checks[0].astype(int), checks[1] > 0),
        )  # fmt: skip


def ideal(entries: int, rng: np.random.Generator, draws: int = 6000) -> tuple[float, float]:
    """Power of the most powerful tests at 1 % when the quality of images, tastes' spread and habits are known."""
    quality, truth = rng.normal(0, IMAGE, (entries, PROMPTS)), np.linspace(-0.8, 0.8, entries)
    target, pairs = entries // 2, all_pairs(entries)
    scores: dict[str, list[NDArray[np.float64]]] = defaultdict(list)
    counted = round(TURNS * (1 - IDENTICAL))
    drawn = pairs[rng.integers(len(pairs), size=(draws, counted))]
    first, second, prompt = drawn[..., 0], drawn[..., 1], rng.integers(PROMPTS, size=(draws, counted))
    gap = truth[first] - truth[second] + quality[first, prompt] - quality[second, prompt]
    tastes = rng.normal(0, PULL, (draws, entries))
    rows = np.arange(draws)[:, None]
    honest = special.expit(gap + tastes[rows, first] - tastes[rows, second])
    ring = np.where(first == target, FAVOUR, np.where(second == target, 1 - FAVOUR, honest))
    same = rng.binomial(TURNS - counted, CARELESS, draws), rng.binomial(TURNS - counted, 0.5, draws)
    for name, chance, failed in (
        ("honest", honest, same[0]),
        ("ring", ring, same[0]),
        ("coin", np.full(honest.shape, 0.5), same[1]),
    ):
        won = rng.random(chance.shape) < chance
        scores[name] = [
            _ring_ratio(won, gap, first, second, target),
            _coin_ratio(won, gap, failed, TURNS - counted),
        ]
    power = []
    for place, name in ((0, "ring"), (1, "coin")):
        threshold = np.quantile(scores["honest"][place], 0.99)
        power.append(float(np.mean(scores[name][place] > threshold)))
    return power[0], power[1]


_NODES, _MASSES = np.polynomial.hermite_e.hermegauss(15)


def _ring_ratio(won: NDArray[np.bool_], gap: Floats, first: Whole, second: Whole, target: int) -> Floats:
    """Of the votes with the target; the voter's taste for it and for each rival is integrated out."""
    involved = (first == target) | (second == target)
    own, own_won = np.where(first == target, gap, -gap), np.where(first == target, won, ~won)
    likelihoods = []
    for node in _NODES:
        chance = _rival_averaged(own + PULL * node)
        logs = np.where(own_won, np.log(chance), np.log1p(-chance))
        likelihoods.append((logs * involved).sum(axis=1))
    honest = special.logsumexp(likelihoods, axis=0, b=(_MASSES / _MASSES.sum())[:, None])
    ring = (np.where(own_won, np.log(FAVOUR), np.log(1 - FAVOUR)) * involved).sum(axis=1)
    return np.asarray(ring - honest, dtype=np.float64)


def _rival_averaged(odds: Floats) -> Floats:
    chances = special.expit(odds[..., None] + PULL * _NODES) @ (_MASSES / _MASSES.sum())
    return np.asarray(chances, dtype=np.float64)


def _coin_ratio(won: NDArray[np.bool_], gap: Floats, failed: NDArray[np.int64], checks: int) -> Floats:
    """All votes and the identical pairs; tastes are integrated out vote by vote."""
    chance = special.expit(gap[..., None] + np.sqrt(2) * PULL * _NODES) @ (_MASSES / _MASSES.sum())
    honest = np.where(won, np.log(chance), np.log1p(-chance)).sum(axis=1)
    honest = honest + failed * np.log(CARELESS) + (checks - failed) * np.log1p(-CARELESS)
    return np.asarray(won.shape[1] * np.log(0.5) + checks * np.log(0.5) - honest, dtype=np.float64)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seed", type=int, default=101)
    parser.add_argument("--arenas", type=int, default=40)
    parser.add_argument("--entries", type=int, nargs="+", default=[3, 6, 10])
    parser.add_argument("--informed", action="store_true", help="draw pairs as the arena does")
    parser.add_argument("--start", type=int, default=0, help="number of the first arena")
    options = parser.parse_args()
    print(
        "| entries | pairs | ring members flagged | bots flagged | honest voters flagged "
        "| honest voters' ballots that "
        "were probes | greatest bias of a win rate |"
    )
    print("|---|---|---|---|---|---|---|")
    for entries in options.entries:
        if options.informed:
            print(line(entries, options, probing=True), flush=True)
            continue
        powers = [ideal(entries, np.random.default_rng([options.seed, 9, entries, n])) for n in range(4)]
        ring, coin = np.mean(powers, axis=0)
        print(f"| {entries} | ideal test, even pairs | {ring:.3f} | {coin:.3f} | 0.010 | 0 | |", flush=True)
        for probing in (False, True):
            print(line(entries, options, probing=probing), flush=True)


def line(entries: int, options: argparse.Namespace, *, probing: bool) -> str:
    flags, probed, gaps = [], [], []
    for number in range(options.start, options.start + options.arenas):
        rng = np.random.default_rng([options.seed, 8, entries, number])
        arena = Arena(entries, rng, probing=probing, informed=options.informed)
        flags.append(arena.play().flagged)
        who, probe = arena.columns("who", "probe")
        probed.append(probe[who >= RING + BOTS].mean())
        gaps.append(arena.bias())
    flagged = np.array(flags)
    cells = []
    for part in (flagged[:, :RING], flagged[:, RING : RING + BOTS], flagged[:, RING + BOTS :]):
        low, high = (float(end) for end in wilson(int(part.sum()), part.size))
        cells.append(f"{part.mean():.3f} ({low:.3f} to {high:.3f})")
    name = ("half informed" if options.informed else "even") + (", then probes" if probing else "")
    bias, noise = np.abs(np.mean(gaps, axis=0)).max(), (np.std(gaps, axis=0) / np.sqrt(len(gaps))).max()
    return f"| {entries} | {name} | {' | '.join(cells)} | {np.mean(probed):.3f} | {bias:.4f} ± {noise:.4f} |"


if __name__ == "__main__":
    main()
