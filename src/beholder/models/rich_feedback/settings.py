"""Settings of a rich-feedback model: its sizes, its outputs and the weights of its losses."""

from math import log2
from typing import Literal

from pydantic import Field, model_validator

from beholder.models.recipe_settings import check_multiples
from beholder.study.question import Settings

Variant = Literal["multi-head", "augmented-prompt"]
"""One head per output; or one head per kind of output, with a task string before the prompt."""

HEATMAPS = ("implausibility", "misalignment")
SCORES = ("plausibility", "alignment", "aesthetics", "overall")
KEYWORDS = "keywords"
GRIDS = {"efficientnet-lite0-grid": (192, 16)}
"""Frozen encoders with a grid of features -> the sides of an image and of a grid cell, in pixels."""


class ImageTower(Settings):
    """A vision transformer; the defaults are ViT-B/16."""

    weights: str | None = Field(None, description="hub name or folder of a ViT; by default random")
    side: int = Field(224, ge=16, description="pixels")
    patch: int = Field(16, ge=2, description="pixels along the side of a token")
    encoder: str | None = Field(
        None,
        description="a frozen encoder whose grid of features the tower takes; by default pixels",
    )
    stem: Literal["patch", "convolutions"] = Field(
        "patch", description="one linear map per patch, or convolutions of stride 2, which need fewer images"
    )
    width: int = Field(768, ge=8)
    layers: int = Field(12, ge=1)
    heads: int = Field(12, ge=1)
    dropout: float = Field(
        0.0, ge=0, lt=1, description="proportion of the frozen encoder's channels dropped at each step"
    )

    @model_validator(mode="after")
    def _fits(self) -> "ImageTower":
        check_multiples(self, (("side", "patch"), ("width", "heads")))
        if not log2(self.patch).is_integer():
            raise ValueError(f"patch ({self.patch}) must be a power of 2: heatmaps double their size step by step")
        if self.encoder is not None and self.encoder not in GRIDS:
            raise ValueError(f"encoder '{self.encoder}' gives no grid; those that do: {', '.join(GRIDS)}")
        if self.encoder is not None:
            side, cell = GRIDS[self.encoder]
            if self.side != side or self.patch not in (cell, 2 * cell):
                raise ValueError(
                    f"with the encoder '{self.encoder}', side must be {side} and patch {cell} or {2 * cell}"
                )
        if self.encoder is None and self.dropout:
            raise ValueError(f"dropout ({self.dropout:g}) is of the channels of a frozen encoder; leave it out")
        if self.encoder is not None and self.weights is not None:
            raise ValueError("weights are of a ViT that takes pixels; leave them out, or the encoder")
        return self

    @property
    def grid(self) -> int:
        """Tokens along a side."""
        return self.side // self.patch

    @property
    def places(self) -> int:
        """Cells of the encoder's grid along a side, or pixels without an encoder."""
        return self.side if self.encoder is None else self.side // GRIDS[self.encoder][1]


class TextModel(Settings):
    """A T5; the defaults are T5-base."""

    weights: str | None = Field(None, description="hub name or folder of a T5; by default random")
    width: int = Field(768, ge=8)
    head_width: int = Field(64, ge=4)
    heads: int = Field(12, ge=1)
    inner: int = Field(3072, ge=8, description="width within the feed-forward layers")
    layers: int = Field(12, ge=1, description="of the encoder, which attends to image and prompt")
    decoder_layers: int = Field(12, ge=1)
    dropout: float = Field(0.1, ge=0, lt=1)
    longest: int = Field(512, ge=8, description="tokens of a prompt that are read")


class Heads(Settings):
    """Widths of the heads; the defaults are RAHF's."""

    heatmap: tuple[int, ...] = Field((768, 384, 384, 192), min_length=1, description="after each doubling")
    score: tuple[int, ...] = Field((768, 384, 128, 64), min_length=1, description="of the convolutions")
    dense: tuple[int, ...] = Field((2048, 1024), description="of the dense layers that follow")


class Losses(Settings):
    """The loss is a weighted sum."""

    heatmap: float = Field(1.0, ge=0)
    score: float = Field(1.0, ge=0)
    keywords: float = Field(1.0, ge=0)
    writing: Literal["all", "choices"] = Field(
        "all", description="keywords: each token counts, or only whether a mark follows a word"
    )
    naming: float = Field(
        0.0,
        ge=0,
        description="image tokens, before the joint encoder, predict which words raters saw in the image",
    )
    floor: float = Field(
        1 / 255,
        gt=0,
        description="pixels are weighted by the proportion of marks + this; without it maps collapse to zero",
    )


class RichFeedbackSettings(Settings):
    """All settings of the model."""

    variant: Variant = "multi-head"
    image: ImageTower = ImageTower()
    text: TextModel = TextModel()
    heads: Heads = Heads()
    losses: Losses = Losses()
    heatmaps: tuple[str, ...] = Field(HEATMAPS, description="aspects of regions")
    scores: tuple[str, ...] = Field(SCORES, description="aspects of ratings")
    keywords: bool = Field(True, description="whether misaligned words are predicted")
    tasks_per_image: int | None = Field(
        None, ge=1, description="augmented prompts: tasks drawn per image at each step; by default all"
    )
    words: tuple[str, ...] = Field((), description="the vocabulary, where the text model has none of its own")
    tokenizer: str | None = Field(
        None,
        description="the text model's own tokenizer.json; filled in, so that a checkpoint stands alone",
    )

    @model_validator(mode="after")
    def _fits(self) -> "RichFeedbackSettings":
        doublings = int(log2(self.image.patch))
        if len(self.heads.heatmap) > doublings:
            raise ValueError(
                f"heads.heatmap has {len(self.heads.heatmap)} doublings; a patch of {self.image.patch} pixels "
                f"is filled after {doublings}"
            )
        if not (self.heatmaps or self.scores or self.keywords):
            raise ValueError("nothing is to be predicted: name heatmaps or scores, or ask for keywords")
        return self

    @property
    def map_side(self) -> int:
        """Side of the predicted heatmaps, in pixels."""
        return int(self.image.grid * 2 ** len(self.heads.heatmap))

    @property
    def tasks(self) -> tuple[str, ...]:
        """The outputs, as task strings."""
        maps = tuple(f"{name} heatmap" for name in self.heatmaps)
        scores = tuple(f"{name} score" for name in self.scores)
        return (*maps, *scores, *((KEYWORDS,) if self.keywords else ()))
