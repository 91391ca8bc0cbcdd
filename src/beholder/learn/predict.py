"""What a model says of images, how well it does on the validation examples, and its calibration by them."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import torch

from beholder.images.in_order import batches
from beholder.learn.evaluate import scores_of
from beholder.learn.examples import Example, Judged, Scale
from beholder.learn.feed import Pictures, collated, plain_batches
from beholder.learn.recipe import Data
from beholder.models.trainable import Batch, Calibratable, Trainable
from beholder.stats.correlation.metric_agreement import single_value
from beholder.stats.correlation.pair_accuracy import pair_accuracy
from beholder.stats.prediction.beta_binomial import log_likelihood
from beholder.stats.prediction.soft_label_likelihood import LEAST

Scores = dict[str, dict[str, float]]
"""aspect -> image -> score"""


def predicted(
    model: Trainable[Batch],
    pictures: Pictures,
    shown: Sequence[tuple[str, str]],
    scales: Mapping[str, Scale],
    size: int,
) -> Scores:
    """Scores of images with their prompts, on the scale of the labels."""
    found: Scores = {}
    model.module.eval()
    device = next(model.module.parameters()).device
    with torch.no_grad():
        for portion in batches(_by_prompt(shown), size):
            images = [image for example in portion for image in example.images]
            batch = collated(portion, model, pictures, (), {}, None).to(device)
            for aspect, scores in model.predict(batch).items():
                scale = scales.get(aspect, Scale(0.0, 1.0))
                numbers = scores.float().cpu().numpy().astype(np.float64) * scale.deviation + scale.mean
                found.setdefault(aspect, {}).update(zip(images, numbers.tolist(), strict=True))
    return found


def look_at(
    model: Trainable[Batch],
    pictures: Pictures,
    examples: Sequence[Example],
    found: Judged,
    data: Data,
    scales: Mapping[str, Scale],
    size: int,
) -> dict[str, float]:
    """How the model does on validation examples: the measure that decides first, then others and the loss."""
    prompts = {image: example.prompt for example in examples for image in example.images}
    scores = predicted(model, pictures, list(prompts.items()), {}, size)
    if data.labels == "pairs":
        measures = {"pair-accuracy": _pairs_right(scores, examples, found.aspects[0])}
    elif data.labels == "shares":
        measures = {"log-likelihood": _likelihood(scores, examples)}
    else:
        by_aspect = {aspect: _spearman(scores, examples, aspect) for aspect in found.aspects}
        known = [value for value in by_aspect.values() if np.isfinite(value)]
        measures = {"spearman": float(np.mean(known)) if known else float(np.nan)}
        if len(by_aspect) > 1:
            measures |= {f"spearman-{aspect}": value for aspect, value in by_aspect.items()}
    return measures | {"loss": _loss(model, pictures, examples, found.aspects, scales, size)}


def calibrate(
    model: Trainable[Batch],
    pictures: Pictures,
    examples: Sequence[Example],
    aspects: tuple[str, ...],
    size: int,
) -> None:
    """Bring the chances of a model that predicts any in line with the validation examples."""
    if isinstance(model, Calibratable):
        device = next(model.module.parameters()).device
        shown = plain_batches(model, pictures, examples, aspects, {}, size)
        model.calibrate(batch.to(device) for batch, _ in shown)


def _by_prompt(shown: Sequence[tuple[str, str]]) -> Iterator[Example]:
    """Examples of at most a few images, those of a prompt together, so that it is read once."""
    of_prompt: dict[str, list[str]] = {}
    for image, prompt in shown:
        of_prompt.setdefault(prompt, []).append(image)
    for prompt, images in of_prompt.items():
        for portion in batches(images, 8):
            yield Example(prompt, tuple(portion))


def _pairs_right(scores: Scores, examples: Sequence[Example], aspect: str) -> float:
    of_image = scores_of(scores, aspect)
    pairs = [
        (of_image[one.images[pair.first]], of_image[one.images[pair.second]], pair.share - 0.5)
        for one in examples
        for pair in one.compared
    ]
    first, second, lead = np.array(pairs, np.float64).T
    return pair_accuracy(first, second, lead, ties="half").micro


def _likelihood(scores: Scores, examples: Sequence[Example]) -> float:
    """Of the answers about all aspects, by answer, with shares that are not calibrated yet."""
    rows = [
        (scores_of(scores, aspect)[image], share, asked)
        for one in examples
        for aspect, shares in one.ratings.items()
        for image, share, asked in zip(one.images, shares, one.answers[aspect], strict=True)
        if share is not None
    ]
    predicted, shares, asked = np.array(rows, np.float64).T
    kept = np.clip(predicted, LEAST, 1 - LEAST)
    return float(log_likelihood(np.rint(shares * asked), asked, kept).sum() / asked.sum())


def _spearman(scores: Scores, examples: Sequence[Example], aspect: str) -> float:
    of_image = scores_of(scores, aspect)
    both = [
        (of_image[image], value)
        for one in examples
        for image, value in zip(one.images, one.ratings.get(aspect, ()), strict=False)
        if value is not None
    ]
    if len(both) < 2:
        return float(np.nan)
    scored, said = np.array(both, np.float64).T
    return single_value(scored, said, "spearman")


def _loss(
    model: Trainable[Batch],
    pictures: Pictures,
    examples: Sequence[Example],
    aspects: tuple[str, ...],
    scales: Mapping[str, Scale],
    size: int,
) -> float:
    """The mean loss over batches as large as those of training."""
    device = next(model.module.parameters()).device
    found = [
        float(model.loss(batch.to(device)))
        for batch, _ in plain_batches(model, pictures, examples, aspects, scales, size)
    ]
    return float(np.mean(found))
