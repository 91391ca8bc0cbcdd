"""Settings of a grounded rich-feedback model."""

from typing import Literal

from pydantic import Field, model_validator

from beholder.models.recipe_settings import check_multiples
from beholder.models.rich_feedback.settings import GRIDS, HEATMAPS, SCORES
from beholder.study.question import Settings

MAP_CELLS = 4
"""Pixels of a heatmap along the side of a cell of the encoder's grid."""


class GroundedLosses(Settings):
    """The loss is a weighted sum."""

    heatmap: float = Field(1.0, ge=0)
    score: float = Field(1.0, ge=0)
    keywords: float = Field(1.0, ge=0)
    naming: float = Field(1.0, ge=0, description="image cells predict which words raters saw in the image")
    image: float = Field(1.0, ge=0, description="heatmaps by the image alone, where there are such")
    image_expert: float = Field(1.0, ge=0, description="scores and heatmaps of the image expert, if there is one")
    floor: float = Field(0.1, gt=0, description="pixels are weighted by the proportion of marks + this")


class ImageExpertSettings(Settings):
    """Convolutions beside the network that see the image alone."""

    width: int = Field(128, ge=8, description="channels of a cell")
    heatmap: tuple[int, ...] = Field((32, 16), min_length=1, description="channels after each doubling")
    score: tuple[int, ...] = Field((32, 16), min_length=1, description="channels of the convolutions")
    dense: tuple[int, ...] = Field((64,), description="of the dense layers that follow")
    dropout: float = Field(
        0.0, ge=0, lt=1, description="proportion of the encoder's channels dropped at each step"
    )
    learning_rate: float = Field(0.5, gt=0, description="as a factor of the recipe's")


class GroundedSettings(Settings):
    """The ``[model]`` table of a recipe."""

    architecture: Literal["rich-grounded"] = "rich-grounded"
    encoder: str = Field("efficientnet-lite0-grid", description="a frozen encoder with a grid of features")
    width: int = Field(96, ge=8, description="channels of a cell of the image, and of a word")
    blocks: int = Field(2, ge=1, description="residual blocks of two convolutions each")
    heads: int = Field(4, ge=1, description="attention heads among words, and between image and words")
    layers: int = Field(2, ge=1, description="layers over the words before grounding, and again after it")
    channels: int = Field(16, ge=2, description="channels of the map of each word")
    pointers: int = Field(4, ge=1, description="positions that are read off the map of each word")
    head_width: int = Field(48, ge=4, description="channels within the heads")
    dropout: float = Field(
        0.1, ge=0, lt=1, description="proportion of the encoder's channels dropped at each step"
    )
    word_dropout: float = Field(0.0, ge=0, lt=1, description="within the layers over the words")
    longest: int = Field(64, ge=8, description="words of a prompt that are read")
    losses: GroundedLosses = GroundedLosses()
    heatmaps: tuple[str, ...] = Field(HEATMAPS, description="aspects of regions")
    scores: tuple[str, ...] = Field(SCORES, description="aspects of ratings")
    image_heatmaps: tuple[str, ...] = Field(
        (), description="heatmaps with a second head that sees the image alone, whose logits are added"
    )
    image_expert: ImageExpertSettings | None = Field(
        None, description="convolutions whose outputs are combined with the others by calibration; by default none"
    )
    scores_read_maps: bool = Field(False, description="the heads of scores read the heatmaps as well")
    words: tuple[str, ...] = Field((), description="the vocabulary; filled in from the training prompts")

    @model_validator(mode="after")
    def _fits(self) -> "GroundedSettings":
        if self.encoder not in GRIDS:
            raise ValueError(f"encoder '{self.encoder}' gives no grid; those that do: {', '.join(GRIDS)}")
        unmapped = [name for name in self.image_heatmaps if name not in self.heatmaps]
        if unmapped:
            raise ValueError(f"image_heatmaps: {', '.join(unmapped)} not in heatmaps ({', '.join(self.heatmaps)})")
        check_multiples(self, (("width", "heads"), ("width", "channels")))
        return self

    @property
    def grid(self) -> int:
        """Cells of the encoder's grid along a side."""
        side, cell = GRIDS[self.encoder]
        return side // cell

    @property
    def map_side(self) -> int:
        """Side of the predicted heatmaps, in pixels."""
        return self.grid * MAP_CELLS
