"""The ``[collect]`` settings: how people come in, what they are told, and how pages and leases behave."""

from typing import Literal

from pydantic import Field

from beholder.study.question import Settings

CONSENT = {
    "en": (
        "You are asked to look at images and to answer simple questions about them. Some images may have been "
        "made by a computer. Your answers, the time they take, and properties of your screen are stored under a "
        "pseudonym and used for research. You may stop at any time, and ask for your answers to be deleted."
    ),
    "de": (
        "Wir bitten Sie, Bilder anzusehen und einfache Fragen dazu zu beantworten. Manche Bilder können von einem "
        "Computer erzeugt worden sein. Ihre Antworten, die Zeit dafür und Eigenschaften Ihres Bildschirms werden "
        "unter einem Pseudonym gespeichert und für die Forschung verwendet. Sie können jederzeit aufhören und "
        "verlangen, dass Ihre Antworten gelöscht werden."
    ),
}
"""The plain consent text, where the study has none of its own."""

Language = Literal["en", "de"]


class Codes(Settings):
    """What a person is shown, or sent away with, at each outcome; empty: nothing."""

    complete: str = ""
    screened_out: str = ""
    no_consent: str = ""
    failed_checks: str = ""
    withdrawn: str = ""
    returned: str = ""


class Collecting(Settings):
    """How the server treats people."""

    languages: tuple[Language, ...] = Field(("en", "de"), min_length=1)
    consent_version: str = "1"
    consent: dict[Language, str] = Field(
        default_factory=dict, description="the consent text by language; left out: a plain one"
    )
    minutes: float = Field(
        0.0, ge=0, description="how long it takes, as people are told; 0: reckoned from the trials"
    )
    open_link: bool = Field(True, description="anyone with the link may take part")
    panel_parameter: str = Field(
        "", description="URL parameter with a panel's person id, besides Prolific and MTurk"
    )
    redirect: str = Field("", description="where people go at the end; {code}, {outcome} and {id} are filled in")
    codes: Codes = Codes()
    lease_minutes: float = Field(10.0, gt=0, description="a place is kept so long without a sign of life")
    max_skips: float = Field(
        0.1,
        ge=0,
        description="paid skips a session: a proportion of its test trials (below 1; at least 2), or a count; "
        "one more ends it",
    )
    min_hz: float = Field(45.0, ge=0, description="slowest screen for timed questions")
    image_side: int = Field(
        0, ge=0, le=4096, description="longest side of served images; 0: that of the smallest image"
    )
    image_quality: int = Field(92, ge=50, le=100)
    debrief: bool = Field(True, description="ask at the end about the task itself")
