"""Guide, tune and watch the painted generator, whose ground truth is exact, by scorers of simulated raters.

    python benchmarks/tune_painted.py FOLDER PART --seeds 0 1 2 …

``FOLDER`` is that of ``tune_scorer.py``. Parts: ``guide`` (guidance and optimised noise), ``anchored`` and
``loose`` (DRaFT with and without the anchor, watched to the end), ``best`` (best of 8), ``realism`` (tuning by the
realism predictor), ``words``. Each prints one JSON line per seed, which is also added to ``FOLDER/PART.jsonl``.
All seeds differ from those that the scorers were trained on; prompts are drawn again from the same grammar.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from beholder.errors import StatisticsError, TrainingError
from beholder.improve.alarms.alarm import Alarm
from beholder.improve.alarms.watches import Watches
from beholder.improve.gains import mean_gain
from beholder.improve.tuning.before_after import SavedImages, save_sample
from beholder.improve.tuning.guide import GuideSettings, guided_sample
from beholder.improve.tuning.losses import Prompts
from beholder.improve.tuning.reward import Reward, load_reward
from beholder.improve.tuning.settings import TuneSettings
from beholder.improve.tuning.tune import Material, tune
from beholder.improve.tuning.words import WordSettings, follow_words, random_words
from beholder.models.encoders.differentiable import prepare_tensors
from beholder.models.pipelines.sampling import sample
from beholder.models.realism import Realism
from beholder.models.weights.checkpoint import load_checkpoint
from beholder.simulate.grammar import draw_requests, prompt_text
from beholder.simulate.painted.generator import PaintedGenerator
from beholder.simulate.painter import FLAWLESS, paint
from beholder.study.words import split_words

SIZE = 48
UNSEEN, TUNED = 64, 64
RATE, STEPS, LOOSE_STEPS, ANCHOR, EVERY = 2e-3, 60, 240, 0.3, 5
OVERALL, REALISM = "bad", "realism"
HIT, FALSE_ALARM = 0.8, 0.03
"""Of simulated keywords: about the F1 of .8 that tiny-rich-grounded has (docs/measured/rich-feedback.md)."""


def features_of(folder: Path, scorer: str) -> Callable[[np.ndarray], np.ndarray]:
    """The features of the scorer that has no say: its pooled maps."""
    model, _ = load_checkpoint(folder / (REALISM if scorer == OVERALL else OVERALL))
    assert isinstance(model, Realism)

    def features(images: np.ndarray) -> np.ndarray:
        pixels = torch.from_numpy(images).movedim(-1, 1).float() / 255
        with torch.no_grad():
            return np.asarray(model.module.eye(prepare_tensors(pixels, model._preprocessing)).numpy())

    return features


def watches_of(folder: Path, scorer: str, before: SavedImages, others: SavedImages, seed: int) -> Watches:
    """Watches by the scorer of the other kind."""
    other = load_reward(str(folder / (REALISM if scorer == OVERALL else OVERALL)))

    def score(images: np.ndarray, prompts: Sequence[str]) -> np.ndarray:
        return other.plain(torch.from_numpy(images).movedim(-1, 1).float() / 255, prompts)

    return Watches(
        before.prompts,
        before.pixels,
        others.pixels,
        features_of(folder, scorer),
        real_images(seed),
        {other.name.rpartition("/")[2]: score},
    )


def prompts_of(seed: int) -> tuple[list[str], list[str]]:
    """Prompts to tune on, and unseen ones."""
    requests = draw_requests(TUNED + UNSEEN, np.random.default_rng([seed, 50]))
    texts = [prompt_text(request) for request in requests]
    return texts[:TUNED], texts[TUNED:]


def draw(generator: PaintedGenerator, prompts: list[str], seeds: list[int]) -> SavedImages:
    """Images of the generator as it is, with their ground truth."""
    with torch.no_grad():
        return save_sample(generator, sample(generator, prompts, seeds), prompts, seeds)


def true_gain(before: SavedImages, after: SavedImages, aspect: str = "overall") -> dict[str, float]:
    """The mean gain of the ground truth, with its 95 % confidence interval over prompts."""
    gains = [
        getattr(second, aspect) - getattr(first, aspect)
        for first, second in zip(before.truths, after.truths, strict=True)
    ]
    estimate = mean_gain(gains, before.prompts)
    return {"gain": estimate.value, "low": estimate.low, "high": estimate.high}


def real_images(seed: int) -> np.ndarray:
    """Flawless images: the reference of the Fréchet distance."""
    rng = np.random.default_rng([seed, 51])
    return np.stack(
        [paint(request, FLAWLESS, size=SIZE, rng=rng).pixels for request in draw_requests(UNSEEN, rng)]
    )


def run_guide(folder: Path, seed: int) -> dict[str, Any]:
    generator, reward = PaintedGenerator(size=SIZE), load_reward(str(folder / OVERALL))
    _, prompts = prompts_of(seed)
    seeds = [10_000 * (seed + 1) + number for number in range(len(prompts))]
    before = draw(generator, prompts, seeds)
    row: dict[str, Any] = {}
    for name, settings in (
        ("guidance", GuideSettings(strength=0.12)),
        ("noise", GuideSettings(iterations=8)),
    ):
        began = time.process_time()
        after = save_sample(generator, guided_sample(generator, reward, prompts, seeds, settings), prompts, seeds)
        row[name] = {**true_gain(before, after), "cpu": (time.process_time() - began) / len(prompts)}
        row[name]["own"] = own_gain(reward, before, after)
    return row


def own_gain(reward: Reward, before: SavedImages, after: SavedImages) -> float:
    """The gain by the scorer that was optimised."""
    scores = [
        reward.plain(torch.from_numpy(images.pixels).movedim(-1, 1).float() / 255, images.prompts)
        for images in (before, after)
    ]
    return float(np.mean(scores[1] - scores[0]))


def run_tune(folder: Path, seed: int, *, anchor: float, scorer: str, aspect: str, steps: int) -> dict[str, Any]:
    """DRaFT, watched to the end: the truth at every look, and which alarms were raised when."""
    generator, reward = PaintedGenerator(size=SIZE), load_reward(str(folder / scorer))
    tuned_on, unseen = prompts_of(seed)
    seeds = [10_000 * (seed + 1) + number for number in range(len(unseen))]
    before = draw(generator, unseen, seeds)
    watches = watches_of(folder, scorer, before, draw(generator, unseen, [seed + 5000 for seed in seeds]), seed)
    curve: list[float] = []
    found: list[tuple[int, Alarm]] = []
    latest = [before]

    def look() -> list[Alarm]:
        now = draw(generator, unseen, seeds)
        gain, alarms = true_gain(before, now, aspect)["gain"], watches.look(now.pixels)
        found.extend((EVERY * len(curve), alarm) for alarm in alarms)
        curve.append(gain)
        latest[0] = now
        return alarms

    material = Material(Prompts(tuple(tuned_on), (500, 501)), reward)
    settings = TuneSettings(steps=steps, batch=8, rate=RATE, anchor=anchor, check_every=EVERY, seed=seed)
    began = time.process_time()
    with tempfile.TemporaryDirectory() as scratch:
        try:
            tune(generator, material, settings, Path(scratch), look=look, stop_at_alarm=False)
        except (TrainingError, StatisticsError) as error:  # without the anchor weights may grow beyond all bounds
            print(f"seed {seed}: {error}", file=sys.stderr, flush=True)
    after = latest[0]
    raised: dict[str, int] = {}
    for step, alarm in found:
        if alarm.raised:
            raised.setdefault(alarm.watch.partition(" ")[0], step)
    return {
        **true_gain(before, after, aspect),
        "own": own_gain(reward, before, after),
        "curve": [round(gain, 4) for gain in curve],
        "raised": raised,
        "cpu": time.process_time() - began,
        "looks": [
            [step, alarm.watch.partition(" ")[0], *(round(end, 3) for end in (alarm.value, alarm.low, alarm.high))]
            for step, alarm in found
        ],
    }


def run_best(folder: Path, seed: int) -> dict[str, Any]:
    """Best of 8 by the scorer: the true gain, and the alarms, of which there should be none."""
    generator, reward = PaintedGenerator(size=SIZE), load_reward(str(folder / OVERALL))
    _, prompts = prompts_of(seed)
    seeds = [10_000 * (seed + 1) + number for number in range(len(prompts))]
    before = draw(generator, prompts, seeds)
    several = [draw(generator, prompts, [seed + 1000 * number for seed in seeds]) for number in range(8)]
    scores = np.stack(
        [reward.plain(torch.from_numpy(s.pixels).movedim(-1, 1).float() / 255, s.prompts) for s in several]
    )
    chosen = scores.argmax(axis=0)
    rows = range(len(prompts))
    after = SavedImages(
        before.prompts,
        tuple(several[int(chosen[row])].seeds[row] for row in rows),
        np.stack([several[int(chosen[row])].pixels[row] for row in rows]),
        tuple(several[int(chosen[row])].truths[row] for row in rows),
    )
    alarms = watches_of(folder, OVERALL, before, several[1], seed).look(after.pixels)
    return {
        **true_gain(before, after),
        "raised": [alarm.watch for alarm in alarms if alarm.raised],
        "values": {alarm.watch.partition(" ")[0]: round(alarm.value, 3) for alarm in alarms},
    }


def run_words(folder: Path, seed: int) -> dict[str, Any]:
    """More weight on words said to be misaligned, with errors as a model makes them, and on random ones."""
    del folder
    generator, rng = PaintedGenerator(size=SIZE), np.random.default_rng([seed, 52])
    _, prompts = prompts_of(seed)
    seeds = [10_000 * (seed + 1) + number for number in range(len(prompts))]
    before = draw(generator, prompts, seeds)
    missed = tuple(
        tuple(
            place
            for place in range(len(split_words(prompt)))
            if rng.random() < (HIT if place in truth.misaligned_words else FALSE_ALARM)
        )
        for prompt, truth in zip(prompts, before.truths, strict=True)
    )
    after, at_random = (
        save_sample(generator, follow_words(generator, prompts, seeds, words, WordSettings()), prompts, seeds)
        for words in (missed, random_words(prompts, missed, rng))
    )
    right = sum(
        len(set(words) & set(truth.misaligned_words)) for words, truth in zip(missed, before.truths, strict=True)
    )
    every = sum(map(len, missed)) + sum(len(truth.misaligned_words) for truth in before.truths)
    return {
        "words": true_gain(before, after, "alignment"),
        "control": true_gain(before, at_random, "alignment"),
        "difference": true_gain(at_random, after, "alignment"),
        "keyword F1": 2 * right / every,
    }


def run_part(folder: Path, part: str, seed: int) -> dict[str, Any]:
    if part == "anchored":
        return run_tune(folder, seed, anchor=ANCHOR, scorer=OVERALL, aspect="overall", steps=STEPS)
    if part == "loose":
        return run_tune(folder, seed, anchor=0.0, scorer=OVERALL, aspect="overall", steps=LOOSE_STEPS)
    if part == "realism":
        return run_tune(folder, seed, anchor=ANCHOR, scorer=REALISM, aspect="detectability", steps=STEPS)
    return {"guide": run_guide, "best": run_best, "words": run_words}[part](folder, seed)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("part", choices=["guide", "anchored", "loose", "best", "realism", "words"])
    parser.add_argument("--seeds", type=int, nargs="+", required=True)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for seed in arguments.seeds:
        line = json.dumps({"seed": seed, **run_part(arguments.folder, arguments.part, seed)}, ensure_ascii=False)
        print(line, flush=True)
        with (arguments.folder / f"{arguments.part}.jsonl").open("a", encoding="utf-8") as file:
            file.write(line + "\n")


if __name__ == "__main__":
    main()
