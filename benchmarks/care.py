"""What each mechanism of care changes, on simulated panels whose truth is known.

    python benchmarks/care.py [--seeds 200] [--only TITLE]

Prints markdown tables; ``docs/measured/care.md`` is a saved run.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from beholder.care.prototype_round import READY, prototype_rule, prototype_size, rule_properties
from beholder.errors import StatisticsError
from beholder.simulate.panels.checked_raters import simulate_alarms, simulate_gold, simulate_prediction
from beholder.simulate.panels.market import Market, simulate_market
from beholder.simulate.panels.paid_sessions import PaidPanel, simulate_pay
from beholder.simulate.panels.rings import RingKind, simulate_ring
from beholder.simulate.panels.served_gold import simulate_served_gold


def pay_table(seeds: int) -> list[str]:
    panels = {
        "20 % inflate their reports": PaidPanel(),
        "40 % inflate their reports": PaidPanel(liars=0.4),
        "20 % inflate, 10 % of all also keep the page busy": PaidPanel(liars=0.2, fakers=0.1),
        "nobody lies, speeds differ twice as much (sd .5)": PaidPanel(liars=0.0, spread=0.5),
        "sd .5, 20 % inflate": PaidPanel(spread=0.5),
        "sd .5, 20 % inflate, 10 % of all also keep the page busy": PaidPanel(fakers=0.1, spread=0.5),
    }
    rows = [
        "| panel | honest: lowest pay ÷ wage | by medians alone | lies: most pay ÷ allowed | "
        "mean gain of a lie | frozen honest |",
        "|---|---|---|---|---|---|",
    ]
    for name, panel in panels.items():
        runs = [simulate_pay(panel, np.random.default_rng([seed, 31])) for seed in range(seeds)]
        lies = [run for run in runs if len(run.liars)]
        most = f"{max(run.liars.max() for run in lies):.3f}" if lies else "–"
        gain = f"{np.mean([run.gain.mean() for run in lies]):.3f}" if lies else "–"
        rows.append(
            f"| {name} | {min(run.honest.min() for run in runs):.3f} "
            f"| {min(run.honest_by_medians.min() for run in runs):.3f} | {most} | {gain} "
            f"| {np.mean([run.frozen_honest for run in runs]):.2%} |"
        )
    return rows


def prototype_table(seeds: int) -> list[str]:
    rows = [
        "| raters of the study | asked at first | at most | faulty stopped | of simulated rounds | "
        "faultless stopped | of simulated rounds | mean raters asked (faulty, faultless) | "
        "Daemo's rule: faulty, faultless stopped |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    rng = np.random.default_rng(2)
    for raters in (16, 25, 64, 100, 196, 400):
        rule = prototype_rule(raters)
        exact = [rule_properties(rule, chance) for chance in (0.4, 0.05)]
        simulated = []
        for chance in (0.4, 0.05):
            stopped = 0
            for _ in range(10 * seeds):
                publish = revise = 0
                while (decision := rule.decide(publish, revise)) == "ask more":
                    is_revise = rng.random() < chance
                    revise, publish = revise + is_revise, publish + (not is_revise)
                stopped += decision == "revise"
            simulated.append(stopped / (10 * seeds))
        first = prototype_size(raters, 1)[0]
        daemo = [np.mean(1 - rng.binomial(first, chance, 100_000) / first < READY) for chance in (0.4, 0.05)]
        rows.append(
            f"| {raters} | {rule.first_raters} | {rule.most_raters} | {exact[0].stopped:.1%} | {simulated[0]:.1%} "
            f"| {exact[1].stopped:.1%} | {simulated[1]:.1%} "
            f"| {exact[0].mean_raters:.1f}, {exact[1].mean_raters:.1f} "
            f"| {daemo[0]:.1%}, {daemo[1]:.1%} |"
        )
    return rows


def prototype_other() -> list[str]:
    notices, reports = (0.2, 0.3, 0.4, 0.5, 0.6), (0.01, 0.05, 0.1)
    rows = [
        "| noticed with | " + " | ".join(f"false reports {report}" for report in reports) + " |",
        "|---|" + "---|" * len(reports),
    ]
    for notice in notices:
        cells = []
        for report in reports:
            try:
                rule = prototype_rule(25, notice=notice, false_report=report)
            except StatisticsError:
                cells.append("–")
                continue
            faulty, faultless = rule_properties(rule, notice), rule_properties(rule, report)
            cells.append(
                f"≤ {rule.most_raters}, mean {faulty.mean_raters:.1f}; {faulty.stopped:.1%}, "
                f"{faultless.stopped:.1%}"
            )
        rows.append(f"| {notice} | " + " | ".join(cells) + " |")
    return rows


def wrong_assumption() -> list[str]:
    rule = prototype_rule(25)
    rows = ["| a rater votes *revise* with | stopped | mean raters |", "|---|---|---|"]
    for chance in (0.01, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5):
        found = rule_properties(rule, chance)
        rows.append(f"| {chance} | {found.stopped:.1%} | {found.mean_raters:.1f} |")
    return rows


def market_table(seeds: int) -> list[str]:
    markets = {
        "5 gold trials, all come within an hour": Market(),
        "10 gold trials": Market(gold=10),
        "20 gold trials": Market(gold=20),
        "all come within 15 minutes": Market(hour=900.0),
        "16 studies": Market(studies=16),
    }
    rows = [
        "| market | first come | Boomerang | difference | 95 % CI | slots to newcomers |",
        "|---|---|---|---|---|---|",
    ]
    for name, market in markets.items():
        runs = [simulate_market(market, np.random.default_rng([seed, 3])) for seed in range(seeds)]
        gain = [run.boomerang - run.first_come for run in runs]
        low, high = interval(gain)
        rows.append(
            f"| {name} | {np.mean([run.first_come for run in runs]):.4f} "
            f"| {np.mean([run.boomerang for run in runs]):.4f} | {np.mean(gain):+.4f} | {low:+.4f} to {high:+.4f} "
            f"| {np.mean([run.newcomers for run in runs]):.0%} |"
        )
    return rows


def alarm_table(raters: int) -> list[str]:
    rows = [
        "| accuracy of the raters | baseline | false alarms in 200 | "
        "drop of .15 found within 150 | median delay |",
        "|---|---|---|---|---|",
    ]
    rng = np.random.default_rng(4)
    for accuracy in (0.95, 0.9, 0.8, 0.7):
        rates = simulate_alarms(np.full(raters, accuracy), rng)
        rows.append(
            f"| {accuracy} | known | {rates.false_alarms:.1%} | {rates.detected:.1%} | {rates.median_delay:.0f} |"
        )
    for trials in (20, 50, 100, 200):
        spread = np.clip(rng.beta(17, 3, raters), 0.6, 0.97)
        rates = simulate_alarms(spread, rng, baseline_trials=trials)
        rows.append(
            f"| Beta(17, 3) | from {trials} gold trials | {rates.false_alarms:.1%} | {rates.detected:.1%} "
            f"| {rates.median_delay:.0f} |"
        )
    return rows


def gold_table(raters: int) -> list[str]:
    rows = [
        "| accuracy | gold ÷ constant checking | found, thinning | found, constant | "
        "false alarms, thinning | constant |",
        "|---|---|---|---|---|---|",
    ]
    for accuracy in (0.95, 0.9, 0.8, 0.7):
        cost = simulate_gold(accuracy, raters, np.random.default_rng([25, round(100 * accuracy)]))
        rows.append(
            f"| {accuracy} | {cost.gold:.1%} | {cost.detected:.1%} | {cost.constant_detected:.1%} "
            f"| {cost.false_alarms:.1%} | {cost.constant_false_alarms:.1%} |"
        )
    return rows


def served_gold_table(seeds: int) -> list[str]:
    rows = [
        "| accuracy | trials of a session | drawn as gold | gold ÷ constant checking | found, thinning "
        "| found, constant | difference, points | 95 % CI | false alarms, thinning | constant | raters |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for drawn, session, raters in ((1 / 2, 50, 25), (1 / 3, 50, 10), (1 / 5, 50, 10), (1 / 2, 100, 10)):
        for accuracy in (0.95, 0.9, 0.8, 0.7):
            rng = np.random.default_rng([21, session, round(100 * drawn), round(100 * accuracy)])
            cost = simulate_served_gold(accuracy, raters * seeds, rng, session=session, drawn=drawn)
            found = f"{cost.detected:.1%} | {cost.constant_detected:.1%} | {100 * cost.difference:+.1f}"
            interval = f"{100 * cost.difference_low:+.1f} to {100 * cost.difference_high:+.1f}"
            alarms = f"{cost.false_alarms:.1%} | {cost.constant_false_alarms:.1%}"
            rows.append(
                f"| {accuracy} | {session} | {drawn:.0%} | {cost.gold:.1%} | {found} | {interval} | {alarms} "
                f"| {raters * seeds:,} |"
            )
            print(rows[-1], file=sys.stderr, flush=True)
    return rows


def prediction_table(seeds: int) -> list[str]:
    rows = [
        "| first trials | correlation with the accuracy of the next 200 | coverage of 95 % prediction intervals |",
        "|---|---|---|",
    ]
    for first in (5, 10, 20):
        runs = [simulate_prediction(100, first, 200, np.random.default_rng([seed, 6])) for seed in range(seeds)]
        rows.append(
            f"| {first} | {np.mean([run[0] for run in runs]):.2f} | {np.mean([run[1] for run in runs]):.1%} |"
        )
    return rows


def ring_table(seeds: int) -> list[str]:
    rows = [
        "| contributors | ring | how | judge each other with | plain PageRank | protected: mean | "
        "95 % CI | 95th percentile | correlation with true contributions | honest flagged |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    cases: Sequence[tuple[int, int, RingKind, float]] = (
        (20, 2, "clique", 1.0),
        (20, 4, "clique", 1.0),
        (20, 4, "cycle", 1.0),
        (20, 4, "half", 1.0),
        (20, 6, "clique", 1.0),
        (12, 4, "clique", 1.0),
        (20, 4, "clique", 0.6),
        (20, 4, "half", 0.6),
    )
    for count, ring, kind, acquainted in cases:
        runs = [
            simulate_ring(count, ring, kind, np.random.default_rng([seed, 7]), acquainted=acquainted)
            for seed in range(seeds)
        ]
        ratio = [run.protected for run in runs]
        low, high = interval(ratio)
        rows.append(
            f"| {count} | {ring} | {kind} | {acquainted:.0%} | {np.mean([run.plain for run in runs]):.2f} "
            f"| {np.mean(ratio):.3f} | {low:.3f} to {high:.3f} | {np.quantile(ratio, 0.95):.2f} "
            f"| {np.mean([run.correlation for run in runs]):.2f} "
            f"| {np.mean([run.flagged_honest for run in runs]):.1%} |"
        )
    return rows


def interval(values: ArrayLike) -> tuple[float, float]:
    """Return the 95 % confidence interval of the mean over seeds."""
    numbers = np.asarray(values, np.float64)
    half = 1.96 * float(numbers.std(ddof=1)) / np.sqrt(len(numbers))
    return float(numbers.mean() - half), float(numbers.mean() + half)


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--only", default="", help="titles that contain this")
    arguments = parser.parse_args()
    seeds = arguments.seeds
    tables: dict[str, Callable[[], list[str]]] = {
        "Fair pay": lambda: pay_table(seeds),
        "Prototype rounds": lambda: prototype_table(seeds),
        "Prototype rounds: other probabilities, 25 raters": prototype_other,
        "Prototype rounds: the rule for .4 and .05 where these are wrong, 25 raters": wrong_assumption,
        "Boomerang": lambda: market_table(seeds),
        "Drift alarms": lambda: alarm_table(40 * seeds),
        "Gold that thins out": lambda: gold_table(20 * seeds),
        "Gold as a server thins it out": lambda: served_gold_table(seeds),
        "Prediction from the first trials": lambda: prediction_table(seeds),
        "Rings": lambda: ring_table(seeds),
    }
    for title, make in tables.items():
        if arguments.only not in title:
            continue
        began = time.perf_counter()
        rows = make()
        print(f"## {title}\n", *rows, f"\n({time.perf_counter() - began:.0f} s)\n", sep="\n", flush=True)


if __name__ == "__main__":
    main()
