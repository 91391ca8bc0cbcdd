"""What the demo prints: the leaderboards with the ground truth, and whether the loop recovered it."""

from pathlib import Path

import click

from beholder.api.demo import check_recovery, load_leaderboards
from beholder.report.tables.leaderboard import format_board


def print_boards(folder: Path) -> None:
    """Print the leaderboard of every question."""
    for board in load_leaderboards(folder):
        click.echo("\n" + format_board(board))


def print_verdict(folder: Path) -> None:
    """Print how far order, coverage and screening agree with the ground truth."""
    recovery = check_recovery(folder)
    order, covered = recovery.order, recovery.covered
    click.echo(
        f"\ntrue order recovered by {order.cases} of {order.total} leaderboards; "
        f"95 % confidence interval contains the ground truth in {covered.cases} of {covered.total} cells"
    )
    for name, excluded in recovery.excluded.items():
        click.echo(f"{name} raters excluded: {excluded.cases} of {excluded.total} sessions")
