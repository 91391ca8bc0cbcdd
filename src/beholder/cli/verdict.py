"""What the demo prints: the leaderboards beside the planted truth, and whether the loop recovered it."""

from pathlib import Path

import click
import polars as pl

from beholder.report.tables.leaderboard import boards, headlines, text
from beholder.simulate.people import BAD, SUBTLE
from beholder.tables.store import TRUTH_ROOM, Store

KEY = ["question", "aspect", "method", "slice", "generator"]
HEADLINES = ["error-rate", "bradley-terry", "mean-opinion"]


def print_boards(folder: Path) -> None:
    """The leaderboard of every question."""
    ratings, separations = (Store(folder).read(name) for name in ("ratings", "separations"))
    planted = Store(folder, TRUTH_ROOM).read_or_empty("ratings")
    for board in headlines(boards(ratings, separations, planted)):
        click.echo("\n" + text(board))


def print_verdict(folder: Path) -> None:
    """Order, coverage and screening against what was planted."""
    ratings = _beside_truth(folder)
    ordered = [
        part.sort("rating")["generator"].to_list() == part.sort("planted")["generator"].to_list()
        for part in ratings.partition_by("question", "aspect", "method")
    ]
    inside = ratings.filter(pl.col("planted").is_between(pl.col("low"), pl.col("high"))).height
    click.echo(
        f"\nplanted order recovered by {sum(ordered)} of {len(ordered)} leaderboards; "
        f"planted value within the 95 % interval in {inside} of {ratings.height} cells"
    )
    for habits, name in ((BAD, "bad"), (SUBTLE, "subtly bad"), (None, "honest")):
        people = _by_habit(folder, habits)
        click.echo(f"{name} people set aside: {people.filter(~pl.col('used')).height} of {people.height} sessions")


def _beside_truth(folder: Path) -> pl.DataFrame:
    planted = Store(folder, TRUTH_ROOM).read("ratings").select(*KEY, planted="rating")
    ratings = Store(folder).read("ratings").filter(pl.col("method").is_in(HEADLINES))
    return ratings.join(planted, on=KEY)


def _by_habit(folder: Path, habits: tuple[str, ...] | None) -> pl.DataFrame:
    planted = Store(folder, TRUTH_ROOM).read("raters")
    known = planted.select("question", "rater", habit=pl.col("reasons").list.first())
    people = Store(folder).read("raters").join(known, on=["question", "rater"])
    if habits is None:
        return people.filter(~pl.col("habit").is_in([*BAD, *SUBTLE]))
    return people.filter(pl.col("habit").is_in(list(habits)))
