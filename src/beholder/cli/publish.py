"""``beholder publish``: a trained model in the layout in which its kind was published."""

from pathlib import Path

import click

from beholder.cli.output import show_json
from beholder.errors import UserError


@click.command()
@click.argument("model", type=click.Path(path_type=Path, file_okay=False))
@click.argument("out", type=click.Path(path_type=Path, file_okay=False))
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def publish(model: Path, out: Path, *, as_json: bool) -> None:
    """Write a trained model as others' tools read it.

    MODEL is a folder that `beholder learn` wrote, by a recipe of HPS v2, PickScore or ImageReward; OUT a new
    folder. It gets the weights under the names by which these models were published, and what describes them.
    """
    try:
        from beholder.models.preference.publish import publish_model
    except ModuleNotFoundError as error:
        raise UserError(f'publishing needs {error.name}: pip install "beholder[models]"') from error
    files = publish_model(model, out)
    if as_json:
        show_json({"files": [str(file) for file in files]})
        return
    for file in files:
        click.echo(str(file))
