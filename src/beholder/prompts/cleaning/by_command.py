"""Cleaning by a command of the user's, such as a language model; the cuts are the words that its answers lack."""

import re
from collections.abc import Mapping
from difflib import SequenceMatcher

from beholder.prompts.cleaning.clean import Cleaned
from beholder.prompts.cleaning.edits import Cut
from beholder.prompts.command import one_each, run_command

WORD = re.compile(r"\S+")
COMMAND = "command"


def clean_by_command(command: str, prompts: Mapping[str, str], *, seconds: float = 600.0) -> dict[str, Cleaned]:
    """Clean prompts by a command that answers each of them once.

    Args:
        command: what one would type into a terminal; see :mod:`beholder.prompts.command`.
        prompts: texts by id.
        seconds: how long it may take for all of them.

    Returns:
        By id, the text that the command gave, and the words of the original that it lacks as cuts; words that it
        added are the evidence of the cut in whose place they stand.
    """
    answers = one_each(command, run_command(command, prompts, seconds=seconds), prompts)
    return {key: Cleaned(answers[key], _cuts(text, answers[key])) for key, text in prompts.items()}


def _cuts(original: str, cleaned: str) -> tuple[Cut, ...]:
    before, after = list(WORD.finditer(original)), WORD.findall(cleaned)
    matcher = SequenceMatcher(None, [match.group() for match in before], after, autojunk=False)
    cuts = []
    for operation, first, last, new_first, new_last in matcher.get_opcodes():
        if operation not in ("delete", "replace"):
            continue
        start, end = before[first].start(), before[last - 1].end()
        replaced = " ".join(after[new_first:new_last])
        cuts.append(
            Cut(COMMAND, original[start:end], f"replaced by: {replaced}" if replaced else "left out", start, end)
        )
    return tuple(cuts)
