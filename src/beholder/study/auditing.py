"""What `beholder audit` needs to know besides the tables: word lists, scorers, and practitioners' weights."""

from pydantic import Field, field_validator

from beholder.study.question import Settings, Slug, Words


class Profile(Settings):
    """What one kind of practitioner values: weights of measures, of roles of measures, or of both."""

    name: Slug = Field(description="of the practitioner, such as `artist`")
    about: str = Field("", description="who that is, in a few words")
    weights: dict[str, float] = Field(
        min_length=1,
        description="what each measure, or role of measures (`preference`, `quality`, `alignment`, `realism`, "
        "`worst-slice`, `refusals`, `speed`, `price`, `energy`), is worth",
    )

    @field_validator("weights")
    @classmethod
    def _positive(cls, weights: dict[str, float]) -> dict[str, float]:
        if min(weights.values()) < 0 or sum(weights.values()) <= 0:
            raise ValueError("weights are at least 0, and not all of them 0")
        return weights


class Auditing(Settings):
    """How `beholder audit` looks at a study."""

    word_lists: dict[str, str] = Field(
        default_factory=dict, description="filters to audit: name of a list = a text file of words, one per line"
    )
    scorers: tuple[Words, ...] = Field(
        (), description="scorers to audit; none: all with a better end that scored, and all trained models"
    )
    images: int = Field(48, ge=20, le=5000, description="images on which each scorer is audited")
    profiles: tuple[Profile, ...] = Field(
        (), description="one section `[[audit.profiles]]` for each practitioner, besides those that come with it"
    )

    @field_validator("profiles")
    @classmethod
    def _distinct(cls, profiles: tuple[Profile, ...]) -> tuple[Profile, ...]:
        names = [profile.name for profile in profiles]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"each profile needs a name of its own; used more than once: {', '.join(twice)}")
        return profiles
