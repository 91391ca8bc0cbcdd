"""``beholder demo``: the whole loop on a made-up world."""

import time
from pathlib import Path

import click

from beholder.api.demo import BAD_PEOPLE, PEOPLE, prepare_demo
from beholder.api.run import steps
from beholder.cli.progress import progress_bar
from beholder.cli.verdict import print_boards, print_verdict
from beholder.simulate.world import World


@click.command()
@click.option("--out", "folder", type=click.Path(path_type=Path, file_okay=False), default=Path("demo-study"))
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Another world and crowd.")
def demo(folder: Path, seed: int) -> None:
    """Run the whole loop on a made-up world, and compare with its truth.

    Five generators of known quality paint the same prompts; sixty people, twelve of them bad, answer by three
    protocols; their answers are screened, consolidated, ranked and reported, and the leaderboard is printed beside
    the planted truth. Everything is kept in the folder given by --out.
    """
    began = time.monotonic()
    with progress_bar("painting") as progress:
        images = prepare_demo(folder, World(seed=seed), progress)
    if images is not None:
        counts = ", ".join(f"{count} {generator}" for generator, count in images.items())
        click.echo(f"new: {sum(images.values())} images ({counts})")
    for step in steps(folder, people=PEOPLE, bad=BAD_PEOPLE):
        click.echo(str(step()))
    print_boards(folder)
    print_verdict(folder)
    click.echo(f"\n{time.monotonic() - began:.0f} s. Open {folder / 'report.html'}")
