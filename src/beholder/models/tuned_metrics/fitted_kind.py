"""The kind that is fitted to all training images at once, after the last step of the others.

A Gaussian process for every metric of the image alone. For metrics that depend on the prompt, a regression on how
image and prompt compare; it reads the scores of all processes, which are held out by prompt while it is fitted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from beholder.models.alignment.classifier import load_classifier
from beholder.models.alignment.packaged import load_class_names
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.gaussian_process.process import GaussianProcess
from beholder.models.text.sentence_encoder import load_sentence_encoder
from beholder.models.tuned_metrics.comparison_head import ComparisonHead, Examples
from beholder.models.tuned_metrics.settings import ProcessSettings, TunedSettings


@dataclass(frozen=True, slots=True)
class DescribedImages:
    """Images with their prompts, as this kind sees them."""

    vectors: torch.Tensor
    """Of the encoders of the processes, side by side, (images, dims)."""
    network: torch.Tensor
    """Of the network whose classes are compared with prompts, (images, dims); no columns without a comparison."""
    prompts: tuple[str, ...]

    def select(self, rows: NDArray[np.int64]) -> "DescribedImages":
        """Some of the images."""
        return DescribedImages(self.vectors[rows], self.network[rows], tuple(self.prompts[row] for row in rows))


def join_images(parts: Sequence[DescribedImages]) -> DescribedImages:
    """The images of several batches."""
    vectors, network = (
        torch.cat(each) for each in zip(*((part.vectors, part.network) for part in parts), strict=True)
    )
    return DescribedImages(vectors, network, tuple(prompt for part in parts for prompt in part.prompts))


class FittedKind:
    """The processes and the regressions on how image and prompt compare."""

    def __init__(
        self, process: ProcessSettings, settings: TunedSettings, metrics: Sequence[str], support: int
    ) -> None:
        """An unfitted one.

        Args:
            process: Settings of the processes.
            settings: Of the model; there is at least one metric with a process.
            metrics: All metrics of the model.
            support: Number of images of the state that will be loaded; 0: it will be fitted.
        """
        encoders = [load_encoder(name) for name in process.encoders]
        groups = [size for encoder in encoders for size in encoder.groups or (encoder.dims,)]
        text_dims = load_sentence_encoder().dims
        self._settings, self._process_settings, self._metrics = settings, process, metrics
        self.scored = settings.process_metrics(metrics)
        self.process = GaussianProcess([*groups, text_dims], len(self.scored), support)
        self.heads = {
            metric: ComparisonHead(len(self.scored), text_dims) for metric in settings.compared_metrics(metrics)
        }

    @property
    def modules(self) -> Mapping[str, nn.Module]:
        """The modules by their name in a checkpoint."""
        heads = {"comparison": nn.ModuleList(self.heads.values())} if self.heads else {}
        return {"process": self.process, **heads}

    def fit(self, images: DescribedImages, ratings: torch.Tensor) -> int:
        """Fit it to images, ratings (images, metrics) with nan where there is none; how many images it kept."""
        rows = _choose_rows(len(images.prompts), self._process_settings.images)
        images, ratings = images.select(rows), ratings[rows].float()
        sentences = _encode(images.prompts)
        numbers = {prompt: number for number, prompt in enumerate(dict.fromkeys(images.prompts))}
        prompt_of = torch.tensor([numbers[prompt] for prompt in images.prompts], device=ratings.device)
        held_out = self.process.fit(
            _process_features(images, sentences).float(),
            ratings[:, [self._metrics.index(metric) for metric in self.scored]],
            prompt_of,
            steps=self._process_settings.steps,
            rate=self._process_settings.rate,
        )
        comparison = self._settings.comparison
        if comparison is None:
            return len(rows)
        names, examples = load_class_names(), _examples(comparison.network, images, sentences, held_out)
        for metric, head in self.heads.items():
            labels = ratings[:, self._metrics.index(metric)].double().cpu().numpy()
            head.fit(names, examples, labels, map_ridge=comparison.map_ridge, ridge=comparison.ridge)
        return len(rows)

    def scores(self, images: DescribedImages) -> dict[str, torch.Tensor]:
        """Scores (images,) of each metric that it scores; none before it is fitted."""
        if not self.process.is_fitted:
            return {}
        sentences = _encode(images.prompts)
        by_process = self.process(_process_features(images, sentences))
        columns = zip(self.scored, by_process.T, strict=True)
        scores = {metric: column for metric, column in columns if not self._settings.reads_prompt(metric)}
        fitted = {metric: head for metric, head in self.heads.items() if head.is_fitted}
        comparison = self._settings.comparison
        if fitted and comparison is not None:
            examples = _examples(comparison.network, images, sentences, by_process)
            scores |= {metric: head(examples).to(by_process) for metric, head in fitted.items()}
        return scores


def _examples(
    network: str, images: DescribedImages, sentences: NDArray[np.float32], image_scores: torch.Tensor
) -> Examples:
    """What the regressions see, with the scores of the processes."""
    outputs = load_classifier(network).classify(images.network.float().cpu().numpy())
    image_scores = image_scores.double().cpu()
    return Examples(image_scores.numpy(), outputs, images.prompts, sentences.astype(np.float64))


def _encode(prompts: Sequence[str]) -> NDArray[np.float32]:
    """Unit vectors of the prompts, (images, text dims)."""
    return load_sentence_encoder().encode(list(prompts)).astype(np.float32)


def _process_features(images: DescribedImages, sentences: NDArray[np.float32]) -> torch.Tensor:
    """Vectors of the images, then of their prompts, of about unit variance."""
    scaled = torch.from_numpy(sentences) * sentences.shape[1] ** 0.5
    return torch.cat([images.vectors, scaled.to(images.vectors.device)], 1)


def _choose_rows(count: int, most: int) -> NDArray[np.int64]:
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(0).choice(count, most, replace=False))
