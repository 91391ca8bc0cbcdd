"""Reading the prompt sets of a curation."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from beholder.curate.candidate import Candidate
from beholder.curate.settings import SourceSet
from beholder.errors import PromptsError
from beholder.prompts.prompt import PromptSet
from beholder.prompts.sets.catalogue import PROMPT_SETS, read_set
from beholder.prompts.sets.own_file import read_own_file


def read_sources(sources: Sequence[SourceSet], folder: Path) -> list[PromptSet]:
    """Read all sets; an error lists the faults of all of them.

    Args:
        sources: the sets as the settings name them.
        folder: what relative paths are relative to.
    """
    sets: list[PromptSet] = []
    faults: list[str] = []
    for source in sources:
        path = folder / source.path
        try:
            if source.name in PROMPT_SETS:
                sets.append(read_set(source.name, path, source.part))
            else:
                sets.append(read_own_file(path, source.name, source.licence))
        except PromptsError as error:
            faults += [
                f"{error.subject}: {fault}{f'. {error.advice}' if error.advice else ''}" for fault in error.faults
            ]
    names = Counter(each.full_name for each in sets)
    faults += [f"the set '{name}' is named {count} times" for name, count in names.items() if count > 1]
    if faults:
        raise PromptsError("prompt sets", faults)
    return sets


def fingerprint(prompts: PromptSet) -> str:
    """Return a hash of what was read of a set: with the same prompts, nothing needs to be done again."""
    rows = [(prompt.key, prompt.text, prompt.category, prompt.group) for prompt in prompts.prompts]
    return hashlib.sha256(json.dumps([prompts.version, rows]).encode()).hexdigest()


def candidates_of(sets: Sequence[PromptSet]) -> list[Candidate]:
    """Return every prompt of every set as a candidate, in order."""
    return [
        Candidate(
            name=f"{each.full_name}/{prompt.key}",
            text=prompt.text.strip(),
            original=prompt.text,
            set_name=each.full_name,
            key=prompt.key,
            category=prompt.category,
            group=None if prompt.group is None else f"{each.full_name}/{prompt.group}",
        )
        for each in sets
        for prompt in each.prompts
    ]
