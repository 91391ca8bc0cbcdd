"""Repair of unseen synthetic images by a trained scorer, measured by the ground truth.

    python benchmarks/improve_repair.py FOLDER [--images 240] [--seed 0] [--workers 2]
    python benchmarks/improve_repair.py --scorers OWN HELD_OUT

FOLDER is that of improve_world.py; OWN and HELD_OUT are models that `beholder learn` trained on studies of the
synthetic world, such as those of improve_demo.py, and images of their prompts are left out. Threshold, dilation
and margin are chosen on 32 images of development prompts by the held-out scorer; then images of other prompts, by
three generators in turn, are repaired with the erring inpainter of the synthetic world, which adds a flaw in half
of its tries, and with the exact one. The control paints the same area at a random place, and keeps it by the same
rule.
"""

import argparse
from collections.abc import Container, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import torch
from improve_world import train_scorers
from numpy.typing import NDArray

from beholder.improve.choosing import RepairChoice, choose_repair
from beholder.improve.critic import Critic, load_critic
from beholder.improve.gains import gain_row, mean_gain
from beholder.improve.masks import build_mask, shift_mask
from beholder.improve.repair import pixels_changed_outside, repair_images
from beholder.simulate.grammar import draw_requests, prompt_text
from beholder.simulate.inpainting.oracle import WorldInpainter
from beholder.simulate.inpainting.origins import Origin
from beholder.simulate.policies import GENERATORS
from beholder.tables.store import Store

POLICIES = GENERATORS[2:]
SIZE, DEVELOPMENT, TRIES = 192, 32, 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER", nargs="?")
    parser.add_argument("--scorers", type=Path, nargs=2, metavar=("OWN", "HELD_OUT"))
    parser.add_argument("--images", type=int, default=240)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    if (arguments.folder is None) == (arguments.scorers is None):
        parser.error("name FOLDER, or --scorers")
    torch.set_num_threads(1)
    trained = arguments.scorers or train_scorers(arguments.folder)
    models, trained_on = [str(model) for model in trained], prompts_of([model.parents[1] for model in trained])
    own, held_out = (load_critic(model) for model in models)
    development = origins(DEVELOPMENT, 5_000 + arguments.seed, trained_on)
    choice = choose(own, held_out, WorldInpainter(error=0.5), development)
    basis = choice.basis
    assert basis is not None
    assert basis.by_changes is not None
    assert basis.by_interval is not None
    print(
        f"threshold {choice.masks.threshold}, dilation {choice.masks.dilation}, margin {choice.margin:.3f}: "
        f"by the interval {basis.by_interval:.3f} (half-width {own.half_width:.3f}, errors correlated by "
        f"{basis.correlation:.2f}), by changes {basis.by_changes:.3f}\n"
    )
    print("| inpainter | margin | measured by | gain [95 % CI] | of possible | truly worse | kept |")
    print("|---|---|---|---|---|---|---|", flush=True)
    test = origins(arguments.images, 9_000 + arguments.seed, trained_on)
    parts = [test[start :: arguments.workers] for start in range(arguments.workers)]
    fresh = get_context("spawn")  # a fork would copy the locks of threads
    with ProcessPoolExecutor(arguments.workers, mp_context=fresh) as pool:
        for error, margin in ((0.5, choice.margin), (0.5, 0.0), (0.0, choice.margin)):
            measured = list(pool.map(partial(measure, models, choice, error, margin), parts))
            prompts = [origin.prompt for part in parts for origin in part]
            show(error, margin, prompts, {key: np.concatenate([m[key] for m in measured]) for key in measured[0]})


def prompts_of(studies: Sequence[Path]) -> set[str]:
    """The prompts of studies."""
    return {text for study in studies for text in Store(study).read("prompts")["text"]}


def origins(count: int, seed: int, trained_on: Container[str]) -> list[Origin]:
    """One image per prompt that no scorer was trained on, by the generators in turn."""
    prompts = [prompt_text(request) for request in draw_requests(count, np.random.default_rng(seed))]
    return [
        Origin(prompt, POLICIES[number % len(POLICIES)], (seed, number), SIZE)
        for number, prompt in enumerate(prompts)
        if prompt not in trained_on
    ]


def choose(own: Critic, held_out: Critic, inpainter: WorldInpainter, known: list[Origin]) -> RepairChoice:
    """Choose the settings on development images."""
    images, prompts = [inpainter.know(origin) for origin in known], [origin.prompt for origin in known]
    assert own.heatmaps is not None
    maps = own.heatmaps(images, prompts)
    return choose_repair(images, prompts, maps, own, inpainter, held_out=held_out, tries=2)


def measure(
    models: list[str], choice: RepairChoice, error: float, margin: float, known: list[Origin]
) -> dict[str, NDArray[np.float64]]:
    """Repair images, and return their scores and ground truth before and after, one number per image."""
    torch.set_num_threads(1)
    own, held_out = (load_critic(model) for model in models)
    inpainter = WorldInpainter(error=error)
    images, prompts = [inpainter.know(origin) for origin in known], [origin.prompt for origin in known]
    assert own.heatmaps is not None
    masks = [build_mask(heatmap, (SIZE, SIZE), choice.masks) for heatmap in own.heatmaps(images, prompts)]
    rng = np.random.default_rng(known[0].seed)
    repairs, controls = (
        repair_images(images, prompts, which, own, inpainter, tries=TRIES, margin=margin, seed=3)
        for which in (masks, [shift_mask(mask, rng) for mask in masks])
    )
    truths = {
        "truth-before": [inpainter.truth(image).plausibility for image in images],
        "possible": [inpainter.possible(image).plausibility for image in images],
        "truth-after": [inpainter.truth(repair.after).plausibility for repair in repairs],
        "control-after": [inpainter.truth(repair.after).plausibility for repair in controls],
    }
    scores = {
        "own-before": [repair.own_before for repair in repairs],
        "own-after": [repair.own_after for repair in repairs],
        "held-out-before": held_out.score(images, prompts),
        "held-out-after": held_out.score([repair.after for repair in repairs], prompts),
    }
    counts = {
        "kept": [repair.accepted for repair in repairs],
        "control-kept": [repair.accepted for repair in controls],
        "outside": [
            pixels_changed_outside(r) + pixels_changed_outside(c) for r, c in zip(repairs, controls, strict=True)
        ],
    }
    return {name: np.asarray(column, np.float64) for name, column in (truths | scores | counts).items()}


def show(error: float, margin: float, prompts: list[str], measured: dict[str, NDArray[np.float64]]) -> None:
    """Print the rows of one inpainter and margin."""
    truth, possible = measured["truth-before"], float((measured["possible"] - measured["truth-before"]).mean())
    columns = {
        "scorer that chose": (measured["own-before"], measured["own-after"], "kept"),
        "held-out scorer": (measured["held-out-before"], measured["held-out-after"], "kept"),
        "ground truth": (truth, measured["truth-after"], "kept"),
        "control, ground truth": (truth, measured["control-after"], "control-kept"),
    }
    inpainter = WorldInpainter(error=error).identity
    for name, (before, after, kept) in columns.items():
        row = gain_row("own", name, before, after, prompts)
        true = name.endswith("truth")
        proportion = f"{float(str(row['gain'])) / possible:.1%} of {possible:.3f}" if true else ""
        worse = f"{row['worse']:.1%}" if true else ""
        print(
            f"| {inpainter} | {margin:.3f} | {name} | {row['gain']:+.3f} [{row['low']:+.3f}, {row['high']:+.3f}] "
            f"| {proportion} | {worse} | {measured[kept].mean():.0%} |",
            flush=True,
        )
    lead = mean_gain(measured["truth-after"] - measured["control-after"], prompts)
    print(f"| | | ground truth less control | {lead} | | | {int(measured['outside'].sum())} pixels outside |")


if __name__ == "__main__":
    main()
