"""``beholder demo``: the whole loop on a made-up world."""

import tempfile
import time
from pathlib import Path

import click

from beholder.cli.progress import progress_bar
from beholder.cli.run import steps
from beholder.cli.verdict import print_boards, print_verdict
from beholder.design.new import make_study
from beholder.errors import StudyError
from beholder.simulate.world import MANIFEST, World, paint_world, write_truth
from beholder.study.study import FILE_NAME, load_study
from beholder.tables.store import TRUTH_ROOM, Store

NAME = "beholder-demo"
TITLE = "Five made-up generators, judged by sixty made-up people"
PROTOCOLS = ("hype-infinity", "hpd-pairs", "mos")
PEOPLE, BAD = 60, 12


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
    _prepare(folder, World(seed=seed))
    for step in steps(folder, people=PEOPLE, bad=BAD):
        click.echo(str(step()))
    print_boards(folder)
    print_verdict(folder)
    click.echo(f"\n{time.monotonic() - began:.0f} s. Open {folder / 'report.html'}")


def _prepare(folder: Path, world: World) -> None:
    """Paint the world and make the study, unless this very one is there."""
    there = (folder / FILE_NAME).is_file()
    if there:
        study = load_study(folder)
        if (study.name, study.seed) != (NAME, world.seed):
            raise StudyError(
                str(folder),
                [f"holds the study '{study.name}' with seed {study.seed}"],
                advice=f"Choose another folder: beholder demo --out OTHER --seed {world.seed}",
            )
    if there and Store(folder, TRUTH_ROOM).has("scores"):
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".beholder-world-", dir=folder.parent) as scratch:
        with progress_bar("painting") as progress:
            painted = paint_world(world, Path(scratch), progress=progress)
        if not there:
            made = make_study(
                PROTOCOLS,
                folder,
                manifest=Path(scratch) / MANIFEST,
                name=NAME,
                title=TITLE,
                seed=world.seed,
                copy=True,
                raters=PEOPLE,
            )
            counts = ", ".join(f"{count} {generator}" for generator, count in made.images.items())
            click.echo(f"new: {sum(made.images.values())} images ({counts})")
        write_truth(Store(folder), world, painted)
