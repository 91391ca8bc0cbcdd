"""The tables that a report reads."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from beholder.tables.store import TRUTH_ROOM, Store

READ = ("images", "prompts", "sessions", "raters", "labels", "agreement", "ratings", "separations")
READ_TRUTH = ("raters", "ratings")


@dataclass(frozen=True, slots=True)
class Inputs:
    """The tables of a study; what is absent is empty, and what only a made-up world knows is ``None``."""

    images: pl.DataFrame
    prompts: pl.DataFrame
    sessions: pl.DataFrame
    raters: pl.DataFrame
    labels: pl.DataFrame
    agreement: pl.DataFrame
    ratings: pl.DataFrame
    separations: pl.DataFrame
    true_raters: pl.DataFrame | None
    true_ratings: pl.DataFrame | None
    planted: bool
    """Whether the images come from a made-up world that knows their flaws."""

    @property
    def simulated(self) -> bool:
        """Whether all the people are made up."""
        return not self.sessions.is_empty() and bool(self.sessions["simulated"].all())


def read_inputs(folder: Path) -> Inputs:
    """The tables of a study folder; only ``images`` must be there."""
    store, truth = Store(folder), Store(folder, TRUTH_ROOM)
    rest = {name: store.read_or_empty(name) for name in READ if name != "images"}
    known = {name: truth.read(name) for name in READ_TRUTH if truth.has(name)}
    return Inputs(
        images=store.read("images"),
        **rest,
        true_raters=known.get("raters"),
        true_ratings=known.get("ratings"),
        planted=truth.has("scores"),
    )
