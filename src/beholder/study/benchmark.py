"""What a benchmark computes besides what it asks people: which images, scorers, distances and trained models.

Prompts are chosen by ``curate.toml``, generators are the sections ``[[generators]]``, slices and claims are in
``[board]``, and the seed is that of the study: no setting has two places.
"""

from pydantic import Field, JsonValue, model_validator

from beholder.study.question import Settings, Slug, Words


class TrainedModel(Settings):
    """A model that is trained on the labels of the study; its held-out predictions are a measure of the board."""

    recipe: Words = Field(description="name of a recipe of `beholder learn`, or a TOML file of the study folder")
    name: Slug | None = Field(None, description="of the model; by default that of the recipe")
    settings: dict[str, JsonValue] = Field(
        default_factory=dict, description='changes to the recipe, such as `"split.folds" = 5`'
    )


class Benchmark(Settings):
    """How `beholder bench` generates and measures."""

    samples: int = Field(1, ge=1, description="images per prompt and generator")
    width: int | None = Field(None, ge=1, le=16384, description="width of the images; by default the generator's")
    height: int | None = Field(None, ge=1, le=16384, description="height of the images; by default the width")
    scorers: tuple[Words, ...] = Field((), description="scorers of single images; none: all that need no weights")
    distances: tuple[Words, ...] | None = Field(
        None, description="distances between sets; by default all that apply; `[]`: none"
    )
    encoder: str | None = Field(
        None, description="whose features distances are computed on; by default EfficientNet"
    )
    weights: dict[str, str] = Field(
        default_factory=dict, description="weights of the scorers' networks: a folder, file or hub name"
    )
    models: tuple[TrainedModel, ...] = Field((), description="one section `[[benchmark.models]]` for each")

    @model_validator(mode="after")
    def _distinct(self) -> "Benchmark":
        names = [model.name or model.recipe for model in self.models]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"models: each needs a name of its own; used more than once: {', '.join(twice)}")
        return self
