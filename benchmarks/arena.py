"""What the arena promises, in simulated arenas: unbiased rates, newcomers, looking at any time, flags.

    python benchmarks/arena.py [--seed 101] [--arenas 1000] [--only rates newcomer anytime rings bots]

Prints Markdown tables; ``docs/measured/arena.md`` is a saved run. Settings were chosen on seeds 1 to 3.
"""

import argparse
import time

import numpy as np
from numpy.typing import NDArray
from scipy import special

from beholder.arena.pair_choice import EVEN, draw_pair, plan_arena
from beholder.arena.voter_flags import find_rings, flag_voters, image_gaps
from beholder.arena.win_rates import anytime_win_rates, even_scores, weighted_win_rates
from beholder.stats.comparisons.active_pairs import all_pairs, laplace_posterior
from beholder.stats.intervals.proportions import wilson

REFRESH = 50
"""Votes between two plans of the draw."""

PULL = 0.4
"""Standard deviation of what single voters like of single entries, in natural-log odds."""


PROMPTS = 30
IMAGE = 1.0
"""Prompts of the arena with rings, and the standard deviation of images' quality, in natural-log odds."""


def arena(
    truth: NDArray[np.float64], voters: int, ballot: int, rng: np.random.Generator, *, even: float = EVEN
) -> dict[str, NDArray[np.float64]]:
    """Votes of voters with tastes of their own, on pairs that the arena draws: columns of one row per vote."""
    entries = len(truth)
    tastes = truth + rng.normal(0, PULL, (voters, entries))
    rows: list[tuple[float, ...]] = []
    plan = plan_arena([], [], [], entries=entries, even=even)
    for voter in range(voters):
        for _ in range(ballot):
            if len(rows) % REFRESH == 0 and rows:
                past = np.array(rows)
                plan = plan_arena(
                    past[:, 1].astype(int), past[:, 2].astype(int), past[:, 3], entries=entries, even=even
                )
            drawn = draw_pair(plan, rng)
            chance = special.expit(tastes[voter, drawn.first] - tastes[voter, drawn.second])
            rows.append(
                (voter, drawn.first, drawn.second, float(rng.random() < chance), drawn.propensity, drawn.even)
            )
    names = ("voter", "first", "second", "wins", "propensity", "even")
    return dict(zip(names, np.array(rows).T, strict=True))


def true_rates(truth: NDArray[np.float64]) -> NDArray[np.float64]:
    """Win rates against all others alike, over voters' tastes: the logistic curve averaged over a normal gap."""
    nodes, masses = np.polynomial.hermite_e.hermegauss(60)
    gap = (truth[:, None] - truth)[..., None] + np.sqrt(2) * PULL * nodes
    rate = special.expit(gap) @ (masses / masses.sum())
    np.fill_diagonal(rate, 0)
    return np.asarray(rate.sum(axis=1) / (len(truth) - 1), np.float64)


def rates(arenas: int, seed: int) -> None:
    """Bias of weighted and of raw win rates, and the coverage of the standard errors."""
    truth = np.linspace(-1.2, 1.2, 10)
    right = true_rates(truth)
    weighted, raw, covered = [], [], []
    for number in range(arenas):
        votes = arena(truth, 40, 20, np.random.default_rng([seed, 1, number]))
        who, first, second, wins = (votes[name] for name in ("voter", "first", "second", "wins"))
        fit = weighted_win_rates(who, first, second, wins, votes["propensity"], entries=10)
        plain = weighted_win_rates(who, first, second, wins, np.full(len(wins), 1 / 45), entries=10)
        weighted.append(fit.rate)
        raw.append(plain.rate)
        covered.append(np.abs(fit.rate - right) < 1.96 * fit.error)
    bias, raw_bias = (np.nanmean(part, axis=0) - right for part in (weighted, raw))
    noise = np.std(weighted, axis=0) / np.sqrt(arenas)
    print(f"| rates | greatest bias over 10 entries, {arenas} arenas | simulation error | coverage of ± 1.96 SE |")
    print("|---|---|---|---|")
    print(f"| weighted by propensity | {np.abs(bias).max():.4f} | {noise.max():.4f} | {np.mean(covered):.3f} |")
    print(f"| not weighted | {np.abs(raw_bias).max():.4f} | | |")


def newcomer(arenas: int, seed: int) -> None:
    """Votes until a new entry among ten is rated as precisely as the others were when it came."""
    needed = {
        even: [_votes_needed(even, np.random.default_rng([seed, 2, n])) for n in range(arenas)]
        for even in (1.0, EVEN)
    }
    ratio = np.array(needed[EVEN]) / np.array(needed[1.0])
    spread = ratio.std(ddof=1) / np.sqrt(arenas)
    print(f"| newcomer, {arenas} arenas | votes in all, mean |\n|---|---|")
    print(f"| even draws | {np.mean(needed[1.0]):.0f} |")
    print(f"| arena, {EVEN:.0%} even and floor {EVEN:.0%} | {np.mean(needed[EVEN]):.0f} |")
    print(f"| ratio | {ratio.mean():.3f} ± {1.96 * spread:.3f} |")


def _votes_needed(even: float, rng: np.random.Generator) -> int:
    truth = rng.normal(0, 0.8, 10)
    pairs = all_pairs(9)[rng.integers(36, size=900)]
    first, second = list(pairs[:, 0]), list(pairs[:, 1])
    wins = list((rng.random(900) < special.expit(truth[pairs[:, 0]] - truth[pairs[:, 1]])).astype(float))
    goal = _errors(first, second, wins, 9).mean()
    plan = plan_arena(first, second, wins, entries=10, even=even, floor=min(even, EVEN))
    for vote in range(1, 5001):
        drawn = draw_pair(plan, rng)
        first.append(drawn.first)
        second.append(drawn.second)
        wins.append(float(rng.random() < special.expit(truth[drawn.first] - truth[drawn.second])))
        if vote % 10 == 0:
            if _errors(first, second, wins, 10)[9] <= goal:
                return vote
            plan = plan_arena(first, second, wins, entries=10, even=even, floor=min(even, EVEN))
    return 5000


def _errors(first: list[int], second: list[int], wins: list[float], entries: int) -> NDArray[np.float64]:
    """Standard errors of ratings around their mean."""
    covariance = laplace_posterior(first, second, wins, entries, 10.0).covariance
    centre = np.eye(entries) - 1 / entries
    return np.asarray(np.sqrt(np.diag(centre @ covariance @ centre)), np.float64)


def anytime(arenas: int, seed: int) -> None:
    """How often an interval misses, or equal entries are called different, at any of 100 looks."""
    single, missed, false, plain = 0, 0, 0, 0
    for number in range(arenas):
        rng = np.random.default_rng([seed, 3, number])
        votes = arena(np.zeros(5), 100, 15, rng)
        columns = [votes[name] for name in ("voter", "first", "second", "wins", "even")]
        scores = even_scores(*columns, entries=5)
        fit = anytime_win_rates(scores)
        outside = (fit.low > 0.5) | (fit.high < 0.5)
        single += int(outside[0])
        missed += int(np.any(outside))  # intervals only shrink: the last is all looks
        false += int(fit.separation is not None and bool(fit.separation.separated.any()))
        counts = np.cumsum(~np.isnan(scores), axis=0)
        means = np.nancumsum(scores, axis=0) / np.maximum(counts, 1)
        squares = np.nancumsum(scores**2, axis=0) / np.maximum(counts, 1) - means**2
        error = np.sqrt(np.maximum(squares, 1e-9) / np.maximum(counts, 1))
        plain += int(np.any((np.abs(means - 0.5) > 1.96 * error)[10:]))
    print(f"| a look after each of 100 voters, 5 equal entries, {arenas} arenas | any error |\n|---|---|")
    for name, count in (
        ("a plain 95 % interval", plain),
        ("the anytime-valid interval of an entry misses", single),
        ("any of the 5 anytime-valid intervals misses", missed),
        ("any pair called different", false),
    ):
        low, high = wilson(count, arenas)
        print(f"| {name} | {count / arenas:.3f} ({float(low):.3f} to {float(high):.3f}) |")


def rings(arenas: int, seed: int) -> None:
    """Power against a ring of 10 of 300 voters, and false flags without it."""
    print(f"Ring of 10 of 300 voters, 30 votes each, favouring one entry at .85; {arenas} arenas:\n")
    print(
        "| entries | ring found at 1 % | at 5 % | false alarms at 1 % | honest voters flagged | members flagged |"
    )
    print("|---|---|---|---|---|---|")
    for entries in (3, 4, 6, 10):
        found, weakly, alarms, honest, members = 0, 0, 0, [], []
        for number in range(arenas):
            for planted in (True, False):
                rng = np.random.default_rng([seed, 4, entries, number, int(planted)])
                who, first, second, prompt, wins = _ring_votes(entries, rng, planted=planted)
                images = (first * PROMPTS + prompt, second * PROMPTS + prompt)
                gap = image_gaps(*images, wins, images=entries * PROMPTS)
                ring = find_rings(who, first, second, wins, gap, voters=300, entries=entries, rng=rng, worlds=199)
                if planted:
                    found += int(ring.detected[entries // 2])
                    weakly += int(ring.p_value[entries // 2] <= 0.05)
                    members.append(ring.member[:10].mean())
                else:
                    alarms += int(ring.detected.any())
                honest.append(ring.member[10:].mean())
        print(
            f"| {entries} | {found / arenas:.2f} | {weakly / arenas:.2f} | {alarms / arenas:.3f} "
            f"| {np.mean(honest):.4f} | {np.mean(members):.2f} |"
        )


def _ring_votes(entries: int, rng: np.random.Generator, *, planted: bool) -> tuple[NDArray[np.int64], ...]:
    """Votes of 300 voters; the first ten favour the middle entry where a ring is planted."""
    truth = np.linspace(-0.8, 0.8, entries)
    tastes = truth + rng.normal(0, PULL, (300, entries))
    quality = rng.normal(0, IMAGE, (entries, PROMPTS))
    who = np.repeat(np.arange(300), 30)
    prompt = rng.integers(PROMPTS, size=len(who))
    pairs = all_pairs(entries)[rng.integers(entries * (entries - 1) // 2, size=len(who))]
    first, second = pairs[:, 0], pairs[:, 1]
    better = quality[first, prompt] - quality[second, prompt]
    chance = special.expit(tastes[who, first] - tastes[who, second] + better)
    if planted:
        inside, target = who < 10, entries // 2
        chance = np.where(inside & (first == target), 0.85, np.where(inside & (second == target), 0.15, chance))
    return who, first, second, prompt, (rng.random(len(who)) < chance).astype(np.float64)


def bots(arenas: int, seed: int) -> None:
    """Power against bots of several habits, 30 votes each, and false flags among honest voters."""
    rng = np.random.default_rng([seed, 5])
    habits = ("honest", "always the left", "left in 9 of 10", "at random in .3 s", "at random in 4 s")
    print("| voter, 30 votes and 4 identical pairs | flagged |\n|---|---|")
    for habit in habits:
        flagged = _flagged(habit, 10 * arenas, rng)
        low, high = wilson(flagged.sum(), len(flagged))
        print(f"| {habit} | {flagged.mean():.4f} ({float(low):.4f} to {float(high):.4f}) |")


def _flagged(habit: str, voters: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    who, checks = np.repeat(np.arange(voters), 30), np.repeat(np.arange(voters), 4)
    left = {"always the left": 1.0, "left in 9 of 10": 0.9}.get(habit)
    lean = rng.normal(0, 0.2, voters)[who] if habit == "honest" else 0.0  # honest voters lean a little, too
    chance = special.expit(lean + rng.normal(0, 1, len(who))) if left is None else np.full(len(who), left)
    to_left = (rng.random(len(who)) < chance).astype(np.float64)
    ties = rng.random(len(who)) < (0.15 if habit == "honest" else 0.0)
    seconds = (
        0.3 * np.exp(rng.normal(0, 0.3, len(who))) if ".3 s" in habit else 4 * np.exp(rng.normal(0, 0.5, len(who)))
    )
    failed = rng.random(len(checks)) < {"honest": 0.1, "always the left": 1.0, "left in 9 of 10": 1.0}.get(
        habit, 0.5
    )
    flags = flag_voters(who, np.where(ties, 0.5, to_left), seconds, checks, failed, voters=voters)
    return flags.any


PARTS = {"rates": rates, "newcomer": newcomer, "anytime": anytime, "rings": rings, "bots": bots}


def main() -> None:
    """Run the parts that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seed", type=int, default=101)
    parser.add_argument("--arenas", type=int, default=1000)
    parser.add_argument("--only", nargs="*", choices=list(PARTS), default=list(PARTS))
    options = parser.parse_args()
    for name in options.only:
        start = time.perf_counter()
        PARTS[name](options.arenas, options.seed)
        print(f"\n({name}: {time.perf_counter() - start:.0f} s)\n")


if __name__ == "__main__":
    main()
