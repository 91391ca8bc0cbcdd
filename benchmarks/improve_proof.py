"""Coverage of the net preference of a blind before/after comparison, from raters alone and powered by scores.

    python benchmarks/improve_proof.py [--studies 2000] [--seed 0]

A simulated study has raters and prompts drawn at random. The difference that rater i sees between the images of
prompt j is μ + a_i + b_j + e_ij with standard deviations .3, .5 and 1; it is called better above .35, much better
above 1.2, and so on. The true net preference is E sign = Φ((μ − .35)/s) − Φ((−μ − .35)/s),
s² = .3² + .5² + 1. Scores of the prompts are b_j plus noise, with the correlation that is printed.
"""

import argparse

import numpy as np
from scipy import special

from beholder.stats.comparisons.net_preference import net_preference, powered_net_preference
from beholder.stats.intervals.proportions import wilson

RATER_SD, PROMPT_SD, SAME, MUCH = 0.3, 0.5, 0.35, 1.2
DESIGNS = (
    ("6 raters × 100 prompts, as published", 6, 100, 100),
    ("30 raters × 100 prompts", 30, 100, 100),
    ("30 raters × 40 of 60 prompts each", 30, 60, 40),
    ("12 raters × 50 prompts", 12, 50, 50),
)
FURTHER = 400


def true_net(shift: float) -> float:
    """The net preference of the population."""
    s = np.sqrt(RATER_SD**2 + PROMPT_SD**2 + 1)
    return float(special.ndtr((shift - SAME) / s) - special.ndtr((-shift - SAME) / s))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    print("| design | true | coverage | half-width | powered by scores (r) | coverage | narrower by |")
    print("|---|---|---|---|---|---|---|")
    for number, (name, raters, prompts, each) in enumerate(DESIGNS):
        for place, (shift, correlation) in enumerate(((0.0, 0.9), (0.5, 0.9), (0.5, 0.6), (0.5, 0.0))):
            rng = np.random.default_rng([arguments.seed, number, place])
            row = np.array(
                [simulate(shift, correlation, raters, prompts, each, rng) for _ in range(arguments.studies)]
            )
            covered, width, powered_covered, powered_width = row.mean(axis=0)
            print(
                f"| {name} | {true_net(shift):+.3f} | {_rate(covered, arguments.studies)} | {width / 2:.3f} "
                f"| {correlation:.1f} | {_rate(powered_covered, arguments.studies)} "
                f"| {1 - powered_width / width:+.1%} |",
                flush=True,
            )


def simulate(
    shift: float, correlation: float, raters: int, prompts: int, each: int, rng: np.random.Generator
) -> tuple[bool, float, bool, float]:
    """Return whether the true net preference is covered, and the width: of raters alone, and powered."""
    between = rng.normal(0, PROMPT_SD, prompts + FURTHER)
    noise = rng.normal(0, PROMPT_SD, prompts + FURTHER)
    scores = correlation * between + np.sqrt(1 - correlation**2) * noise
    order = np.argsort(rng.random((raters, prompts)), axis=1)[:, :each]
    rater, prompt = np.repeat(np.arange(raters), each), order.ravel()
    seen = shift + rng.normal(0, RATER_SD, raters)[rater] + between[prompt] + rng.normal(0, 1, len(rater))
    answers = (np.sign(seen) * ((np.abs(seen) >= SAME).astype(int) + (np.abs(seen) >= MUCH))).astype(int)
    target = true_net(shift)
    plain = net_preference(answers, rater, prompt).net
    powered = powered_net_preference(answers, rater, prompt, scores[prompt], scores[prompts:]).net
    return (
        plain.low <= target <= plain.high,
        plain.high - plain.low,
        powered.low <= target <= powered.high,
        powered.high - powered.low,
    )


def _rate(rate: float, studies: int) -> str:
    low, high = wilson(round(rate * studies), studies)
    return f"{rate:.1%} [{float(low):.1%}, {float(high):.1%}]"


if __name__ == "__main__":
    main()
