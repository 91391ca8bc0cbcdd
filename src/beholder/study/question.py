"""A question as the study file states it: what is asked, of how many raters, and whose answers count."""

from pathlib import PurePosixPath
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic.main import IncEx

Share = Annotated[float, Field(ge=0, le=1)]
"""From 0 to 1."""

Slug = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=64)]
Words = Annotated[str, Field(min_length=1)]
Language = Literal["en", "de"]

WORDING: dict[str, IncEx | bool] = {
    "text": True,
    "protocol": True,
    "instructions": True,
    "examples": True,
    "labels": True,
    "aspects": {"__all__": {"labels"}},
    "offered": {"__all__": {"text"}},
}
"""Settings of a question that change what raters read, and neither the trials nor the meaning of an answer.

They may change while a study runs: what is drawn and computed does not depend on them.
"""


class Settings(BaseModel):
    """Base of all settings: frozen, and a key that is not known is a fault."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Design(Settings):
    """How trials are drawn and assigned to slots."""

    raters: int = Field(30, ge=1, description="number of raters, each taking one slot")
    trials: int = Field(100, ge=1, description="test trials per rater")
    raters_per_item: int | None = Field(
        None, ge=1, description="exactly this many answers per item; by default as many items as there are"
    )
    between: bool = Field(False, description="each rater judges a single generator")
    real_share: Share = Field(
        0.5, description="proportion of real images among the test trials, where both are shown"
    )
    training: int = Field(0, ge=0, description="trials with feedback before the start")
    qualification: int = Field(0, ge=0, description="trials that a rater must pass to be admitted")
    gold_every: int | None = Field(None, ge=1, description="one trial with a known answer after every so many")
    attention_every: int | None = Field(
        None, ge=2, description="one attention check (an instructed answer) after every so many"
    )
    repeats: int = Field(0, ge=0, description="repeated trials, with the sides exchanged")
    blocks: int = Field(1, ge=1, description="parts of the session, with a break between")

    @model_validator(mode="after")
    def _consistent(self) -> "Design":
        if self.repeats > self.trials:
            raise ValueError(f"repeats ({self.repeats}) cannot exceed trials ({self.trials})")
        if self.blocks > self.trials:
            raise ValueError(f"blocks ({self.blocks}) cannot exceed trials ({self.trials})")
        if self.raters_per_item and self.raters_per_item > self.raters:
            raise ValueError(
                f"raters_per_item ({self.raters_per_item}) cannot exceed raters ({self.raters}): "
                "a rater judges an item once"
            )
        total = self.raters * self.trials
        if self.raters_per_item and total % self.raters_per_item:
            raise ValueError(
                f"raters × trials ({self.raters} × {self.trials} = {total}) must be a multiple of "
                f"raters_per_item ({self.raters_per_item}), so that each item gets exactly that many answers"
            )
        return self


class Screening(Settings):
    """Rules by which a rater is excluded; a rule left out is not applied."""

    min_seconds: float | None = Field(None, ge=0, description="least median response time")
    max_same_share: Share | None = Field(None, description="greatest proportion of the most frequent answer")
    max_skipped: Share | None = Field(None, description="greatest proportion of test trials skipped")
    min_qualification: Share | None = Field(
        None, description="least proportion correct, on real and on generated images"
    )
    min_gold: Share | None = Field(None, description="least proportion correct on gold trials")
    max_attention_failures: int | None = Field(None, ge=0, description="most attention checks failed")
    min_repeat: Share | None = Field(None, description="least proportion of repeated trials answered alike")
    above_chance: Share | None = Field(
        None,
        description="agreement with the others' majority must exceed chance at this one-sided level, "
        "or be near that of the median rater",
    )
    min_correlation: float | None = Field(
        None, ge=-1, le=1, description="least correlation with the mean of the other raters"
    )
    bt500: bool = Field(False, description="the rejection rule of ITU-R BT.500")


def _checked_file(name: str) -> str:
    """Return the name of a file within the study folder; else raise."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name:
        raise ValueError("a file of the study folder, by its path from there, such as examples/good.png")
    return name


FileOfStudy = Annotated[str, Field(min_length=1), AfterValidator(_checked_file)]
"""A file of the study folder, by its path from there."""


class Example(Settings):
    """An image on the page of instructions that shows what to look for."""

    image: FileOfStudy = Field(description="an image file of the study folder; best not one that is judged")
    verdict: Literal["good", "bad", "neither"] = Field(
        "neither", description="whether it is marked as a good or as a bad example"
    )
    caption: dict[Language, str] = Field(default_factory=dict, description="what it is an example of, by language")


class Question(Settings):
    """What all kinds have in common; each kind adds its own settings."""

    name: Slug
    kind: str
    protocol: str | None = None
    text: Words
    instructions: dict[Language, str] = Field(
        default_factory=dict,
        description="your own instructions by language, in place of the built-in steps; blank lines separate "
        "paragraphs, `- ` starts a list item, `# ` a heading",
    )
    examples: tuple[Example, ...] = Field(
        (),
        max_length=12,
        description="example images for the instructions: one section `[[questions.examples]]` each",
    )
    labels: dict[str, Words] = Field(
        default_factory=dict, description="your own words for the choices, such as `left` or `generated`"
    )
    design: Design = Design()
    screening: Screening = Screening()

    @property
    def words(self) -> dict[str, str]:
        """The study's own words for the choices."""
        return self.labels

    @property
    def files(self) -> dict[int, str]:
        """Image files of the study folder that its pages show besides those that are judged, by number."""
        return dict(enumerate(example.image for example in self.examples))


class Aspect(Settings):
    """One thing to be rated, with the words at both ends of its scale."""

    name: Slug
    text: Words
    low: str = "bad"
    high: str = "excellent"
    labels: tuple[Words, ...] = Field(
        (), description="a word for each point of the scale, from low to high; by default words at the ends only"
    )
