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


class Stated(Settings):
    """A value that others state and that was not measured here: shown on the board, never ranked."""

    measure: Words = Field(description="name of the measure; that of the board, where it is the same")
    entry: Words = Field(description="the generator that the value is about")
    value: float = Field(description="the value as it is stated")
    low: float | None = Field(None, description="lower end of its interval, where one is stated")
    high: float | None = Field(None, description="upper end of its interval, where one is stated")
    source: Words = Field(description="who states it, and where: a paper, a page, a date")

    @model_validator(mode="after")
    def _ordered(self) -> "Stated":
        ends = (self.low is None) + (self.high is None)
        if ends == 1:
            raise ValueError("an interval has both ends, low and high, or neither")
        if self.low is not None and self.high is not None and not self.low <= self.value <= self.high:
            raise ValueError("low, value and high must be in this order")
        return self


class Picked(Settings):
    """An entry whose images were chosen among several of each prompt."""

    entry: Words = Field(description="the generator whose images were chosen")
    best_of: int = Field(ge=2, description="among how many images of each prompt")
    chosen_by: Words = Field(description="who or what chose: a scorer, the vendor, a person")
    base: str | None = Field(None, description="the same generator without choosing, if it is on the board")

    @model_validator(mode="after")
    def _two(self) -> "Picked":
        if self.base == self.entry:
            raise ValueError("base is the entry without choosing, not the entry itself")
        return self


class Variants(Settings):
    """Entries that differ in one controlled setting: does every measure see the change?"""

    setting: Words = Field(description="what was changed, such as `guidance scale` or `steps`")
    entries: tuple[Words, ...] = Field(min_length=2, description="the entries; differences are from the first")
    doses: tuple[float, ...] = Field(min_length=2, description="the value of the setting for each of them")

    @model_validator(mode="after")
    def _matched(self) -> "Variants":
        if len(self.entries) != len(self.doses) or len(set(self.entries)) < len(self.entries):
            raise ValueError(
                f"variants need one dose for each entry, and each entry once; found {len(self.entries)} "
                f"entries and "
                f"{len(self.doses)} doses"
            )
        if list(self.doses) not in (sorted(set(self.doses)), sorted(set(self.doses), reverse=True)):
            raise ValueError("doses must rise, or fall, from one entry to the next")
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
    powered_by: str = Field(
        "",
        description="automatic measure whose scores narrow the intervals of raters; by default the one "
        "that narrows "
        "them most, chosen after looking",
    )
    chronology: tuple[Words, ...] = Field(
        (), description="entries from the oldest to the newest, to test whether metrics drift away from raters"
    )
    claims: tuple[Claim, ...] = Field((), description="one section `[[board.claims]]` for each claim to test")
    stated: tuple[Stated, ...] = Field(
        (), description="one section `[[board.stated]]` for each value that others state"
    )
    picked: tuple[Picked, ...] = Field(
        (), description="one section `[[board.picked]]` for each entry that is the best of several images"
    )
    variants: tuple[Variants, ...] = Field(
        (), description="one section `[[board.variants]]` for each setting whose effect is measured"
    )
