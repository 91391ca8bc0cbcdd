"""``beholder panel open, close, publish, links, account, serve``: one server for a panel's studies."""

import functools
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from beholder.cli.options import database_url, operation_options
from beholder.cli.output import show_json
from beholder.cli.panel import database_option, folder_argument, json_option, opened, say
from beholder.collect.panel.logins import make_links, replace_link
from beholder.collect.panel.opening import close_study, open_study, publish_results
from beholder.collect.researcher.accounts import ROLES, add_account
from beholder.collect.researcher.passwords import new_password
from beholder.errors import StudyError
from beholder.study.study import load_study
from beholder.study.wages import LOW_PAY_ADVICE, describe_pay, low_pay_faults

if TYPE_CHECKING:
    from beholder.collect.server.operation import Operation


@click.command("open")
@folder_argument
@click.argument("study", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.option("--researcher", required=True, metavar="NAME", help="Who runs the study; raters rate them by it.")
@click.option("--prototype", is_flag=True, help="Open a prototype round of it instead.")
@click.option("--accept-low-pay", is_flag=True, help="Pay less than the study's minimum_hourly all the same.")
@database_option
@json_option
def open_command(
    folder: Path,
    study: Path,
    researcher: str,
    database: str | None,
    *,
    prototype: bool,
    accept_low_pay: bool,
    as_json: bool,
) -> None:
    """Open a study to the raters of the panel.

    Raters whom the researcher rated best may begin first, five minutes later those with ordinary ratings, then
    newcomers. `beholder panel serve` serves it; a server that runs begins to within seconds.
    """
    from beholder.collect.prototype.gate import require_published
    from beholder.collect.prototype.rounds import new_round

    settings = load_study(study)
    faults = low_pay_faults(settings)
    if faults and not accept_low_pay:
        raise StudyError(str(study), faults, advice=LOW_PAY_ADVICE)
    if prototype:
        study = new_round(study)
        settings = load_study(study)
    else:
        require_published(study)
    with opened(folder, database) as panel_database, panel_database.writing() as connection:
        name = open_study(connection, study, researcher=researcher, now=time.time())
    pay = "; ".join(describe_pay(settings, question) for question in settings.questions)
    sentence = f"{name}: open ({pay})\nNext: beholder panel serve {folder}"
    say(sentence, as_json=as_json, study=name, folder=str(study))


@click.command("close")
@folder_argument
@click.argument("study")
@database_option
@json_option
def close_command(folder: Path, study: str, database: str | None, *, as_json: bool) -> None:
    """Close a study: nobody new begins, and raters see their accuracy."""
    with opened(folder, database) as panel_database, panel_database.writing() as connection:
        close_study(connection, study, now=time.time())
    say(f"{study}: closed", as_json=as_json, study=study, closed=True)


@click.command("publish")
@folder_argument
@click.argument("study")
@click.option("--text", required=True, help="A few sentences for raters: what came of the study.")
@click.option("--link", default="", metavar="URL", help="To the report.")
@database_option
@json_option
def publish_command(
    folder: Path, study: str, text: str, link: str, database: str | None, *, as_json: bool
) -> None:
    """Tell raters on their own pages what came of a study."""
    with opened(folder, database) as panel_database, panel_database.writing() as connection:
        publish_results(connection, study, text, link, now=time.time())
    say(f"{study}: results published", as_json=as_json, study=study, published=True)


@click.command("links")
@folder_argument
@click.option("--new", "count", type=click.IntRange(1, 10_000), metavar="N", help="For so many new raters.")
@click.option("--rater", metavar="RATER", help="A new link for this rater; the old one and all cookies end.")
@click.option("--note", default="", help="For whom; it is kept with the links.")
@click.option("--address", default="http://127.0.0.1:8000", show_default=True, help="Of the server.")
@database_option
@json_option
def links_command(
    folder: Path,
    count: int | None,
    rater: str | None,
    note: str,
    address: str,
    database: str | None,
    *,
    as_json: bool,
) -> None:
    """Make personal links, by which raters reach their own page.

    Each link is for one person, works on any device, and cannot be shown again: only its hash is stored.
    """
    if (count is None) == (rater is None):
        raise click.UsageError("name one: --new N or --rater RATER")
    with opened(folder, database) as panel_database, panel_database.writing() as connection:
        if rater is not None:
            paths = [replace_link(connection, rater, now=time.time())]
        else:
            paths = make_links(connection, count or 0, note=note, now=time.time())
    addresses = [address.rstrip("/") + path for path in paths]
    if as_json:
        show_json(addresses)
    else:
        click.echo("\n".join(addresses))


@click.command("account")
@folder_argument
@click.argument("name")
@click.option("--role", type=click.Choice(ROLES), default="manage", show_default=True)
@database_option
@json_option
def account_command(folder: Path, name: str, role: str, database: str | None, *, as_json: bool) -> None:
    """Add an account for the researcher's pages of the panel."""
    password = new_password()
    with opened(folder, database) as panel_database, panel_database.writing() as connection:
        add_account(connection, name, role, password)
    sentence = f"{name} may sign in now ({role})\npassword: {password}\nIt is not shown again."
    say(sentence, as_json=as_json, name=name, role=role, password=password)


@click.command("serve")
@folder_argument
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0 for all.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True)
@database_option
@click.option("--processes", type=click.IntRange(min=1), default=1, show_default=True, help="With PostgreSQL.")
@operation_options
@click.option("--json", "as_json", is_flag=True, help="Print what was served as JSON, all else to stderr.")
def serve_command(
    folder: Path,
    host: str,
    port: int,
    database: str | None,
    processes: int,
    *,
    as_json: bool,
    operation: "Operation",
) -> None:
    """Serve the panel: raters' own pages, and all studies that are open.

    Raters sign in by a personal link, see the studies that are open to them, take one and come back. Each study
    keeps its own tables and database; its researcher's page is at /s/NAME/researcher, that of the panel at
    /researcher. A study that is opened meanwhile is served within seconds. When the server stops, the answers are
    written to the tables of the studies. With PostgreSQL, each study has a schema of its own in the panel's
    database.
    """
    from beholder.collect.panel.server.serve import serve_panel

    url = None if database is None else database_url(folder, database)
    talk = functools.partial(click.echo, err=as_json)
    served = serve_panel(
        folder.resolve(), url, host=host, port=port, processes=processes, say=talk, operation=operation
    )
    if as_json:
        show_json({"panel": str(folder), "studies": served})


COMMANDS = (open_command, close_command, publish_command, links_command, account_command, serve_command)
