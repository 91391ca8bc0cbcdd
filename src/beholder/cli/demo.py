"""``beholder demo``: the loop on a synthetic world."""

import time
from dataclasses import asdict
from pathlib import Path

import click

from beholder.api.demo import DEMO, FEEDBACK_DEMO, DemoStudy, check_recovery, prepare_demo
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
    help="Where it is kept. [default: demo-study, demo-feedback or demo-benchmark]",
)
@click.option("--feedback", is_flag=True, help="Raters mark what is wrong: to train a scorer, and improve.")
@click.option("--benchmark", "benchmarking", is_flag=True, help="A benchmark instead, from prompts to board.")
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Another world and other raters."
)
@click.option("--json", "as_json", is_flag=True, help="Print what was done, and the numbers, as JSON.")
@click.option("--serve", "serving", is_flag=True, help="Show the researcher's pages, full of simulated data.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="For --serve.")
def demo(
    folder: Path | None,
    seed: int,
    port: int,
    *,
    feedback: bool,
    benchmarking: bool,
    as_json: bool,
    serving: bool,
) -> None:
    """Run the loop on a synthetic world, and compare with its ground truth.

    Five generators of known quality paint the same prompts; sixty simulated raters, twelve of them bad, answer by
    three protocols; their answers are screened, consolidated, ranked and reported, and the leaderboard is printed
    with the ground truth. Everything is kept in the folder given by --out.

    With --feedback, forty raters mark what is wrong with the images of 200 prompts: enough to train a scorer by
    `beholder learn`, and to go round the whole loop by `beholder improve`.

    With --benchmark, the five generators paint 200 curated prompts; thirty simulated raters and three scorers, one
    of them trained on the raters' answers, judge the images; and all goes on a board, as by `beholder bench`.
    """
    started = time.monotonic()
    if benchmarking:
        if serving or feedback:
            option = "--serve" if serving else "--feedback"
            raise click.UsageError(f"{option} is of the study of raters; leave it out with --benchmark")
        _run_benchmark(folder or Path("demo-benchmark"), seed, as_json=as_json)
        if not as_json:
            click.echo(f"{time.monotonic() - started:.0f} s")
        return
    study = FEEDBACK_DEMO if feedback else DEMO
    folder = folder or Path(study.folder)
    with progress_bar("painting") as progress:
        images = prepare_demo(folder, World(prompts=study.prompts, seed=seed), progress, study)
    if images is not None and not as_json:
        counts = ", ".join(f"{count} {generator}" for generator, count in images.items())
        click.echo(f"new: {sum(images.values())} images ({counts})")
    outcome = run_study(
        folder,
        raters=study.raters,
        bad=study.bad,
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
    if feedback:
        click.echo(f"Next: beholder learn {folder} --recipe tiny-rich-cnn --set training.epochs=12")
    if serving:
        _serve(folder.resolve(), port, study)


def _run_benchmark(folder: Path, seed: int, *, as_json: bool) -> None:
    """Write the sources of the demo benchmark, and run it."""
    from beholder.api.benchmark.demo import DemoBenchmark, prepare_demo_benchmark
    from beholder.cli.bench import run_bench

    demo_benchmark = DemoBenchmark(seed=seed)
    prepare_demo_benchmark(folder, demo_benchmark)
    run_bench(folder, demo_benchmark.raters, demo_benchmark.bad, as_json=as_json)


def _serve(folder: Path, port: int, study: DemoStudy) -> None:
    """Show the simulated raters on the researcher's pages, from a database of their own."""
    from beholder.collect.server.serve import serve
    from beholder.collect.simulate.rehearsal import restored_rehearsal

    url = restored_rehearsal(folder, raters=study.raters, bad=study.bad)
    serve(folder, url, host="127.0.0.1", port=port, processes=1, say=click.echo, rehearsal=True)
