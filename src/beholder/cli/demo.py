"""``beholder demo``: the loop on a synthetic world."""

import time
from dataclasses import asdict
from pathlib import Path

import click

from beholder.api.demo import BAD_RATERS, RATERS, check_recovery, prepare_demo
from beholder.api.results import load_results, plain_results
from beholder.api.run import run_study
from beholder.cli.output import show_json
from beholder.cli.progress import progress_bar, progress_report
from beholder.cli.results import print_results
from beholder.cli.verdict import print_verdict
from beholder.simulate.world import World


@click.command()
@click.option(
    "--out",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where it is kept. [default: demo-study, or demo-benchmark]",
)
@click.option("--benchmark", "benchmarking", is_flag=True, help="A benchmark instead, from prompts to board.")
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Another world and other raters."
)
@click.option("--json", "as_json", is_flag=True, help="Print what was done, and the numbers, as JSON.")
@click.option("--serve", "serving", is_flag=True, help="Show the researcher's pages, full of simulated data.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="For --serve.")
def demo(folder: Path | None, seed: int, port: int, *, benchmarking: bool, as_json: bool, serving: bool) -> None:
    """Run the loop on a synthetic world, and compare with its ground truth.

    Five generators of known quality paint the same prompts; sixty simulated raters, twelve of them bad, answer by
    three protocols; their answers are screened, consolidated, ranked and reported, and the leaderboard is printed
    with the ground truth. Everything is kept in the folder given by --out.

    With --benchmark, the five generators paint 200 curated prompts; thirty simulated raters and three scorers, one
    of them trained on the raters' answers, judge the images; and all goes on a board, as by `beholder bench`.
    """
    started = time.monotonic()
    if benchmarking:
        if serving:
            raise click.UsageError("--serve shows the raters of the study; leave it out with --benchmark")
        _run_benchmark(folder or Path("demo-benchmark"), seed, as_json=as_json)
        if not as_json:
            click.echo(f"{time.monotonic() - started:.0f} s")
        return
    folder = folder or Path("demo-study")
    with progress_bar("painting") as progress:
        images = prepare_demo(folder, World(seed=seed), progress)
    if images is not None and not as_json:
        counts = ", ".join(f"{count} {generator}" for generator, count in images.items())
        click.echo(f"new: {sum(images.values())} images ({counts})")
    outcome = run_study(
        folder,
        raters=RATERS,
        bad=BAD_RATERS,
        bar=progress_report,
        after=None if as_json else lambda stage: click.echo(str(stage)),
    )
    if as_json:
        content = {"stages": [asdict(stage) for stage in outcome.stages], "report": str(outcome.report)}
        show_json(content | plain_results(load_results(folder)) | {"recovery": asdict(check_recovery(folder))})
        return
    print_results(folder)
    print_verdict(folder)
    click.echo(f"\n{time.monotonic() - started:.0f} s. Open {outcome.report}")
    if serving:
        _serve(folder.resolve(), port)


def _run_benchmark(folder: Path, seed: int, *, as_json: bool) -> None:
    """Write the sources of the demo benchmark, and run it."""
    from beholder.api.benchmark.demo import DemoBenchmark, prepare_demo_benchmark
    from beholder.cli.bench import run_bench

    demo_benchmark = DemoBenchmark(seed=seed)
    prepare_demo_benchmark(folder, demo_benchmark)
    run_bench(folder, demo_benchmark.raters, demo_benchmark.bad, as_json=as_json)


def _serve(folder: Path, port: int) -> None:
    """Show the simulated raters on the researcher's pages, from a database of their own."""
    from beholder.collect.server.serve import serve
    from beholder.collect.simulate.rehearsal import restored_rehearsal

    url = restored_rehearsal(folder, raters=RATERS, bad=BAD_RATERS)
    serve(folder, url, host="127.0.0.1", port=port, processes=1, say=click.echo, rehearsal=True)
