"""What the demo prints: the leaderboards beside the ground truth, and whether the loop recovered it."""

from pathlib import Path

import click

from beholder.api.demo import leaderboards, recovered
from beholder.report.tables.leaderboard import format_board


def print_boards(folder: Path) -> None:
    """The leaderboard of every question."""
    for board in leaderboards(folder):
        click.echo("\n" + format_board(board))


def print_verdict(folder: Path) -> None:
    """Order, coverage and screening against what was planted."""
    verdict = recovered(folder)
    click.echo(
        f"\nplanted order recovered by {verdict.order.of_these} of {verdict.order.all} leaderboards; "
        f"planted value within the 95 % interval in {verdict.covered.of_these} of {verdict.covered.all} cells"
    )
    for name, excluded in verdict.excluded.items():
        click.echo(f"{name} people set aside: {excluded.of_these} of {excluded.all} sessions")
