"""How a board is made: which slices, which claims are tested, and what the measures are worth to its readers."""

from typing import Literal

from pydantic import Field, model_validator

from beholder.study.question import Settings, Words


class Claim(Settings):
    """A claim about one entry, tested on the board."""

    kind: Literal["better", "no-worse", "good-enough"] = Field(
        description="better than another entry; no worse than it by more than the margin; above the threshold"
    )
    measure: Words = Field(description="name of the measure, as the board lists it")
    entry: Words = Field(description="the generator that the claim is about")
    other: str | None = Field(None, description="the generator it is compared with; not for `good-enough`")
    margin: float = Field(0.0, ge=0, description="how much worse is still acceptable, for `no-worse`")
    threshold: float | None = Field(None, description="what is good enough, on the scale of the measure")

    @model_validator(mode="after")
    def _complete(self) -> "Claim":
        kind = self.kind
        if kind == "good-enough":
            if self.threshold is None or self.other is not None:
                raise ValueError("a claim of kind good-enough needs a threshold, and no other entry")
        elif self.other is None or self.threshold is not None:
            raise ValueError(f"a claim of kind {kind} needs another entry, and no threshold")
        elif self.other == self.entry:
            raise ValueError("a claim compares two different entries")
        if self.margin and kind != "no-worse":
            raise ValueError("only a claim of kind no-worse has a margin")
        return self


class Board(Settings):
    """What the board shows besides every measure over all images."""

    slices: tuple[Literal["style", "tag"], ...] = Field(
        ("style", "tag"), description="families of slices: the images' styles, the prompts' tags"
    )
    fewest_prompts: int = Field(
        20, ge=5, description="a slice of fewer prompts is described in words, not numbers"
    )
    weights: dict[str, float] = Field(
        default_factory=dict, description="what each measure is worth; the utility is their weighted mean"
    )
    claims: tuple[Claim, ...] = Field((), description="one section `[[board.claims]]` for each claim to test")
