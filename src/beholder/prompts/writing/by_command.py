"""New prompts by a command of the user's, such as a language model that gets the seed prompts."""

from collections.abc import Mapping

from beholder.prompts.command import run_command
from beholder.prompts.normalise import normal_text
from beholder.prompts.writing.new_prompt import NewPrompt


def write_by_command(command: str, seeds: Mapping[str, str], *, seconds: float = 600.0) -> list[NewPrompt]:
    """Return the prompts that a command writes from seeds, each with its parent.

    Args:
        command: see :mod:`beholder.prompts.command`; it may answer a seed several times, or not at all.
        seeds: texts by id.
        seconds: how long it may take for all of them.

    Returns:
        Prompts that are no seed and occur once, in the order of the answers.
    """
    known = {normal_text(text) for text in seeds.values()}
    written: list[NewPrompt] = []
    for answer in run_command(command, seeds, seconds=seconds):
        if normal_text(answer.prompt) not in known:
            known.add(normal_text(answer.prompt))
            written.append(NewPrompt(answer.prompt, answer.key, "command", "written by the command", answer.key))
    return written
