"""What a protocol is: a named preset of questions, with its source and the departures from it."""

from collections.abc import Callable
from dataclasses import dataclass

from beholder.study.kinds.catalogue import AnyQuestion


def _no_notes(question: AnyQuestion) -> tuple[str, ...]:  # noqa: ARG001 - the shape of ``Protocol.notes``
    return ()


@dataclass(frozen=True, slots=True)
class Protocol:
    """A preset. ``questions`` makes its questions with the published defaults."""

    name: str
    summary: str
    source: str
    departures: tuple[str, ...]
    questions: Callable[[], tuple[AnyQuestion, ...]]
    notes: Callable[[AnyQuestion], tuple[str, ...]] = _no_notes
    """What ``beholder new`` and ``beholder protocols`` say about a question's settings."""
    raters_per_generator: int | None = None
    """Where each rater judges one generator: the number of raters for each."""
    needs_real: bool = False
    needs_prompts: bool = False
