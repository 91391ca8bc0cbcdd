"""The mandatory stop: a study whose prototype was voted to be revised does not open."""

from pathlib import Path

from beholder.collect.database.address import FILE_NAME, default_url
from beholder.collect.database.schema import Database
from beholder.collect.prototype.rounds import read_round, round_folders
from beholder.collect.prototype.votes import Tally, read_tally
from beholder.errors import StageError


def require_published(folder: Path) -> None:
    """Refuse to open a study whose latest prototype round is undecided, or was stopped by its raters.

    Args:
        folder: Of the study; without prototype rounds nothing is refused.
    """
    latest = next(iter(round_folders(folder)), None)
    held = read_round(latest) if latest is not None else None
    if latest is None or held is None:
        return
    tally = tally_of(latest)
    votes = f"{tally.publish} to publish, {tally.revise} to revise"
    if tally.decision == "revise":
        raise StageError(
            f"{folder} was stopped by the raters of prototype round {held.number} ({votes}). Read their feedback "
            f"(beholder collect {folder} --prototype serves the page), revise study.toml, and let raters try it "
            f"again: beholder collect {folder} --prototype"
        )
    if tally.decision == "ask more":
        missing = held.rule.first_raters - tally.publish - tally.revise
        more = f"at least {missing} more" if missing > 0 else "more"
        raise StageError(
            f"{folder}: prototype round {held.number} is not decided yet ({votes}; {more} are needed). Go on with "
            f"it: beholder collect {folder} --prototype"
        )


def tally_of(folder: Path) -> Tally:
    """Return how the votes of a round stand.

    Args:
        folder: Of the round.

    Returns:
        The tally.
    """
    held = read_round(folder)
    if held is None:
        raise StageError(f"{folder} is no prototype round")
    if not (folder / FILE_NAME).is_file():
        return Tally(0, 0, "ask more")
    database = Database(default_url(folder))
    try:
        with database.reading() as connection:
            return read_tally(connection, held.rule)
    finally:
        database.engine.dispose()
