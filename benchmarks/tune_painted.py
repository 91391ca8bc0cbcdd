"""Guide, tune and watch the painted generator, whose ground truth is exact, by scorers of simulated raters.

    python benchmarks/tune_painted.py FOLDER PART --seeds 0 1 2 …

``FOLDER`` is that of ``tune_world.py`` and ``tune_scorer.py``. Parts: ``guide`` (guidance and optimised noise),
``anchored`` and ``loose`` (DRaFT with and without the anchor, watched to the end), ``best`` (best of 8),
``realism`` (tuning by the realism predictor), ``words``. Each prints one JSON line per seed, which is also added to
``FOLDER/PART.jsonl``. All prompts and seeds differ from those that the scorers were trained on.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from beholder.improve.gains import mean_gain
from beholder.improve.tuning.before_after import Shown, shown
from beholder.improve.tuning.guide import GuideSettings, guided_sample
from beholder.improve.tuning.losses import Prompts
from beholder.improve.tuning.reward import Reward, load_reward
from beholder.improve.tuning.settings import TuneSettings
from beholder.improve.tuning.tune import Material, tune
from beholder.improve.tuning.watching import watch_generator
from beholder.improve.tuning.words import WordSettings, follow_words, random_words, word_predictor
from beholder.models.pipelines.sampling import sample
from beholder.scorers.rich.members import load_members
from beholder.simulate.grammar import draw_requests, prompt_text
from beholder.simulate.painted.generator import PaintedGenerator
from beholder.simulate.painter import FLAWLESS, paint

SIZE = 96
UNSEEN, TUNED, WATCHED = 64, 96, 48


def prompts_of(seed: int) -> tuple[list[str], list[str]]:
    """Prompts to tune on, and unseen ones."""
    requests = draw_requests(TUNED + UNSEEN, np.random.default_rng([seed, 50]))
    texts = [prompt_text(request) for request in requests]
    return texts[:TUNED], texts[TUNED:]


def draw(generator: PaintedGenerator, prompts: list[str], seeds: list[int]) -> Shown:
    """Images of the generator as it is, with their ground truth."""
    with torch.no_grad():
        return shown(generator, sample(generator, prompts, seeds), prompts, seeds)


def true_gain(before: Shown, after: Shown, aspect: str = "overall") -> dict[str, float]:
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
    return np.stack([paint(request, FLAWLESS, size=SIZE, rng=rng).pixels for request in draw_requests(96, rng)])


def run_guide(folder: Path, seed: int) -> dict[str, Any]:
    generator, reward = PaintedGenerator(size=SIZE), load_reward(str(folder / "rich/models/pixel-cnn:overall"))
    _, prompts = prompts_of(seed)
    seeds = [10_000 * (seed + 1) + number for number in range(len(prompts))]
    before = draw(generator, prompts, seeds)
    row: dict[str, Any] = {}
    for name, settings in (
        ("guidance", GuideSettings(strength=0.12)),
        ("noise", GuideSettings(iterations=8)),
    ):
        began = time.process_time()
        after = shown(generator, guided_sample(generator, reward, prompts, seeds, settings), prompts, seeds)
        row[name] = {**true_gain(before, after), "cpu": (time.process_time() - began) / len(prompts)}
        row[name]["own"] = own_gain(reward, before, after)
    return row


def own_gain(reward: Reward, before: Shown, after: Shown) -> float:
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
    watched, watched_seeds = unseen[:WATCHED], seeds[:WATCHED]
    held_out = [load_reward(str(folder / "rich/models/tiny-rich-cnn:overall"))]
    watches = watch_generator(generator, watched, watched_seeds, held_out=held_out, reference=real_images(seed))
    before = draw(generator, unseen, seeds)
    curve: list[float] = []

    def look() -> list[Any]:
        now = draw(generator, unseen, seeds)
        curve.append(true_gain(before, now, aspect)["gain"])
        return watches.look(now.pixels[:WATCHED])

    material = Material(Prompts(tuple(tuned_on), tuple(range(500, 564))), reward)
    settings = TuneSettings(steps=steps, batch=12, rate=RATE, anchor=anchor, check_every=10, seed=seed)
    began = time.process_time()
    with tempfile.TemporaryDirectory() as scratch:
        outcome = tune(generator, material, settings, Path(scratch), look=look, stop_at_alarm=False)
    after = draw(generator, unseen, seeds)
    raised: dict[str, int] = {}
    for step, alarm in outcome.alarms:
        if alarm.raised:
            raised.setdefault(alarm.watch.partition(" ")[0], step)
    return {
        **true_gain(before, after, aspect),
        "own": own_gain(reward, before, after),
        "curve": [round(gain, 4) for gain in curve],
        "raised": raised,
        "cpu": time.process_time() - began,
        "last": {alarm.watch.partition(" ")[0]: round(alarm.value, 3) for _, alarm in outcome.alarms[-6:]},
    }


def run_best(folder: Path, seed: int) -> dict[str, Any]:
    """Best of 8 by the scorer: the true gain, and the alarms, of which there should be none."""
    generator, reward = PaintedGenerator(size=SIZE), load_reward(str(folder / "rich/models/pixel-cnn:overall"))
    _, prompts = prompts_of(seed)
    prompts = prompts[:WATCHED]
    seeds = [10_000 * (seed + 1) + number for number in range(len(prompts))]
    held_out = [load_reward(str(folder / "rich/models/tiny-rich-cnn:overall"))]
    watches = watch_generator(generator, prompts, seeds, held_out=held_out, reference=real_images(seed))
    before = draw(generator, prompts, seeds)
    several = [draw(generator, prompts, [seed + 1000 * number for seed in seeds]) for number in range(8)]
    scores = np.stack(
        [reward.plain(torch.from_numpy(s.pixels).movedim(-1, 1).float() / 255, s.prompts) for s in several]
    )
    chosen = scores.argmax(axis=0)
    rows = range(len(prompts))
    after = Shown(
        before.prompts,
        tuple(several[int(chosen[row])].seeds[row] for row in rows),
        np.stack([several[int(chosen[row])].pixels[row] for row in rows]),
        tuple(several[int(chosen[row])].truths[row] for row in rows),
    )
    alarms = watches.look(after.pixels)
    return {
        **true_gain(before, after),
        "raised": [alarm.watch for alarm in alarms if alarm.raised],
        "values": {alarm.watch.partition(" ")[0]: round(alarm.value, 3) for alarm in alarms},
    }


def run_words(folder: Path, seed: int) -> dict[str, Any]:
    """More weight on the predicted misaligned words, and on random ones."""
    generator = PaintedGenerator(size=SIZE)
    (member,) = load_members([folder / "rich/models/tiny-rich-feedback"], "cpu")
    _, prompts = prompts_of(seed)
    seeds = [10_000 * (seed + 1) + number for number in range(len(prompts))]
    settings = WordSettings()
    with torch.no_grad():
        plain = sample(generator, prompts, seeds)
    before = shown(generator, plain, prompts, seeds)
    missed = word_predictor(member, settings.threshold)(plain.images, prompts)
    control = random_words(prompts, missed, np.random.default_rng([seed, 52]))
    after, at_random = (
        shown(generator, follow_words(generator, prompts, seeds, words, settings), prompts, seeds)
        for words in (missed, control)
    )
    return {
        "words": true_gain(before, after, "alignment"),
        "control": true_gain(before, at_random, "alignment"),
        "difference": true_gain(at_random, after, "alignment"),
        "missed": sum(map(len, missed)),
        "truly missed": sum(len(truth.misaligned_words) for truth in before.truths),
    }


RATE, STEPS, ANCHOR = 2e-3, 100, 0.3
PIXELS, REALISM = "rich/models/pixel-cnn:overall", "realism/models/tiny-realism"


def run_part(folder: Path, part: str, seed: int) -> dict[str, Any]:
    if part == "anchored":
        return run_tune(folder, seed, anchor=ANCHOR, scorer=PIXELS, aspect="overall", steps=STEPS)
    if part == "loose":
        return run_tune(folder, seed, anchor=0.0, scorer=PIXELS, aspect="overall", steps=2 * STEPS)
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
    for seed in arguments.seeds:
        line = json.dumps({"seed": seed, **run_part(arguments.folder, arguments.part, seed)}, ensure_ascii=False)
        print(line, flush=True)
        with (arguments.folder / f"{arguments.part}.jsonl").open("a", encoding="utf-8") as file:
            file.write(line + "\n")


if __name__ == "__main__":
    main()
