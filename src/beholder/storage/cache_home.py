"""Where files are kept that can be made or fetched again."""

import os
from pathlib import Path


def cache_home() -> Path:
    """``$XDG_CACHE_HOME/beholder``, or ``~/.cache/beholder``."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "beholder"
