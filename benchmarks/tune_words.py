"""More weight on the words that a trained model says are missed, against the exact ground truth of *painted*.

    python benchmarks/tune_words.py MODEL --seeds 0 1 2 … [--thresholds 0.3] [--weights 3]

MODEL is a folder that ``tune_world.py FOLDER tiny-rich-grounded`` trained. Prints one JSON line per seed,
threshold and weight: the gain in alignment with more weight on the words predicted to be misaligned, with as many
random words, the difference of both, and the F1 of the predicted words. Images are new, and prompts are drawn
again from the grammar: about 1 in 60 is also among those that the model was trained on. Threshold and weight were
chosen on seeds from 1000 on.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tune_painted import true_gain
from tune_world import SIZE

from beholder.improve.tuning.before_after import save_sample
from beholder.improve.tuning.words import (
    Words,
    WordSettings,
    follow_words,
    random_words,
    word_predictor,
)
from beholder.models.pipelines.sampling import sample
from beholder.scorers.rich.members import Member, load_members
from beholder.simulate.grammar import draw_requests, prompt_text
from beholder.simulate.painted.generator import PaintedGenerator
from beholder.simulate.painter import GroundTruth

PROMPTS = 64


def run_seed(
    member: Member, seed: int, thresholds: Sequence[float], weights: Sequence[float]
) -> Iterator[dict[str, Any]]:
    """The gains of one seed, on prompts of its own, for every threshold and weight."""
    generator = PaintedGenerator(size=SIZE)
    prompts = [prompt_text(request) for request in draw_requests(PROMPTS, np.random.default_rng([seed, 54]))]
    seeds = [5_000_000 + 10_000 * seed + number for number in range(PROMPTS)]
    with torch.no_grad():
        plain = sample(generator, prompts, seeds)
    before = save_sample(generator, plain, prompts, seeds)
    for threshold in thresholds:
        missed = word_predictor(member, threshold)(plain.images, prompts)
        at_random = random_words(prompts, missed, np.random.default_rng([seed, 55]))
        for weight in weights:
            settings = WordSettings(weight, threshold)
            after, control = (
                save_sample(generator, follow_words(generator, prompts, seeds, words, settings), prompts, seeds)
                for words in (missed, at_random)
            )
            yield {
                **{"threshold": threshold, "weight": weight},
                "words": true_gain(before, after, "alignment"),
                "control": true_gain(before, control, "alignment"),
                "difference": true_gain(control, after, "alignment"),
                "overall": true_gain(before, after),
                **agreement(missed, before.truths),
            }


def agreement(missed: Words, truths: Sequence[GroundTruth]) -> dict[str, float]:
    """Precision, recall and F1 of the predicted words, pooled over images."""
    pairs = list(zip(missed, (truth.misaligned_words for truth in truths), strict=True))
    right = sum(len(set(words) & set(true)) for words, true in pairs)
    predicted, true = (sum(len(pair[side]) for pair in pairs) for side in (0, 1))
    return {
        "precision": right / max(predicted, 1),
        "recall": right / max(true, 1),
        "F1": 2 * right / max(predicted + true, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", required=True)
    parser.add_argument("--thresholds", type=float, nargs="+", default=[WordSettings().threshold])
    parser.add_argument("--weights", type=float, nargs="+", default=[WordSettings().weight])
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    (member,) = load_members([arguments.model])
    for seed in arguments.seeds:
        for row in run_seed(member, seed, arguments.thresholds, arguments.weights):
            print(json.dumps({"seed": seed, **row}), flush=True)


if __name__ == "__main__":
    main()
