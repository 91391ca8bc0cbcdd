"""The prefix of a study's paths, where one server serves several studies: ``/s/NAME``, else nothing."""

from collections.abc import MutableMapping
from typing import Any

PREFIX = "beholder.prefix"
"""Key of the scope under which the server of a panel notes the prefix that it took off the path."""


def prefix_of(scope: MutableMapping[str, Any]) -> str:
    """Return what stands before the paths of this study in the browser's address."""
    return str(scope.get(PREFIX, ""))
