"""What the demo prints besides its results: whether the loop recovered the ground truth."""

from pathlib import Path

import click

from beholder.api.demo import check_recovery


def print_verdict(folder: Path) -> None:
    """Print how far order, coverage and screening agree with the ground truth."""
    recovery = check_recovery(folder)
    order, covered = recovery.order, recovery.covered
    if order.total:
        click.echo(
            f"\ntrue order recovered by {order.cases} of {order.total} leaderboards; "
            f"95 % confidence interval contains the ground truth in {covered.cases} of {covered.total} cells"
        )
    for name, excluded in recovery.excluded.items():
        click.echo(f"{name} raters excluded: {excluded.cases} of {excluded.total} sessions")
