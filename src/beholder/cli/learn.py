"""``beholder learn``: train a model on a study's labels, and evaluate it."""

import logging
import os
from contextlib import nullcontext
from pathlib import Path

import click

from beholder.api.learning import check_training, split_changes, train_model
from beholder.api.results import load_results
from beholder.api.rounds.training_rounds import ALL as ALL_ROUNDS
from beholder.cli.output import show_json, show_table
from beholder.cli.progress import progress_bar
from beholder.errors import RecipeError
from beholder.learn.recipe import TRACKERS, faults_of_division, load_recipe, shipped_recipes
from beholder.learn.rounds.words import describe_change, round_table
from beholder.tables.store import Store


@click.command(epilog=f"Recipes: {', '.join(shipped_recipes())}.")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--recipe", "recipe_name", required=True, help="Name of a recipe, or a TOML file of your own.")
@click.option("--name", help="Of the model: its folder below models/. The recipe's name by default.")
@click.option(
    "--split",
    "by",
    type=click.Choice(["prompt", "generator", "both"]),
    help="What is never shared between training, validation and test.",
)
@click.option("--folds", type=click.IntRange(min=1), help="Parts that are held out in turn; 1: one split.")
@click.option(
    "--set", "changes", multiple=True, metavar="KEY=VALUE", help="A setting, such as training.steps=500."
)
@click.option(
    "--tracker",
    "trackers",
    multiple=True,
    type=click.Choice([*TRACKERS, "all"]),
    help="Log the training there as well, by your own login; may be repeated.",
)
@click.option(
    "--test-on",
    multiple=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Another study with labels, on which the model is tested as well; may be repeated.",
)
@click.option(
    "--transfer",
    is_flag=True,
    help="Train models without each generator in turn as well, for the rows of unseen generators on the card.",
)
@click.option(
    "--rounds",
    is_flag=False,
    flag_value=ALL_ROUNDS,
    metavar="[ROUNDS]",
    help="Train on verified claims of adversarial rounds as well: of all, or of some, such as 1-3.",
)
@click.option(
    "--processes",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Processes that train together, on this machine: one for each GPU, or some for the cores.",
)
@click.option("--resume", is_flag=True, help="Continue training that was interrupted.")
@click.option("--force", is_flag=True, help="Start again, even if it was done or started.")
@click.option("--json", "as_json", is_flag=True, help="Print what was done and found as JSON.")
def learn(
    folder: Path,
    recipe_name: str,
    name: str | None,
    by: str | None,
    folds: int | None,
    changes: tuple[str, ...],
    trackers: tuple[str, ...],
    test_on: tuple[Path, ...],
    rounds: str | None,
    processes: int,
    *,
    transfer: bool,
    resume: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Train a model to predict raters' judgements, and test it.

    Reads the labels and images of FOLDER, trains by a recipe, and tests on images whose prompts (or generators)
    were held out. Writes models/NAME with its card, and the tables `training`, `predictions` (of held-out
    images) and `label_errors`. Several machines: torchrun -m beholder learn ….

    With --rounds, verified claims of FOLDER/rounds are trained on beside the labels, those of held-out attackers
    are tested on, and the table `rounds` has both errors of every model.
    """
    recipe = load_recipe(recipe_name, [*changes, *split_changes(by, folds, trackers)])
    if processes > 1 and "RANK" not in os.environ:
        if faults := faults_of_division(recipe.training, processes):
            raise RecipeError(f"recipe '{recipe_name}' in {processes} processes", faults)
        check_training(folder, recipe)
        from beholder.learn.processes.launch import run_in_processes  # late: it needs torch

        raise SystemExit(run_in_processes(_arguments(click.get_current_context()), processes))
    logging.basicConfig(level=logging.WARNING, format="note: %(message)s")
    is_main = os.environ.get("RANK", "0") == "0"
    with progress_bar("steps") if is_main else nullcontext() as progress:
        outcome = train_model(
            folder,
            recipe,
            name=name,
            force=force,
            resume=resume,
            test_on=test_on,
            transfer=transfer,
            rounds=rounds,
            progress=progress,
        )
    if not is_main:
        return
    models = Store(folder).read_or_empty("rounds") if rounds is not None else None
    caveats = load_results(folder).caveats("model")
    if as_json:
        from beholder.learn.job import as_json as figure_as_json  # late: it needs torch

        figures = [figure_as_json(figure) for figure in outcome.figures]
        content = {"skipped": outcome.skipped, "model": str(outcome.folder), "figures": figures}
        content |= {} if models is None else {"rounds": models.to_dicts()}
        show_json(content | {"caveats": caveats})
        return
    from beholder.learn.card import figure_table  # late: it needs safetensors

    click.echo("\n\n".join([str(outcome), *caveats]) + "\n")
    show_table(*figure_table(outcome.figures))
    if models is not None:
        click.echo("")
        show_table(*round_table(models))
        own = [row for row in models.to_dicts() if row["model"] == outcome.folder.name]
        click.echo("".join(f"\n{describe_change(row)}" for row in own))
    click.echo(f"\nThe model and its card: {outcome.folder}")


def _arguments(context: click.Context) -> list[str]:
    """Return the arguments that this command was called with."""
    words = [str(context.info_name)]
    for parameter in context.command.params:
        content = context.params[str(parameter.name)]
        if isinstance(parameter, click.Argument):
            words.append(str(content))
        elif isinstance(content, bool):
            words += parameter.opts[:1] if content else []
        else:
            values = content if isinstance(content, tuple) else () if content is None else (content,)
            words += [word for value in values for word in (parameter.opts[0], str(value))]
    return words
