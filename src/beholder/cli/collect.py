"""``beholder collect``: the study server, or a rehearsal of it with simulated raters."""

import functools
import gc
from collections.abc import Callable
from pathlib import Path

import click

from beholder.cli.options import database_options, database_url, existing_database_url


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0 for all.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True)
@database_options
@click.option("--processes", type=click.IntRange(min=1), default=1, show_default=True, help="With PostgreSQL.")
@click.option("--simulate", "people", type=click.IntRange(min=1), metavar="N", help="Simulate so many raters.")
@click.option("--bad", type=click.IntRange(min=0), default=0, show_default=True, help="Of them, with bad habits.")
@click.option("--accept-low-pay", is_flag=True, help="Pay less than the study's minimum_hourly all the same.")
@click.option("--json", "as_json", is_flag=True, help="Print what was collected as JSON, all else to stderr.")
@click.option("--rotate-token", is_flag=True, help="Replace the researcher's link, end all cookies, and stop.")
def collect(
    folder: Path,
    host: str,
    port: int,
    database: str | None,
    processes: int,
    people: int | None,
    bad: int,
    *,
    accept_low_pay: bool,
    as_json: bool,
    rotate_token: bool,
) -> None:
    """Ask raters: serve the pages on which they judge images.

    Draws the trials if that was not done, starts the server, and prints the link for raters and the one for the
    researcher. An answer is on the disk before it is acknowledged. When the server stops, the answers are written
    to the tables of FOLDER.

    The pay of a session and the hourly wage are printed. The server does not start where that is less than the
    study's minimum_hourly, unless --accept-low-pay.

    With --simulate, simulated raters use the pages' own interface instead, and the server stops after them.

    With --rotate-token nothing is served: the researcher's link gets a new token, and whoever is signed in on the
    researcher's page has to sign in again, also on a server that runs.
    """
    gc.disable()  # until it serves: a tenth of the start would go into looking through modules for garbage
    from beholder.collect.database.unavailable import usable_database
    from beholder.collect.researcher.slots import clear_rehearsal
    from beholder.collect.server.serve import is_ready, note_ready, prepare, run_child, serve

    if rotate_token:
        _rotate(folder.resolve(), database, host, port)
        return
    if people is not None and bad > people:
        raise click.BadParameter(f"{bad} of {people} raters cannot be bad", param_hint="--bad")
    folder, url = folder.resolve(), database_url(folder, database)
    say = functools.partial(click.echo, err=as_json)
    _show_pay(folder, say, accepted=accept_low_pay, simulated=people is not None)
    with usable_database():
        ready = is_ready(folder, url)
    if not ready:
        say(run_child("beholder", "design", folder))
        migrated = prepare(folder, url)
        if migrated:
            say(migrated)
        note_ready(folder, url)
    if people is None:
        clear_rehearsal(url)
        serve(folder, url, host=host, port=port, processes=processes, say=say)
    else:
        from beholder.collect.simulate.rehearsal import rehearse

        gc.enable()
        for line in rehearse(folder, url, raters=people, bad=bad):
            say(line)
    say(run_child("beholder.collect.exchange.export", folder, url=url))
    if as_json:
        _print_counts(folder)


def _show_pay(folder: Path, say: Callable[[str], None], *, accepted: bool, simulated: bool) -> None:
    """Print what raters are paid; refuse less than the least wage, unless that is accepted or nobody is paid."""
    from beholder.errors import StudyError
    from beholder.study.study import load_study
    from beholder.study.wages import LOW_PAY_ADVICE, describe_pay, low_pay_faults

    study = load_study(folder)
    faults = low_pay_faults(study)
    if faults and not (accepted or simulated):
        raise StudyError(str(folder), faults, advice=LOW_PAY_ADVICE)
    for question in study.questions:
        say(f"pay: {describe_pay(study, question)} ({question.name})")
    for fault in faults:
        say(f"warning: {fault}")


def _print_counts(folder: Path) -> None:
    from beholder.cli.output import show_json
    from beholder.tables.stages import COLLECT
    from beholder.tables.store import Store

    rows = {name: Store(folder).read_or_empty(name).height for name in COLLECT.outputs}
    show_json({"folder": str(folder), "rows": rows})


def _rotate(folder: Path, database: str | None, host: str, port: int) -> None:
    from beholder.collect.researcher.access import rotate_token
    from beholder.collect.researcher.sign_in_link import researcher_address

    url = existing_database_url(folder, database)
    rotate_token(url)
    address = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    click.echo(f"researcher: {researcher_address(folder, url, address)}\nThe old link and all cookies are ended.")
