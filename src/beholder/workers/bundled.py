"""The workers that come with beholder, by name: modules of packages that may need torch, never imported here."""

import sys

from beholder.errors import UserError, unknown_name

BUNDLED: dict[str, str] = {
    "minilm": "beholder.models.text.sentence_worker",
    "painter": "beholder.simulate.painter_worker",
    "diffusers": "beholder.models.pipelines.diffusers_worker",
    "scorer": "beholder.scorers.scorer_worker",
    "trainable": "beholder.improve.tuning.worker",
    "inpainter": "beholder.improve.tuning.inpainting_worker",
}
"""Name of a worker -> the module that is its main program."""


def bundled_command(name: str, *arguments: str) -> list[str]:
    """Return the command that starts a worker of beholder with this Python.

    >>> bundled_command("minilm")[1:]
    ['-m', 'beholder.models.text.sentence_worker']
    """
    if name not in BUNDLED:
        raise UserError(unknown_name("worker", name, BUNDLED))
    return [sys.executable, "-m", BUNDLED[name], *arguments]
