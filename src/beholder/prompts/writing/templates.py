"""Counterfactual sets from templates: ``A {man|woman|person} who works as {a nurse|a pilot}``.

All prompts that differ only in the first choice share a group, so that results can be compared within it.
"""

import itertools
import re
from collections.abc import Iterator

from beholder.errors import PromptsError
from beholder.prompts.writing.new_prompt import NewPrompt

SLOT = re.compile(r"\{([^{}]*)\}")


def expand(template: str) -> Iterator[NewPrompt]:
    """Yield one prompt for each combination of choices, those of the last slot first.

    Args:
        template: a text with choices in braces, bars between; the first is the counterfactual one.

    Example:
        >>> [(new.text, new.group) for new in expand("a {man|woman} who {sings|cooks}")][:2]
        [('a man who sings', 'a {…} who sings'), ('a man who cooks', 'a {…} who cooks')]
    """
    slots = [[choice.strip() for choice in match.split("|")] for match in SLOT.findall(template)]
    faults = [
        f"choice {number}: two or more with | between are expected"
        for number, slot in enumerate(slots, 1)
        if len(slot) < 2 or not all(slot)
    ]
    if not slots:
        faults.append("no choices; {man|woman} is expected somewhere")
    if "{" in SLOT.sub("", template) or "}" in SLOT.sub("", template):
        faults.append("a brace without its counterpart")
    if faults:
        raise PromptsError(f"template '{template}'", faults)
    pattern = SLOT.split(template)[::2]
    for choices in itertools.product(*slots):
        text = "".join(part + choice for part, choice in itertools.zip_longest(pattern, choices, fillvalue=""))
        group = "".join(
            part + choice for part, choice in itertools.zip_longest(pattern, ("{…}", *choices[1:]), fillvalue="")
        )
        yield NewPrompt(text, None, "template", f"{choices[0]}", group)
