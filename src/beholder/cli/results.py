"""What commands print of a study's results: leaderboards, inter-rater agreement, and exclusions with reasons."""

from collections.abc import Iterator
from pathlib import Path

import click

from beholder.api.results import Results, excluded_raters, load_results
from beholder.report.sections.summary import too_few_raters
from beholder.report.tables.leaderboard import format_board
from beholder.report.tables.raters import Agreement, RaterPool
from beholder.report.text.agreement_names import name_statistic
from beholder.report.text.words import count_raters, end_sentence

LISTED = 8
"""Up to so many excluded raters are listed one by one; more are counted by rule."""


def print_results(folder: Path) -> None:
    """Print the leaderboard of every question, inter-rater agreement, and who was excluded and why."""
    results = load_results(folder)
    for caveat in results.caveats():
        click.echo(f"\n{caveat}")
    for sentence in too_few_raters(results.headlines):
        click.echo(f"\n{end_sentence(sentence)}")
    for board in results.headlines:
        click.echo("\n" + format_board(board))
    for question, generators in results.unrated.items():
        click.echo(f"\n{question}: not rated, without answers that count: {', '.join(generators)}")
    for part in (agreement_lines(results), exclusion_lines(results)):
        lines = list(part)
        if lines:
            click.echo("\n" + "\n".join(lines))


def agreement_lines(results: Results) -> Iterator[str]:
    """Yield inter-rater agreement on every aspect, by its first coefficient."""
    rows = [
        (f"{pool.question}: {aspect}" if aspect != pool.question else aspect, measures[0])
        for pool in results.pools
        for aspect, measures in pool.measures
    ]
    if not rows:
        return
    yield "inter-rater agreement"
    names = [name for name, _ in rows]
    statistics = [name_statistic(agreement.statistic) for _, agreement in rows]
    for (name, agreement), statistic in zip(rows, statistics, strict=True):
        yield "  ".join(
            [
                f"  {name.ljust(max(map(len, names)))}",
                statistic.ljust(max(map(len, statistics))),
                _value(agreement),
                f"({count_raters(agreement.raters)}, {agreement.items:,} items)",
            ]
        )


def _value(agreement: Agreement) -> str:
    value, low, high = agreement.after
    if value is None:
        return "not defined: too few answers to the same items"
    interval = "" if low is None or high is None else f" [{low:.2f}, {high:.2f}]"
    return f"{value:.2f}{interval}"


def exclusion_lines(results: Results) -> Iterator[str]:
    """Yield for every question how many raters screening excludes, and why."""
    for pool in results.pools:
        if pool.raters:
            yield from _exclusions(pool, included=results.includes_excluded)


def _exclusions(pool: RaterPool, *, included: bool) -> Iterator[str]:
    excluded = excluded_raters(pool)
    state = "excluded by screening, but included here" if included else "excluded by screening"
    of_all = count_raters(len(pool.raters))
    if not excluded:
        yield f"{pool.question}: none of {of_all} excluded by screening"
        return
    yield f"{pool.question}: {len(excluded):,} of {of_all} {state}"
    if len(excluded) <= LISTED:
        for rater in excluded:
            yield f"  {rater.name}  {'; '.join(rater.reasons) or 'no answers'}"
        return
    for reason in pool.reasons:
        yield f"  {count_raters(reason.raters)}  {reason.rule}, such as: {reason.example}"
