"""Predictions of a model, its performance on validation examples, and what is fitted before and after training."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import torch

from beholder.images.in_order import batches
from beholder.learn.data_loader import ImageCache, collate, ordered_batches
from beholder.learn.evaluate import scores_for
from beholder.learn.examples import Example, LabelledImages, Scale
from beholder.learn.recipe import Data
from beholder.models.trainable import Batch, Calibratable, Completed, MeasuresFirst, Trainable
from beholder.stats.correlation.metric_agreement import single_value
from beholder.stats.correlation.pair_accuracy import pair_accuracy
from beholder.stats.prediction.beta_binomial import log_likelihood
from beholder.stats.prediction.soft_label_likelihood import LEAST

Scores = dict[str, dict[str, float]]
"""Aspect -> image -> score."""


def predict_images(
    model: Trainable[Batch],
    image_cache: ImageCache,
    images_with_prompts: Sequence[tuple[str, str]],
    scales: Mapping[str, Scale],
    size: int,
) -> Scores:
    """Return the scores of (image, prompt) pairs, on the scale of the labels."""
    scores: Scores = {}
    model.module.eval()
    device = next(model.module.parameters()).device
    with torch.no_grad():
        for examples in batches(_by_prompt(images_with_prompts), size):
            names = [image for example in examples for image in example.images]
            batch = collate(examples, model, image_cache, (), {}, None).to(device)
            for aspect, values in model.predict(batch).items():
                scale = scales.get(aspect, Scale(0.0, 1.0))
                rescaled = values.float().cpu().numpy().astype(np.float64) * scale.standard_deviation + scale.mean
                scores.setdefault(aspect, {}).update(zip(names, rescaled.tolist(), strict=True))
    return scores


def validate(
    model: Trainable[Batch],
    image_cache: ImageCache,
    examples: Sequence[Example],
    labelled: LabelledImages,
    data: Data,
    scales: Mapping[str, Scale],
    size: int,
) -> dict[str, float]:
    """Return measures on the validation examples: first the one that selects the weights, last the loss."""
    prompts = {image: example.prompt for example in examples for image in example.images}
    scores = predict_images(model, image_cache, list(prompts.items()), {}, size)
    if data.labels == "pairs":
        measures = {"pair-accuracy": _pair_accuracy(scores, examples, labelled.aspects[0])}
    elif data.labels == "shares":
        measures = {"log-likelihood": _log_likelihood(scores, examples)}
    else:
        by_aspect = {aspect: _spearman(scores, examples, aspect) for aspect in labelled.aspects}
        defined = [value for value in by_aspect.values() if np.isfinite(value)]
        measures = {"spearman": float(np.mean(defined)) if defined else float(np.nan)}
        if len(by_aspect) > 1:
            measures |= {f"spearman-{aspect}": value for aspect, value in by_aspect.items()}
    return measures | {"loss": _loss(model, image_cache, examples, labelled.aspects, scales, size)}


def device_batches(
    model: Trainable[Batch],
    image_cache: ImageCache,
    examples: Sequence[Example],
    aspects: tuple[str, ...],
    scales: Mapping[str, Scale],
    size: int,
) -> Iterator[Batch]:
    """Yield batches of all examples in their order, without augmentation, on the device of the model."""
    device = next(model.module.parameters()).device
    for batch, _ in ordered_batches(model, image_cache, examples, aspects, scales, size):
        yield batch.to(device)


def measure_first(model: Trainable[Batch], batches_of_some: Iterable[Batch]) -> None:
    """Let a model measure its features on some training images if it standardises them; others do nothing."""
    if isinstance(model, MeasuresFirst):
        with torch.no_grad():
            model.measure(batches_of_some)


def complete(model: Trainable[Batch], training_batches: Iterable[Batch]) -> None:
    """Fit to the training images what a model fits to all of them at once; others stay as they are."""
    if isinstance(model, Completed):
        with torch.no_grad():
            model.complete(training_batches)


def calibrate(model: Trainable[Batch], validation_batches: Iterable[Batch]) -> None:
    """Calibrate a model that predicts probabilities on labels that were not rescaled; others stay as they are."""
    if isinstance(model, Calibratable):
        model.calibrate(validation_batches)


def _by_prompt(images_with_prompts: Sequence[tuple[str, str]]) -> Iterator[Example]:
    """Yield examples of at most eight images of one prompt, so that the prompt is encoded once for all of them."""
    images_by_prompt: dict[str, list[str]] = {}
    for image, prompt in images_with_prompts:
        images_by_prompt.setdefault(prompt, []).append(image)
    for prompt, images in images_by_prompt.items():
        for group in batches(images, 8):
            yield Example(prompt, tuple(group))


def _pair_accuracy(scores: Scores, examples: Sequence[Example], aspect: str) -> float:
    score_by_image = scores_for(scores, aspect)
    pairs = [
        (
            score_by_image[example.images[pair.first]],
            score_by_image[example.images[pair.second]],
            pair.proportion - 0.5,
        )
        for example in examples
        for pair in example.pairs
    ]
    first, second, lead = np.array(pairs, np.float64).T
    return pair_accuracy(first, second, lead, ties="half").micro


def _log_likelihood(scores: Scores, examples: Sequence[Example]) -> float:
    """Return the log-likelihood per answer over all aspects, with proportions that are not calibrated yet."""
    rows = [
        (scores_for(scores, aspect)[image], proportion, answers)
        for example in examples
        for aspect, proportions in example.ratings.items()
        for image, proportion, answers in zip(example.images, proportions, example.answers[aspect], strict=True)
        if proportion is not None
    ]
    predict_images, proportions, answers = np.array(rows, np.float64).T
    clipped = np.clip(predict_images, LEAST, 1 - LEAST)
    return float(log_likelihood(np.rint(proportions * answers), answers, clipped).sum() / answers.sum())


def _spearman(scores: Scores, examples: Sequence[Example], aspect: str) -> float:
    score_by_image = scores_for(scores, aspect)
    scores_and_ratings = [
        (score_by_image[image], value)
        for example in examples
        for image, value in zip(example.images, example.ratings.get(aspect, ()), strict=False)
        if value is not None
    ]
    if len(scores_and_ratings) < 2:
        return float(np.nan)
    predictions, ratings = np.array(scores_and_ratings, np.float64).T
    return single_value(predictions, ratings, "spearman")


def _loss(
    model: Trainable[Batch],
    image_cache: ImageCache,
    examples: Sequence[Example],
    aspects: tuple[str, ...],
    scales: Mapping[str, Scale],
    size: int,
) -> float:
    """Return the mean loss over batches of the size used in training."""
    device = next(model.module.parameters()).device
    losses = [
        float(model.loss(batch.to(device)))
        for batch, _ in ordered_batches(model, image_cache, examples, aspects, scales, size)
    ]
    return float(np.mean(losses))
