"""A command of the user's, such as a call of a language model, that turns prompts into prompts.

It gets one JSON object per line on stdin, ``{"id": "…", "prompt": "…"}``, and writes objects of the same form to
stdout, in any order; what it says on stderr appears in the error if it fails.
"""

import json
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from beholder.errors import PromptsError

SHOWN = 2000
"""Characters of the command's own messages that an error repeats."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One line of the command: the id that it answers, and a prompt."""

    key: str
    prompt: str


def run_command(command: str, prompts: Mapping[str, str], *, seconds: float = 600.0) -> list[Answer]:
    """Send prompts through a command and return its answers in the order in which it gave them.

    Args:
        command: what one would type into a terminal; it is run without a shell.
        prompts: texts by id.
        seconds: how long it may take for all of them.

    Returns:
        The answers. Every id must be one that was sent; a command may answer an id several times, or not at all.
    """
    lines = "".join(
        json.dumps({"id": key, "prompt": text}, ensure_ascii=False) + "\n" for key, text in prompts.items()
    )
    try:
        done = subprocess.run(
            shlex.split(command), input=lines, capture_output=True, encoding="utf-8", timeout=seconds, check=False
        )
    except (OSError, ValueError) as error:
        raise PromptsError(command, [f"cannot be started ({error})"]) from error
    except subprocess.TimeoutExpired as error:
        raise PromptsError(command, [f"no end after {seconds:g} s"]) from error
    if done.returncode:
        said = done.stderr.strip()[-SHOWN:] or "nothing on stderr"
        raise PromptsError(command, [f"exit code {done.returncode}: {said}"])
    return _answers(command, done.stdout, prompts)


def one_each(command: str, answers: Sequence[Answer], prompts: Mapping[str, str]) -> dict[str, str]:
    """Return the answers by id; an error lists the ids that were not answered exactly once."""
    counts = dict.fromkeys(prompts, 0)
    for answer in answers:
        counts[answer.key] += 1
    faults = [f"prompt {key}: {count} answers, 1 is expected" for key, count in counts.items() if count != 1]
    if faults:
        raise PromptsError(command, faults[:20])
    return {answer.key: answer.prompt for answer in answers}


def _answers(command: str, output: str, prompts: Mapping[str, str]) -> list[Answer]:
    answers: list[Answer] = []
    faults: list[str] = []
    for number, line in enumerate(output.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            answer = Answer(str(row["id"]), str(row["prompt"] or ""))
        except (json.JSONDecodeError, KeyError, TypeError):
            faults.append(f'line {number}: {{"id": …, "prompt": …}} is expected, found: {line[:80]}')
            continue
        if answer.key not in prompts:
            faults.append(f"line {number}: id {answer.key!r} was not sent")
        elif not answer.prompt.strip():
            faults.append(f"line {number}: an empty prompt")
        else:
            answers.append(Answer(answer.key, answer.prompt.strip()))
    if faults:
        raise PromptsError(command, faults[:20])
    return answers
