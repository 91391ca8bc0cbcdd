"""A prompt that is considered, from where it was read or written to what became of it."""

from dataclasses import dataclass, field

from beholder.prompts.checks.finding import Finding
from beholder.prompts.cleaning.edits import Cut
from beholder.prompts.tags.tag import Tag
from beholder.tables.prompt_id import prompt_id

LIVE = ""
"""Status of a candidate about which nothing is decided yet."""


@dataclass(slots=True)
class Candidate:
    """One candidate; it collects what the steps of the curation find out about it."""

    name: str
    """Its id: the set and the key within it, or its parent and how it was written."""
    text: str
    original: str
    set_name: str | None
    key: str
    category: str | None = None
    group: str | None = None
    origin: str = "set"
    parent: str | None = None
    change: str = ""
    language: str = ""
    cuts: tuple[Cut, ...] = ()
    findings: tuple[Finding, ...] = ()
    tags: tuple[Tag, ...] = field(default=(), repr=False)
    status: str = LIVE
    reason: str = ""

    @property
    def prompt(self) -> str:
        """Id of the final text."""
        return prompt_id(self.text)

    @property
    def live(self) -> bool:
        """Whether it has not been dropped."""
        return self.status == LIVE

    def decide(self, status: str, reason: str) -> None:
        """Say what becomes of it, and why."""
        self.status, self.reason = status, reason
