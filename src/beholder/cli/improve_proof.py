"""``beholder improve proof``: ask raters, blind, whether images are better."""

from pathlib import Path

import click

from beholder.cli.improve_options import folder_argument, json_option, show_proof


@click.command()
@folder_argument
@click.option("--name", required=True, metavar="NAME", help="The improvement.")
@click.option("--simulate", is_flag=True, help="Let simulated raters answer: they see ground truth.")
@click.option("--pairs", type=click.IntRange(min=5), help="Ask about so many prompts; scores tell of the others.")
@click.option("--raters", type=click.IntRange(min=1), help="How many. [default: as many as the plan needs]")
@click.option(
    "--difference",
    type=click.FloatRange(0.01, 0.49),
    default=0.1,
    show_default=True,
    help="For the plan: a preference of 50 % plus this is worth detecting.",
)
@json_option
def proof(
    folder: Path,
    name: str,
    pairs: int | None,
    raters: int | None,
    difference: float,
    *,
    simulate: bool,
    as_json: bool,
) -> None:
    """Ask raters, blind, whether images are better than before.

    Makes a study of pairs, one per prompt, with five answers: much better, better, about the same, worse, much
    worse. `beholder collect` asks people; then this command, called again, prints the net preference with its
    confidence interval over raters and prompts and, where more prompts were scored than judged, the
    prediction-powered one.
    """
    from beholder.api.improving.page import write_improvement_page
    from beholder.api.improving.proof import prove
    from beholder.cli.output import show_json
    from beholder.cli.progress import progress_report
    from beholder.improve.improvement import Improvement

    with progress_report("proof") as progress:
        outcome = prove(
            folder,
            name,
            simulate=simulate,
            pairs=pairs,
            raters=raters,
            difference=difference,
            progress=progress,
        )
    if outcome.rows:
        write_improvement_page(Improvement(folder, name))
    if as_json:
        content = {"study": str(outcome.study), "pairs": outcome.pairs, "raters": outcome.raters}
        show_json(content | {"proofs": list(outcome.rows)})
        return
    if not outcome.rows:
        click.echo(
            f"proof: {outcome.pairs} pairs for {outcome.raters} raters, who judge {outcome.trials} each, blind\n"
            f"Next: beholder collect {outcome.study}, and then this command again"
        )
        return
    show_proof(outcome.rows)
    click.echo(f"Open {folder / 'improvements' / name / 'improvement.html'}")
