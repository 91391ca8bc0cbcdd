"""Whether results rest on the answers of all raters, those that screening excludes included."""

from beholder.tables.store import Store

SETTING = "include_excluded"
"""The setting under which the tables' provenance records it; left out where raters are excluded as usual."""


def includes_excluded(store: Store) -> bool:
    """Say whether the study was last consolidated with the answers of excluded raters."""
    record = store.provenance("raters")
    return record is not None and record.settings.get(SETTING) is True
