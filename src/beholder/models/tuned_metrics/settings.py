"""The settings of an average of several kinds of models."""

from collections.abc import Sequence

from pydantic import Field, field_validator, model_validator

from beholder.models.alignment.classifier import CLASSIFIED
from beholder.models.encoders.catalogue import ENCODERS, faults_of_encoders
from beholder.models.metric_transformer.model import MetricSettings
from beholder.study.question import Settings


class ProcessSettings(Settings):
    """The ``[model.process]`` table of a recipe: the Gaussian processes."""

    encoders: tuple[str, ...] = Field(
        ("efficientnet-lite0-stages", "efficientnet-lite2-stages"),
        min_length=1,
        description="frozen encoders whose features, and the prompt, measure similarity",
    )
    steps: int = Field(90, ge=1, description="steps of the search for hyperparameters")
    rate: float = Field(0.1, gt=0, description="learning rate of that search")
    images: int = Field(
        2000, ge=2, description="training images at most; of more, as many are chosen at random (seed 0)"
    )

    @field_validator("encoders")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if wrong := faults_of_encoders(names, {}):
            raise ValueError("; ".join(wrong))
        return names


class ComparisonSettings(Settings):
    """The ``[model.comparison]`` table of a recipe: the regression on how image and prompt compare."""

    network: str = Field(
        "efficientnet-lite0-stages",
        description="encoder of the network whose classes and last features are compared with the prompt",
    )
    map_ridge: float = Field(40, gt=0, description="ridge of the map from its features to sentences, per feature")
    ridge: float = Field(300, gt=0, description="ridge of the regression")

    @field_validator("network")
    @classmethod
    def _classifies(cls, name: str) -> str:
        if name not in CLASSIFIED:
            raise ValueError(f"{name}: no encoder with classes; known: {', '.join(CLASSIFIED)}")
        return name


class TunedSettings(Settings):
    """The ``[model]`` table of a recipe."""

    tuned: tuple[str, ...] = Field(
        ("efficientnet-lite0-early",),
        min_length=1,
        description="encoders of the early stages of the networks that are fine-tuned",
    )
    frozen: MetricSettings = Field(
        MetricSettings(members=4, generator_weight=0.2),
        description="the Metric Transformers beside them, as in the recipe metric-transformer",
    )
    process: ProcessSettings | None = Field(
        None,
        description="Gaussian processes on frozen features as the third kind, for metrics that do not depend on "
        "the prompt; none by default",
    )
    comparison: ComparisonSettings | None = Field(
        None,
        description="a regression on how image and prompt compare as the third kind, for metrics that depend on "
        "the prompt; it also reads the scores of the Gaussian processes; none by default",
    )
    averaging: float = Field(
        0.99,
        ge=0,
        lt=1,
        description="decay of the moving average of a fine-tuned network's weights; 0: the last ones",
    )
    width: int = Field(128, ge=4, description="of the hidden layer of a fine-tuned network")
    dropout: float = Field(0.3, ge=0, lt=1)
    input_dropout: float = Field(0.5, ge=0, lt=1, description="proportion of features dropped at each step")
    rate: float = Field(
        0.5, gt=0, description="learning rate of pretrained parameters, in proportion to that of new ones"
    )
    prompt_weight: float = Field(
        0.5,
        ge=0,
        description="weight of metrics that depend on the prompt, which the fine-tuned networks do not see",
    )
    generator_weight: float = Field(
        0.5, ge=0, description="weight of the auxiliary loss of recognising the generator; 0: none"
    )
    generators: int = Field(
        64, ge=2, description="classes of the auxiliary task; of more generators, several count as the same"
    )

    @field_validator("tuned")
    @classmethod
    def _early(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        early = [name for name, entry in ENCODERS.items() if entry.module == EARLY]
        wrong = [name for name in names if name not in early]
        if wrong:
            raise ValueError(f"{', '.join(wrong)}: not early stages of a network; known: {', '.join(early)}")
        return names

    @model_validator(mode="after")
    def _complete(self) -> "TunedSettings":
        if self.comparison is not None and self.process is None:
            raise ValueError("comparison: needs process, whose scores it reads")
        return self

    def reads_prompt(self, metric: str) -> bool:
        """Whether a metric depends on the prompt: no sentence stands in its place."""
        return metric not in self.frozen.sentences

    def process_metrics(self, metrics: Sequence[str]) -> list[str]:
        """The metrics that have a Gaussian process.

        Images of other prompts are no evidence on how well an image matches its own, so the process of a metric
        that depends on the prompt is no kind of its own; the regression reads it as what the image alone tells.
        """
        if self.process is None:
            return []
        return [metric for metric in metrics if self.comparison is not None or not self.reads_prompt(metric)]

    def compared_metrics(self, metrics: Sequence[str]) -> list[str]:
        """The metrics that have a regression on how image and prompt compare."""
        return [metric for metric in metrics if self.comparison is not None and self.reads_prompt(metric)]


EARLY = "early_maps"
"""The module of the encoders whose networks can be fine-tuned."""
