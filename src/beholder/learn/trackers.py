"""Which trackers of training runs are installed: checked before any work, and before torch is imported."""

from collections.abc import Sequence
from importlib.util import find_spec

from beholder.errors import UserError
from beholder.learn.recipe import TRACKERS

ALL = "all"
"""Stands for the trackers that are installed."""


def installed_trackers(names: Sequence[str]) -> tuple[str, ...]:
    """Check that the packages of these trackers are installed; ``all`` stands for those that are.

    Raises:
        UserError: With the packages that are missing.
    """
    installed = tuple(name for name in TRACKERS if find_spec(name) is not None)
    if ALL in names:
        if not installed:
            raise UserError(f"tracker 'all': none of {', '.join(TRACKERS)} is installed: pip install tensorboard")
        return installed
    missing = [name for name in dict.fromkeys(names) if name not in installed]
    if missing:
        listed = " and ".join(missing)
        raise UserError(
            f"logging to {listed} needs the package{'s' if len(missing) > 1 else ''} of that name: "
            f"pip install {' '.join(missing)}"
        )
    return tuple(dict.fromkeys(names))
