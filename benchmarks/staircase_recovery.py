"""Does the timed task recover a rater's threshold? Simulated observers with known thresholds do HYPE-time.

python benchmarks/staircase_recovery.py [--observers 400]

An observer is correct at exposure t with probability ½ + (½ − λ)(1 − exp(−ln 2 · (t/θ)^b)) for a lapse rate λ;
the truth is the exposure at which that is 75 %, where the published steps (30 ms up, 10 ms down) settle.
Exposures follow the rule of ``TimedRealismQuestion``, which the server replays from its log, and are shown in
whole frames of 60 Hz; whatever is estimated is estimated from what was shown.
"""

import argparse
import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from beholder.study.kinds.timed_realism import TimedRealismQuestion
from beholder.study.protocols.catalogue import PROTOCOLS

FRAME_MS = 1000 / 60
CHANCE = 0.5
TARGET = 0.75
BURN_IN = 50
"""Trials of a block before the staircase is assumed to have converged (burn-in)."""

THRESHOLDS = (150.0, 250.0, 350.0, 500.0, 700.0)
SLOPE, LAPSE = 2.5, 0.02

Blocks = list[tuple[list[float], list[bool]]]
"""Exposures, and whether the answers were correct, in each block."""


@dataclass(frozen=True)
class Observer:
    """An observer with a known probability of a correct answer at any exposure."""

    theta: float
    slope: float = SLOPE
    lapse: float = LAPSE

    def chance(self, exposure_ms: float) -> float:
        detection = 1 - np.exp(-np.log(2) * (exposure_ms / self.theta) ** self.slope)
        return float(CHANCE + (1 - CHANCE - self.lapse) * detection)

    def truth(self) -> float:
        """Exposure with 75 % correct."""
        detection = (TARGET - CHANCE) / (1 - CHANCE - self.lapse)
        return float(self.theta * (-np.log(1 - detection) / np.log(2)) ** (1 / self.slope))


def observer_at(truth: float) -> Observer:
    """Return the observer with 75 % correct at this exposure."""
    return Observer(truth / Observer(1.0).truth())


def block(
    question: TimedRealismQuestion, observer: Observer, trials: int, rng: np.random.Generator
) -> tuple[list[float], list[bool]]:
    """Return exposures, and whether the answers were correct, in one block from its start."""
    exposures: list[float] = []
    right: list[bool] = []
    exposure, right_so_far = float(question.start_ms), 0
    for _ in range(trials):
        if question.adapt != "staircase":
            exposure = question.exposure_after(exposures, right)
        exposures.append(max(round(exposure / FRAME_MS), 1) * FRAME_MS)
        right.append(bool(rng.random() < observer.chance(exposures[-1])))
        if question.adapt == "staircase":  # as ``exposure_after`` does it, without going through the log each time
            exposure, right_so_far = question.next_exposure(exposure, right_so_far, right=right[-1])
    return exposures, right


def settled_mean(blocks: Blocks) -> float:
    """Return the mean exposure after the burn-in of each block."""
    return float(np.mean([ms for exposures, _ in blocks for ms in exposures[BURN_IN:]]))


def mode(blocks: Blocks) -> float:
    """Return HYPE's own estimate: the most frequent exposure of the blocks."""
    values, counts = np.unique(
        np.concatenate([np.round(exposures, 3) for exposures, _ in blocks]), return_counts=True
    )
    return float(values[np.argmax(counts)])


GRID = np.exp(np.linspace(np.log(40), np.log(2500), 420))
SLOPES = np.array([1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.5])
LAPSES = np.array([0.0, 0.01, 0.02, 0.04])


def maximum_likelihood(blocks: Blocks) -> float:
    """Return the exposure with 75 % correct by the maximum-likelihood fit of threshold, slope and lapse rate."""
    exposures = np.round(np.concatenate([np.asarray(s) for s, _ in blocks]), 3)
    right = np.concatenate([np.asarray(r, float) for _, r in blocks])
    values, level = np.unique(exposures, return_inverse=True)
    hits = np.bincount(level, right)
    misses = np.bincount(level) - hits
    theta, slope, lapse = (axis.ravel() for axis in np.meshgrid(GRID, SLOPES, LAPSES, indexing="ij"))
    detection = 1 - np.exp(-np.log(2) * (values[:, None] / theta) ** slope)  # (exposures, parameters)
    chance = np.clip(CHANCE + (1 - CHANCE - lapse) * detection, 1e-9, 1 - 1e-9)
    best = int(np.argmax(hits @ np.log(chance) + misses @ np.log(1 - chance)))
    return Observer(theta[best], slope[best], lapse[best]).truth()


ESTIMATES: dict[str, dict[str, Callable[[Blocks], float]]] = {
    "staircase": {
        "mean after burn-in": settled_mean,
        "maximum likelihood": maximum_likelihood,
        "mode (HYPE)": mode,
    },
    "quest-plus": {"maximum likelihood": maximum_likelihood},
}


def row(question: TimedRealismQuestion, truth: float, observers: int, rng: np.random.Generator) -> str:
    """Return bias and standard deviation of each estimate, in percent of the true threshold."""
    observer, design, estimates = observer_at(truth), question.design, ESTIMATES[question.adapt]
    estimated: dict[str, list[float]] = {name: [] for name in estimates}
    correct_rates = []
    for _ in range(observers):
        trials = design.trials // design.blocks
        blocks = [block(question, observer, trials, rng) for _ in range(design.blocks)]
        for name, estimate in estimates.items():
            estimated[name].append(estimate(blocks))
        correct_rates.append(np.mean([answer for _, right in blocks for answer in right[BURN_IN:]]))
    cells = []
    for values in estimated.values():
        off = 100 * (np.asarray(values) / truth - 1)
        error = np.std(off) / np.sqrt(len(off))
        cells.append(f"{np.mean(off):+.1f} ± {error:.1f} ({np.std(off):.0f})")
    return f"| {truth:.0f} | {' | '.join(cells)} | {100 * np.mean(correct_rates):.1f} % |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--observers", type=int, default=400)
    parser.add_argument("--quest-observers", type=int, default=25)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    began = time.perf_counter()
    (question,) = PROTOCOLS["hype-time"].questions()
    assert isinstance(question, TimedRealismQuestion)
    quest = question.model_copy(update={"adapt": "quest-plus"})
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}; ", end="")
    print(
        f"{question.design.blocks} blocks of {question.design.trials // question.design.blocks}, slope {SLOPE}, ",
        end="",
    )
    print(f"lapse {LAPSE}, seed {options.seed}")
    for name, timed_question, observers in (
        ("staircase", question, options.observers),
        ("QUEST+", quest, options.quest_observers),
    ):
        rng = np.random.default_rng(options.seed)
        print(
            f"\n{name}, {observers} observers a row; bias in % of the truth ± its error (SD between observers)\n"
        )
        names = list(ESTIMATES[timed_question.adapt])
        print(f"| truth, ms | {' | '.join(names)} | right after burn-in |\n|---|{'---|' * (len(names) + 1)}")
        for truth in THRESHOLDS:
            print(row(timed_question, truth, observers, rng), flush=True)
    print(f"\n{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
