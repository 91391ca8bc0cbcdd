"""The board of an arena from its votes: ratings, intervals at any time, style control and flags."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beholder.arena.style_control import styled_ratings
from beholder.arena.voter_flags import flag_voters
from beholder.arena.win_rates import anytime_win_rates, even_scores, weighted_win_rates
from beholder.collect.arena.ballots import WINS

BALLOT = 10
"""Votes after which a voter enters the anytime-valid intervals, with these votes alone."""

OWN_VOTES = 30
"""Votes from which a voter has a board of their own."""

COVARIATES = ("saturation", "size", "sharpness", "prompt length")


@dataclass(frozen=True, eq=False)
class VoteTable:
    """Votes as columns, in the order in which they came; entries and voters are numbered."""

    voter: NDArray[np.int64]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    first_image: NDArray[np.int64]
    second_image: NDArray[np.int64]
    wins: NDArray[np.float64]
    propensity: NDArray[np.float64]
    even: NDArray[np.bool_]
    is_check: NDArray[np.bool_]
    seconds: NDArray[np.float64]
    voters: tuple[str, ...]
    entries: tuple[str, ...]
    images: tuple[str, ...]

    @property
    def counted(self) -> NDArray[np.bool_]:
        """Votes on two entries: all but checks."""
        return ~self.is_check

    def outcome_counts(self, entry: int) -> int:
        """Votes that an entry took part in."""
        return int(((self.first == entry) | (self.second == entry))[self.counted].sum())


def vote_table(rows: Sequence[Any], entries: Sequence[str]) -> VoteTable:
    """Number the voters, entries and images of vote rows (joined with their ballots), in order."""
    place = {entry: number for number, entry in enumerate(entries)}
    who = {name: number for number, name in enumerate(dict.fromkeys(row.voter for row in rows))}
    names = dict.fromkeys(image for row in rows for image in (row.first_image, row.second_image))
    image = {name: number for number, name in enumerate(names)}
    return VoteTable(
        voter=np.array([who[row.voter] for row in rows], np.int64),
        first=np.array([place[row.first] for row in rows], np.int64),
        second=np.array([place[row.second] for row in rows], np.int64),
        first_image=np.array([image[row.first_image] for row in rows], np.int64),
        second_image=np.array([image[row.second_image] for row in rows], np.int64),
        wins=np.array([WINS[row.outcome] for row in rows], np.float64),
        propensity=np.array([row.propensity for row in rows], np.float64),
        even=np.array([row.even for row in rows], np.bool_),
        is_check=np.array([row.is_check for row in rows], np.bool_),
        seconds=np.array([row.seconds for row in rows], np.float64),
        voters=tuple(who),
        entries=tuple(entries),
        images=tuple(image),
    )


def build_board(table: VoteTable, styles: Mapping[str, Sequence[float]]) -> list[dict[str, Any]]:
    """Return one row per entry; numbers that cannot be computed yet are left out (null)."""
    count, used = len(table.entries), table.counted
    rows = [{"entry": name, "votes": table.outcome_counts(n), **_blank()} for n, name in enumerate(table.entries)]
    if not used.any():
        return rows
    who, first, second, wins = table.voter[used], table.first[used], table.second[used], table.wins[used]
    weighted = weighted_win_rates(who, first, second, wins, table.propensity[used], entries=count)
    plain = styled_ratings(who, first, second, wins, entries=count)
    gaps = style_differences(table, styles)
    styled = styled_ratings(who, first, second, wins, gaps[used], entries=count) if gaps is not None else None
    for number, row in enumerate(rows):
        if row["votes"]:
            row |= {
                "weighted": _number(weighted.rate[number]), "weighted_error": _number(weighted.error[number]),
                "rating": _number(plain.rating[number]), "rating_error": _number(plain.error[number]),
                "styled": _number(styled.rating[number]) if styled else None,
                "styled_error": _number(styled.error[number]) if styled else None,
            }  # fmt: skip
    _add_anytime(rows, table)
    return rows


def _blank() -> dict[str, Any]:
    """What is known of an entry before any vote."""
    names = ("rate", "weighted", "weighted_error", "rating", "rating_error", "styled", "styled_error")
    return {**dict.fromkeys(names), "low": 0.0, "high": 1.0, "voters": 0, "better_than": []}


def _add_anytime(rows: list[dict[str, Any]], table: VoteTable) -> None:
    """Add intervals from voters with complete ballots, in the order in which they completed them."""
    turn = np.zeros(len(table.voter), np.int64)
    votes_so_far = np.zeros(len(table.voters), np.int64)
    completed: list[int] = []
    for place, voter in enumerate(table.voter):
        turn[place] = votes_so_far[voter]
        votes_so_far[voter] += 1
        if votes_so_far[voter] == BALLOT:
            completed.append(int(voter))
    if not completed:
        return
    order = np.full(len(table.voters), -1)
    order[completed] = np.arange(len(completed))
    used = (turn < BALLOT) & (order[table.voter] >= 0) & table.counted & table.even
    if not used.any():
        return
    columns = (order[table.voter][used], table.first[used], table.second[used], table.wins[used])
    fit = anytime_win_rates(even_scores(*columns, np.ones(used.sum()), entries=len(rows)))
    for number, row in enumerate(rows):
        row |= {
            "rate": _number(fit.rate[number]),
            "low": float(fit.low[number]),
            "high": float(fit.high[number]),
            "voters": int(fit.voters[number]),
        }
    if fit.separation is not None:
        for a, b, gap, apart in zip(
            fit.separation.first,
            fit.separation.second,
            fit.separation.difference,
            fit.separation.separated,
            strict=True,
        ):
            if apart:
                better, worse = (a, b) if gap > 0 else (b, a)
                rows[int(better)]["better_than"].append(rows[int(worse)]["entry"])


def style_differences(table: VoteTable, styles: Mapping[str, Sequence[float]]) -> NDArray[np.float64] | None:
    """Differences of the images' style, first less second (votes, covariates); none while some are unknown."""
    if any(name not in styles for name in table.images):
        return None
    image_styles = np.array([styles[name] for name in table.images], np.float64)
    return np.asarray(image_styles[table.first_image] - image_styles[table.second_image], np.float64)


def flag_single_voters(table: VoteTable) -> dict[str, list[str]]:
    """Return the reasons of every voter who stands out by themselves; for the researcher, never for the board."""
    reasons: dict[str, list[str]] = {}
    if len(table.voter) == 0:
        return reasons
    used, identical = table.counted, table.is_check & (table.first == table.second)
    flags = flag_voters(
        table.voter[used],
        table.wins[used],
        table.seconds[used],
        table.voter[identical],
        table.wins[identical] != 0.5,
        voters=len(table.voters),
    )
    flagged_by = {"fast": flags.fast, "one side": flags.sided, "identical pairs": flags.careless}
    for reason, who in flagged_by.items():
        for number in np.flatnonzero(who):
            reasons.setdefault(table.voters[int(number)], []).append(reason)
    return reasons


def own_board(table: VoteTable, voter: str) -> list[dict[str, Any]] | None:
    """Win rates in one voter's own votes, the most preferred first; none before 30 votes."""
    if voter not in table.voters:
        return None
    own = (table.voter == table.voters.index(voter)) & table.counted
    if int(own.sum()) < OWN_VOTES:
        return None
    rows = []
    for number, entry in enumerate(table.entries):
        won = np.concatenate(
            [table.wins[own & (table.first == number)], 1 - table.wins[own & (table.second == number)]]
        )
        if len(won):
            rows.append({"entry": entry, "votes": len(won), "rate": float(won.mean())})
    return sorted(rows, key=lambda row: (-row["rate"], row["entry"]))


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
