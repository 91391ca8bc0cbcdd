"""The results of a study: leaderboards, inter-rater agreement, and whom screening excluded, with the reasons."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import polars as pl

from beholder.judgements.inclusion import includes_excluded
from beholder.report.tables.leaderboard import Board, build_boards, select_headlines
from beholder.report.tables.raters import Agreement, RaterPool, RaterSummary, build_pools
from beholder.study.kinds.catalogue import KINDS
from beholder.study.study import load_study
from beholder.tables.store import TRUTH_ROOM, Store

INCLUDED = "With the answers of raters whom screening excludes (--include-excluded): not for publication."
"""Stands over results that rest on all raters."""
SIMULATED = "Simulated raters gave these answers."
INVENTED = " They know nothing about your images: this is a rehearsal, no finding about the {subject}."


@dataclass(frozen=True, slots=True)
class Results:
    """What the tables of a study say so far."""

    boards: tuple[Board, ...]
    """All leaderboards, by every measure and slice."""
    pools: tuple[RaterPool, ...]
    """The raters of each question."""
    includes_excluded: bool
    """Whether the answers of raters count whom screening excludes."""
    simulated: bool
    """Whether all raters are simulated."""
    invented: bool
    """Whether the image qualities that simulated raters saw were drawn at random too."""
    unrated: dict[str, tuple[str, ...]]
    """Of each question that has a leaderboard: the generators in its trials that are not on it."""

    @property
    def headlines(self) -> tuple[Board, ...]:
        """The leaderboards of all images by the main measure of each question."""
        return select_headlines(self.boards)

    def caveats(self, subject: str = "generators") -> list[str]:
        """Return what stands over the numbers where they are no finding about the ``subject``."""
        simulated = SIMULATED + (INVENTED.format(subject=subject) if self.invented else "")
        return [*([INCLUDED] if self.includes_excluded else []), *([simulated] if self.simulated else [])]


def load_results(folder: Path) -> Results:
    """Return the results of a study; tables that are absent count as empty.

    Ground truth is shown only where all raters are simulated. Ratings are left out where the judgements have
    changed since.
    """
    study, store = load_study(folder), Store(folder)
    sessions = store.read_or_empty("sessions")
    simulated = bool(sessions["simulated"].all())
    truth_store = Store(folder, TRUTH_ROOM)
    truth = truth_store.read_or_empty("ratings") if simulated else None
    boards: tuple[Board, ...] = ()
    if are_ratings_current(store):
        boards = build_boards(store.read_or_empty("ratings"), store.read_or_empty("separations"), truth)
    aspects = {question.name: KINDS[question.kind].aspects(question) for question in study.questions}
    pools = build_pools(aspects, sessions, store.read_or_empty("raters"), store.read_or_empty("agreement"))
    simulated = simulated and not sessions.is_empty()
    invented = simulated and not truth_store.has("scores")
    return Results(
        boards,
        pools,
        includes_excluded(store),
        simulated=simulated,
        invented=invented,
        unrated=_unrated(store, boards),
    )


def excluded_raters(pool: RaterPool) -> tuple[RaterSummary, ...]:
    """Return the raters whom screening excludes, also where their answers are included all the same."""
    return tuple(rater for rater in pool.raters if rater.reasons or not rater.used)


def plain_results(results: Results) -> dict[str, object]:
    """Return the numbers as JSON can hold them."""
    return {
        "include_excluded": results.includes_excluded,
        "simulated": results.simulated,
        "invented_qualities": results.invented,
        "unrated": {question: list(generators) for question, generators in results.unrated.items()},
        "leaderboards": [asdict(board) for board in results.boards],
        "agreement": [
            {"question": pool.question, **_plain_agreement(agreement)}
            for pool in results.pools
            for agreement in pool.agreements
        ],
        "raters": [
            {
                "question": pool.question,
                "took_part": pool.took_part,
                "used": len(pool.used),
                "excluded": [
                    {"rater": rater.name, "used": rater.used, "reasons": list(rater.reasons)}
                    for rater in excluded_raters(pool)
                ],
            }
            for pool in results.pools
        ],
    }


def _unrated(store: Store, boards: Sequence[Board]) -> dict[str, tuple[str, ...]]:
    """Return the generators that raters were to judge, but nobody did whose answers count."""
    headlines = select_headlines(boards)
    if not headlines:
        return {}
    generators = store.read("images").filter(~pl.col("real")).select(images="image", generator="generator")
    trials = store.read_or_empty("trials").filter(pl.col("role") == "test").select("question", "images")
    judged = (
        trials.explode("images")
        .join(generators, on="images")
        .select("question", "generator")
        .unique()
        .sort("generator")
    )
    unrated: dict[str, tuple[str, ...]] = {}
    for question in dict.fromkeys(board.question for board in headlines):
        rated = {row.generator for board in headlines if board.question == question for row in board.rows}
        names = judged.filter(pl.col("question") == question)["generator"]
        missing = tuple(name for name in names if name not in rated)
        unrated |= {question: missing} if missing else {}
    return unrated


def are_ratings_current(store: Store) -> bool:
    """Return whether the ratings were made from the judgements as they are now."""
    record = store.provenance("ratings")
    return record is None or record.inputs.get("judgements") in (None, store.hash("judgements"))


def _plain_agreement(agreement: Agreement) -> dict[str, object]:
    value, low, high = agreement.after
    before, before_low, before_high = agreement.before
    return {
        "aspect": agreement.aspect,
        "statistic": agreement.statistic,
        "value": value,
        "low": low,
        "high": high,
        "before_screening": {"value": before, "low": before_low, "high": before_high},
        "answers": agreement.answers,
        "items": agreement.items,
        "raters": agreement.raters,
    }
