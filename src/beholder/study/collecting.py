"""The ``[collect]`` settings: how raters come in, what they are told, and how pages and leases behave."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from beholder.study.question import Language, Settings, Words
from beholder.study.redirecting import checked_redirect

Platform = Literal["prolific", "mturk", "panel"]


class Codes(Settings):
    """The completion code that a rater is shown, or redirected with, at each outcome; empty: none."""

    complete: str = ""
    screened_out: str = ""
    no_consent: str = ""
    failed_checks: str = ""
    withdrawn: str = ""
    returned: str = ""


class ConsentSection(Settings):
    """A section of your own in the consent, after the consent text."""

    title: dict[Language, Words] = Field(min_length=1)
    text: dict[Language, Words] = Field(min_length=1)


class Collecting(Settings):
    """How the server admits and serves raters."""

    languages: tuple[Language, ...] = Field(("en", "de"), min_length=1)
    consent_version: str = "1"
    consent: dict[Language, str] = Field(
        default_factory=dict, description="the consent text by language; by default a plain one"
    )
    consent_sections: tuple[ConsentSection, ...] = Field(
        (), description="your own sections after the consent text: one section `[[collect.consent_sections]]` each"
    )
    minutes: float = Field(
        0.0, ge=0, description="how long it takes, as raters are told; 0: computed from the trials"
    )
    open_link: bool = Field(True, description="anyone with the link may take part")
    platforms: tuple[Platform, ...] | None = Field(
        None, description="whose ids let someone in; by default all with an open link, none without"
    )
    unsigned_ids: bool = Field(
        False, description="without an open link, believe ids that nobody has signed: anyone can invent one"
    )
    prolific_keys: str = Field(
        "", description="Prolific's public keys: a file of the study folder, or the https address they are at"
    )
    prolific_audience: str = Field("", description="your server's domain, for which Prolific signs its links")
    prolific_workspace: str = Field("", description="your workspace at Prolific; links of others are refused")
    prolific_study: str = Field("", description="your study's id at Prolific; links of others are refused")
    panel_parameter: str = Field(
        "", description="URL parameter with a panel's rater id, besides Prolific and MTurk"
    )
    panel_key_file: str = Field(
        "", description="file of the study folder with the key that a panel signs ids with"
    )
    panel_signature: str = Field("signature", min_length=1, description="URL parameter with a panel's signature")
    redirect: Annotated[str, AfterValidator(checked_redirect)] = Field(
        "",
        description="where raters are sent at the end; {code}, {personal_code}, {outcome} and {id} are filled in",
    )
    codes: Codes = Codes()
    lease_minutes: float = Field(
        10.0, gt=0, description="how long a slot is held for a rater without a sign of life"
    )
    max_skips: float = Field(
        0.1,
        ge=0,
        description="paid skips per session: a proportion of its test trials (below 1; at least 2), or a count; "
        "one more ends it",
    )
    min_hz: float = Field(45.0, ge=0, description="slowest screen for timed questions")
    image_side: int = Field(
        0, ge=0, le=4096, description="longest side of served images; 0: that of the smallest image"
    )
    image_quality: int = Field(92, ge=50, le=100)
    break_minutes: float = Field(
        5.0,
        ge=0,
        description="offer a break after about so many minutes, also within a block; 0: only between blocks",
    )
    job_survey: bool = Field(
        False, description="ask the questions of a job diagnostic survey at the end; nobody has to answer them"
    )
    thin_gold: bool = Field(
        False,
        description="on the server of a panel: ask trusted raters fewer gold trials, and more again as soon as "
        "they answer one wrong; gold beyond one trial in five is a reserve",
    )
    debrief: bool = Field(True, description="ask at the end about the task itself")

    @model_validator(mode="after")
    def _provable(self) -> "Collecting":
        faults = [*self._faults_of_prolific(), *self._faults_of_mturk(), *self._faults_of_panel()]
        if faults:
            raise ValueError("; ".join(faults))
        return self

    def admits(self, platform: Platform) -> bool:
        """Return whether an id of the platform admits a rater."""
        if self.platforms is None:
            return self.open_link
        return platform in self.platforms

    def _names(self, platform: Platform) -> bool:
        """Return whether the study names a platform whose raters are admitted though the link is closed."""
        return not self.open_link and self.admits(platform)

    def _faults_of_prolific(self) -> list[str]:
        if not self.prolific_keys:
            if self._names("prolific") and not self.unsigned_ids:
                return [
                    "platforms names prolific in a closed study, where ids need a proof: set prolific_keys to "
                    "check Prolific's signed links, or unsigned_ids = true to believe ids that anyone can invent"
                ]
            return []
        faults = []
        if self.prolific_keys.startswith("http:"):
            faults.append("prolific_keys must be a file or an https address: keys fetched over http can be forged")
        if not self.prolific_audience:
            faults.append(
                "prolific_keys needs prolific_audience, your server's domain: Prolific's signature for another "
                "server would be taken otherwise"
            )
        if self._names("prolific") and not (self.prolific_workspace or self.prolific_study):
            faults.append(
                "in a closed study prolific_keys needs prolific_workspace (or prolific_study): anyone with an "
                "account at Prolific can have links to your server signed otherwise"
            )
        return faults

    def _faults_of_mturk(self) -> list[str]:
        if self._names("mturk") and not self.unsigned_ids:
            return [
                "platforms names mturk in a closed study, but MTurk signs nothing: set unsigned_ids = true to "
                "believe ids that anyone can invent, or invite raters by personal links"
            ]
        return []

    def _faults_of_panel(self) -> list[str]:
        faults = []
        named = self.platforms is not None and "panel" in self.platforms
        if (named or self.panel_key_file) and not self.panel_parameter:
            faults.append("a panel needs panel_parameter, the name of the URL parameter with its id")
        if self._names("panel") and not (self.panel_key_file or self.unsigned_ids):
            faults.append(
                "platforms names panel in a closed study, where ids need a proof: set panel_key_file to check the "
                "panel's signatures, or unsigned_ids = true to believe ids that anyone can invent"
            )
        return faults
