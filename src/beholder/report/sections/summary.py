"""The findings of the study, in sentences derived from the boards."""

from collections.abc import Sequence
from itertools import groupby

from beholder.report.tables.leaderboard import ALL_IMAGES, Board, Pair
from beholder.report.tables.raters import RaterPool
from beholder.report.text.words import all_of, count_raters, end_sentence, join_names, percent, spell_out
from beholder.stats.intervals.clustered_t import FEWEST_RATERS
from beholder.stats.significance.separation import VERDICT_RATERS

MANY_RATERS = 1000
"""From here on the raters still needed are too many for their number to matter."""

NO_LEADER = "no generator is certain to rank first"
OPEN_LEAD = "first place is undecided"

NAMED = 3
"""Up to this many generators, or undecided pairs, are named; more are counted."""


def write_findings(
    leading: Sequence[Board], every: Sequence[Board], pools: Sequence[RaterPool] = ()
) -> tuple[str, ...]:
    """The findings, the most important first. ``leading`` are the headline boards, ``every`` all boards."""
    rated = [board for board in leading if board.rows]
    lines = ["No generator has been rated yet"]
    if rated:
        tested = [board for board in rated if not board.untested]
        lines = [*too_few_raters(rated), *_first(rated), *_separated(tested), *_undecided(tested), *_fooled(every)]
    lines += [*_excluded(pools), *_covered(rated)]
    return tuple(end_sentence(line) for line in lines)


def too_few_raters(boards: Sequence[Board]) -> list[str]:
    """Say that there are too few raters for a verdict, and what is missing; nothing where there are enough."""
    lines = []
    for board in boards:
        if len(board.rows) < 2 or board.measure.resampled != "raters" or board.fewest_raters >= VERDICT_RATERS:
            continue
        where = f" by {_names([board], boards)}" if len(boards) > 1 else ""
        number = count_raters(board.fewest_raters)
        if board.untested:
            lines.append(
                f"With {number} the study is too small for confidence intervals, which take "
                f"{FEWEST_RATERS}, and for a verdict, which takes {VERDICT_RATERS}{where}: only estimates and "
                "counts are given"
            )
        else:
            lines.append(
                f"With {number} the study is too small for a verdict{where}, which takes "
                f"{VERDICT_RATERS}: what follows may change with the next rater"
            )
    return list(dict.fromkeys(lines))


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
        line = _lead(leaders, f"by {all_of(len(led), 'measure')}" if len(led) > 1 else "")
    else:
        line = "; ".join(_lead(leaders, f"by {_names(led, boards)}") for leaders, led in groups.items())
    return [_capitalised(line) if line.startswith((NO_LEADER, OPEN_LEAD)) else line]


def _lead(leaders: tuple[str, ...], where: str) -> str:
    if not leaders:
        words = NO_LEADER
    elif len(leaders) == 1:
        words = f"{leaders[0]} ranks first"
    elif len(leaders) <= NAMED:
        words = f"{OPEN_LEAD} between {join_names(leaders)}"
    else:
        words = f"{OPEN_LEAD} between {spell_out(len(leaders))} generators"
    return f"{words} {where}".rstrip()


def _separated(boards: Sequence[Board]) -> list[str]:
    """How many pairs differ significantly, by which measures."""
    compared = [board for board in boards if board.pairs]
    if not compared:
        return []
    if all(len(board.pairs) == 1 for board in compared):
        return _two_generators(compared)

    def tally(board: Board) -> tuple[int, int]:
        return len(board.pairs) - len(board.undecided), len(board.pairs)

    in_order = sorted(compared, key=lambda board: (-tally(board)[0] / tally(board)[1], -tally(board)[1]))
    groups = [(key, list(group)) for key, group in groupby(in_order, key=tally)]
    ((separated, total), led), *rest = groups
    verb = "differs" if separated == 1 else "differ"
    first = f"{_of_pairs(separated, total)} pairs of generators {verb} significantly"
    if not rest:
        return [_capitalised(first + (f" by {all_of(len(led), 'measure')}" if len(led) > 1 else ""))]
    clauses = [f"{first} by {_names(led, boards)}"]
    clauses += [f"{_of_pairs(separated, total)} by {_names(led, boards)}" for (separated, total), led in rest]
    return [_capitalised(f"{', '.join(clauses[:-1])}, and {clauses[-1]}")]


def _two_generators(boards: Sequence[Board]) -> list[str]:
    """The same where there are only two generators; nothing where they differ by no measure, which comes next."""
    yes, no = [b for b in boards if not b.undecided], [b for b in boards if b.undecided]
    if yes and no:
        return [f"The two generators differ significantly by {_names(yes, boards)}"]
    where = f" by {all_of(len(yes), 'measure')}" if len(yes) > 1 else ""
    return [f"The two generators differ significantly{where}"] if yes else []


def _of_pairs(separated: int, total: int) -> str:
    """``all 10``, ``9 of 10``, ``none of the 10``."""
    if separated == total:
        return f"all {total:,}"
    return f"{separated:,} of {total:,}" if separated else f"none of the {total:,}"


def _undecided(boards: Sequence[Board]) -> list[str]:
    """Which pairs are not significantly different, and how many more raters would separate them."""
    lines = []
    for board in boards:
        pairs = board.undecided
        if not pairs:
            continue
        where = f"By {_names([board], boards)}, " if len(boards) > 1 else ""
        if len(pairs) > NAMED:
            closest = pairs[0]
            line = (
                f"{where}there is not enough evidence to separate {len(pairs):,} pairs yet; the closest to it are "
            )
            line += f"{closest.generator} and {closest.other}: {_needed(closest, board)}"
            lines.append(_capitalised(line))
            continue
        clauses = [
            f"{pair.generator} and {pair.other}: not enough evidence to separate them yet; {_needed(pair, board)}"
            for pair in pairs
        ]
        lines.append(where + ". ".join(clauses))
    return lines


def _needed(pair: Pair, board: Board) -> str:
    if board.measure.resampled != "raters":
        return f"it takes more {board.measure.resampled}"
    if pair.more_raters is None:
        return "the observed difference is zero"
    if pair.more_raters >= MANY_RATERS:
        return f"more than {MANY_RATERS:,} more raters"
    return f"about {count_raters(pair.more_raters).replace(' ', ' more ', 1)}"


def _fooled(every: Sequence[Board]) -> list[str]:
    """How often the images of the most realistic generator pass for real."""
    lines = []
    for board in every:
        if board.method != "fake-error-rate" or board.slice != ALL_IMAGES or not board.rows:
            continue
        best, worst = board.rows[0], board.rows[-1]
        line = f"{percent(best.rating)} of the images of {best.generator} pass for real"
        if worst is not best:
            line += f", and {percent(worst.rating)} of those of {worst.generator}"
        lines.append(_capitalised(line))
    return lines


def _excluded(pools: Sequence[RaterPool]) -> list[str]:
    """How many raters were excluded, question by question."""
    answered = [pool for pool in pools if pool.raters]
    if not answered:
        return []
    if any(pool.included for pool in answered):
        clauses = [
            f"{pool.included:,} of {count_raters(len(pool.raters))} for {pool.question}" for pool in answered
        ]
        return [f"Screening excludes {join_names(clauses)}, and their answers are included all the same"]
    if not any(pool.excluded for pool in answered):
        return ["No rater was excluded"]
    if len(answered) == 1:
        (pool,) = answered
        verb = "was" if pool.excluded == 1 else "were"
        return [f"{pool.excluded:,} of {count_raters(len(pool.raters))} {verb} excluded"]
    first, *rest = answered
    clauses = [f"{first.excluded:,} of {count_raters(len(first.raters))} for {first.question}"]
    clauses += [f"{pool.excluded:,} of {len(pool.raters):,} for {pool.question}" for pool in rest]
    return [f"Screening excluded {join_names(clauses)}"]


def _covered(boards: Sequence[Board]) -> list[str]:
    """How many confidence intervals contain the ground truth."""
    covered = [row.covered for board in boards for row in board.rows if row.covered is not None]
    if not covered:
        return []
    inside, total = sum(covered), len(covered)
    if total == 1:
        verdict = f"the confidence interval {'contains' if inside else 'does not contain'} it"
    else:
        verdict = (
            f"{inside:,} of {total:,} confidence intervals contain it, where {percent(boards[0].level)} should"
        )
    return [
        "The ground truth, the rating by infinitely many honest raters, is known here because the raters are "
        f"simulated: {verdict}"
    ]


def _capitalised(line: str) -> str:
    return line[0].upper() + line[1:]


def _names(boards: Sequence[Board], among: Sequence[Board]) -> str:
    """The boards by their aspects; by question and aspect where two questions have the same aspect."""
    aspects = [board.aspect for board in among]
    return join_names([board.aspect if aspects.count(board.aspect) == 1 else board.name for board in boards])
