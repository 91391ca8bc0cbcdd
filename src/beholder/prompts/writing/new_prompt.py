"""A prompt that was written here, with where it comes from."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NewPrompt:
    """A text, the seed prompt it was written from, how, and what was changed."""

    text: str
    parent: str | None
    """Id of the seed prompt; ``None`` for one of a template."""
    method: str
    change: str
    """Such as ``colour: red -> blue``."""
    group: str
    """Prompts that differ only in what is tested share a group."""
