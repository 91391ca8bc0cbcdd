"""Vega, Vega-Lite and Vega-Embed as one script, so that the page needs no network.

Bundling takes seconds and gives the same bytes for the same versions, so the script is kept in the user's cache.
"""

from functools import cache
from importlib.metadata import version

import vl_convert

from beholder.report.charts.still import VEGA_LITE
from beholder.storage.cache_home import cache_home
from beholder.tables.atomic import write_atomically


@cache
def vega_bundle() -> str:
    """The script; from the cache if these versions have been bundled before."""
    cached = cache_home() / f"vega-{VEGA_LITE}-vl-convert-{version('vl-convert-python')}.js"
    try:
        return cached.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        script = str(vl_convert.javascript_bundle(vl_version=VEGA_LITE))  # type: ignore[call-arg]  # its stub errs
    try:
        cached.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(cached) as file:
            file.write(script.encode())
    except OSError:
        pass  # a home that cannot be written to costs time, no more
    return script
