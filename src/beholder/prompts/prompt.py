"""A prompt of a set, and a set of prompts with its name, version, licence and source."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from beholder.tables.prompt_id import prompt_id


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt of a set.

    Example:
        >>> Prompt("0", "a photo of a cat", category="animals").prompt_id
        'ba792b3ff0f6'
    """

    key: str
    """Its id within the set."""
    text: str
    category: str | None = None
    group: str | None = None
    """Prompts of the set that belong together, such as a caption and its hard negative, share a group."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """What else the set says about it."""

    @property
    def prompt_id(self) -> str:
        """Id of the text, the same in every set and study."""
        return prompt_id(self.text)


@dataclass(frozen=True, slots=True)
class PromptSet:
    """Prompts of one source, in its order."""

    name: str
    part: str
    version: str
    licence: str
    source: str
    prompts: tuple[Prompt, ...]

    @property
    def full_name(self) -> str:
        """``name`` of the main part, otherwise ``name:part``."""
        return self.name if self.part == MAIN else f"{self.name}:{self.part}"


MAIN = "main"
"""The part of a set that its paper evaluates on."""
