"""What the study found, in sentences that follow from the boards: no sentence is written beforehand."""

from collections.abc import Sequence
from itertools import groupby

from beholder.report.tables.leaderboard import WHOLE, Board, Pair
from beholder.report.tables.raters import Crowd
from beholder.report.text.words import all_of, listed, people, percent, sentence, spelled

MANY_PEOPLE = 1000
"""From here on the people still needed are too many for their number to matter."""

NAMED = 3
"""So many generators, or undecided pairs, are named; beyond that they are counted."""


def findings(leading: Sequence[Board], every: Sequence[Board], crowds: Sequence[Crowd] = ()) -> tuple[str, ...]:
    """The findings, the most important first. ``leading`` are the headline boards, ``every`` all of them."""
    told = [board for board in leading if board.rows]
    lines = ["No generator has been rated yet"]
    if told:
        lines = [*_first(told), *_apart(told), *_undecided(told), *_fooled(every)]
    lines += [*_screened(crowds), *_recovered(told)]
    return tuple(sentence(line) for line in lines)


def _first(boards: Sequence[Board]) -> list[str]:
    """Who ranks first, by which measures."""
    compared = [board for board in boards if len(board.rows) > 1]
    if not compared:
        judged = {row.generator for board in boards for row in board.rows}
        if len(judged) > 1:
            return ["Each question judged one generator only, so there is nothing to compare"]
        return [f"Only {judged.pop()} was judged, so there is nothing to compare it with"]
    groups: dict[tuple[str, ...], list[Board]] = {}
    for board in compared:
        groups.setdefault(board.leaders, []).append(board)
    if len(groups) == 1:
        (leaders, led) = next(iter(groups.items()))
        return [_lead(leaders, f"by {all_of(len(led), 'measure')}" if len(led) > 1 else "")]
    return ["; ".join(_lead(leaders, f"by {_names(led, boards)}") for leaders, led in groups.items())]


def _lead(leaders: tuple[str, ...], where: str) -> str:
    if not leaders:
        words = "no generator is sure of the first place"
    elif len(leaders) == 1:
        words = f"{leaders[0]} ranks first"
    elif len(leaders) <= NAMED:
        words = f"{listed(leaders)} share the first place"
    else:
        words = f"{spelled(len(leaders))} generators share the first place"
    return f"{words} {where}".rstrip()


def _apart(boards: Sequence[Board]) -> list[str]:
    """How many pairs people told apart, by which measures."""
    compared = [board for board in boards if board.pairs]
    if not compared:
        return []
    if all(len(board.pairs) == 1 for board in compared):
        return [_two_apart(compared)]

    def share(board: Board) -> tuple[int, int]:
        return len(board.pairs) - len(board.undecided), len(board.pairs)

    in_order = sorted(compared, key=lambda board: (-share(board)[0] / share(board)[1], -share(board)[1]))
    groups = [(key, list(group)) for key, group in groupby(in_order, key=share)]
    if len(groups) == 1:
        ((apart, total), led) = groups[0]
        where = f" by {all_of(len(led), 'measure')}" if len(led) > 1 else ""
        return [f"People told {_of_pairs(apart, total)} pairs of generators apart{where}"]
    ((apart, total), led), *rest = groups
    clauses = [f"{_of_pairs(apart, total)} pairs of generators apart by {_names(led, boards)}"]
    clauses += [f"{_of_pairs(apart, total)} by {_names(led, boards)}" for (apart, total), led in rest]
    return [f"People told {', '.join(clauses[:-1])}, and {clauses[-1]}"]


def _two_apart(boards: Sequence[Board]) -> str:
    """The same where there are only two generators."""
    yes, no = [b for b in boards if not b.undecided], [b for b in boards if b.undecided]
    if yes and no:
        return f"People told the two generators apart by {_names(yes, boards)}, but not by {_names(no, boards)}"
    if no:
        where = " by any measure" if len(no) > 1 else ""
        return f"People could not tell the two generators apart{where}"
    where = f" by {all_of(len(yes), 'measure')}" if len(yes) > 1 else ""
    return f"People told the two generators apart{where}"


def _of_pairs(apart: int, total: int) -> str:
    """``all 10``, ``9 of 10``, ``none of the 10``."""
    if apart == total:
        return f"all {total:,}"
    return f"{apart:,} of {total:,}" if apart else f"none of the {total:,}"


def _undecided(boards: Sequence[Board]) -> list[str]:
    """Which pairs are not told apart, and how many more people would do it."""
    lines = []
    for board in boards:
        pairs = board.undecided
        if not pairs:
            continue
        where = f"By {_names([board], boards)}, " if len(boards) > 1 else ""
        if len(pairs) > NAMED:
            closest = pairs[0]
            lines.append(
                f"{where}{len(pairs):,} pairs cannot be told apart; the nearest to it are "
                f"{closest.one} and {closest.other}: {_needed(closest, board)}"
            )
            continue
        clauses = [f"{p.one} and {p.other} cannot be told apart: {_needed(p, board)}" for p in pairs]
        lines.append(where + "; ".join(clauses))
    return lines


def _needed(pair: Pair, board: Board) -> str:
    if board.measure.resampled != "people":
        return f"it would take more {board.measure.resampled}"
    if pair.more_people is None:
        return "no difference was seen between them"
    if pair.more_people >= MANY_PEOPLE:
        return f"it would take more than {MANY_PEOPLE:,} more people"
    return f"about {people(pair.more_people).replace(' ', ' more ', 1)} would probably do it"


def _fooled(every: Sequence[Board]) -> list[str]:
    """How often the images of the most realistic generator pass for real."""
    lines = []
    for board in every:
        if board.method != "fake-error-rate" or board.slice != WHOLE or not board.rows:
            continue
        best, worst = board.rows[0], board.rows[-1]
        line = f"{percent(best.rating)} of the images of {best.generator} pass for real"
        if worst is not best:
            line += f", and {percent(worst.rating)} of those of {worst.generator}"
        lines.append(line[0].upper() + line[1:])
    return lines


def _screened(crowds: Sequence[Crowd]) -> list[str]:
    """How many people were set aside, question by question."""
    answered = [crowd for crowd in crowds if crowd.members]
    if not answered:
        return []
    if not any(crowd.set_aside for crowd in answered):
        return ["Nobody was set aside"]
    if len(answered) == 1:
        (crowd,) = answered
        verb = "was" if crowd.set_aside == 1 else "were"
        return [f"{crowd.set_aside:,} of {people(len(crowd.members))} {verb} set aside"]
    first, *rest = answered
    clauses = [f"{first.set_aside:,} of {people(len(first.members))} for {first.question}"]
    clauses += [f"{crowd.set_aside:,} of {len(crowd.members):,} for {crowd.question}" for crowd in rest]
    return [f"Screening set aside {listed(clauses)}"]


def _recovered(boards: Sequence[Board]) -> list[str]:
    """How many intervals hold the planted value."""
    known = [row.covered for board in boards for row in board.rows if row.covered is not None]
    if not known:
        return []
    held, total = sum(known), len(known)
    if total == 1:
        verdict = f"the interval {'holds' if held else 'does not hold'} it"
    else:
        verdict = f"{held:,} of {total:,} intervals hold it, where {percent(boards[0].level)} should"
    return [
        f"What endlessly many honest people would say is known here, because the people are simulated: {verdict}"
    ]


def _names(boards: Sequence[Board], among: Sequence[Board]) -> str:
    """The boards by their aspects; where two questions ask for one aspect, by both."""
    aspects = [board.aspect for board in among]
    return listed([board.aspect if aspects.count(board.aspect) == 1 else board.name for board in boards])
