"""``beholder collect``: the study server, or a rehearsal of it with simulated raters."""

import functools
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
from click.core import ParameterSource

from beholder.cli.options import database_options, database_url, existing_database_url, operation_options

if TYPE_CHECKING:
    from beholder.collect.server.operation import Operation


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0 for all.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True)
@database_options
@click.option("--processes", type=click.IntRange(min=1), default=1, show_default=True, help="With PostgreSQL.")
@operation_options
@click.option("--simulate", "people", type=click.IntRange(min=1), metavar="N", help="Simulate so many raters.")
@click.option("--serve", "serving", is_flag=True, help="After --simulate: show the researcher's pages of it.")
@click.option("--bad", type=click.IntRange(min=0), default=0, show_default=True, help="Of them, with bad habits.")
@click.option("--accept-low-pay", is_flag=True, help="Pay less than the study's minimum_hourly all the same.")
@click.option("--json", "as_json", is_flag=True, help="Print what was collected as JSON, all else to stderr.")
@click.option("--arena", is_flag=True, help="Serve a live arena of the study's generators instead.")
@click.option("--own-prompts", is_flag=True, help="With --arena: voters may write prompts, too.")
@click.option("--retire", metavar="ENTRY", help="With --arena: show this entry no more, log it, and stop.")
@click.option("--reason", default="", help="Why it is retired; on the board.")
@click.option("--prototype", is_flag=True, help="Let a few raters try it first, and vote whether it may open.")
@click.option("--rotate-token", is_flag=True, help="Replace the researcher's link, end all cookies, and stop.")
@click.option("--write-tables", is_flag=True, help="Write the answers so far to the tables, and stop.")
def collect(
    folder: Path,
    host: str,
    port: int,
    database: str | None,
    processes: int,
    people: int | None,
    bad: int,
    *,
    serving: bool,
    accept_low_pay: bool,
    as_json: bool,
    prototype: bool,
    rotate_token: bool,
    write_tables: bool,
    arena: bool,
    own_prompts: bool,
    retire: str | None,
    reason: str,
    operation: "Operation",
) -> None:
    """Ask raters: serve the pages on which they judge images.

    Draws the trials if that was not done, starts the server, and prints the link for raters and the one for the
    researcher. An answer is on the disk before it is acknowledged. When the server stops, the answers are written
    to the tables of FOLDER.

    The pay of a session and the hourly wage are printed. The server does not start where that is less than the
    study's minimum_hourly, unless --accept-low-pay.

    With --simulate, simulated raters use the pages' own interface instead, and the server stops after them. Such a
    rehearsal has a database of its own in FOLDER/rehearsals: it takes no slots of the study, and can be repeated.
    With --serve, the researcher's pages of the rehearsal are served afterwards.

    With --arena, everyone who has the link votes on blind pairs of the study's generators, and a board shows the
    votes so far. When the server stops, the votes are a study of their own in FOLDER/arena. With --own-prompts,
    voters may write prompts, and the study's generators make two images while they wait.

    With --prototype, ⌊√raters⌋ raters or more try ⌊√items⌋ trials, say what is unclear, how long it took and
    whether the pay is fair, and vote to publish or to revise. The round is a small study of its own in
    FOLDER/prototypes. Once there is a round, the study opens only if its raters voted to publish.

    With --rotate-token nothing is served: the researcher's link gets a new token, and whoever is signed in on the
    researcher's page has to sign in again, also on a server that runs.

    With --write-tables nothing is served either: the answers that the database has now are written to the tables
    of FOLDER, also while servers run.
    """
    gc.disable()  # until it serves: a tenth of the start would go into looking through modules for garbage
    if retire is not None and not arena:
        raise click.UsageError("--retire goes with --arena")
    if own_prompts and not arena:
        raise click.UsageError("--own-prompts goes with --arena")
    if arena:
        _arena(folder.resolve(), Address(host, port), retire, reason, own_prompts=own_prompts)
        return
    if rotate_token:
        _rotate(folder.resolve(), database, host, port)
        return
    say = functools.partial(click.echo, err=as_json)
    if write_tables:
        if people is not None or prototype:
            raise click.UsageError(
                "--write-tables writes what real raters answered: leave out --simulate and --prototype"
            )
        say(_write_tables(folder.resolve(), existing_database_url(folder.resolve(), database)))
        if as_json:
            _print_counts(folder)
        return
    _refuse_odd_options(people, bad, processes, serving=serving)
    if prototype:
        folder = _prototype_round(folder, people, database, say)
    elif people is None:
        _require_published(folder)
    if people is not None:
        _show_pay(folder, say, accepted=accept_low_pay, simulated=True)
        _rehearse(folder, people, bad, Address(host, port), say, serving=serving)
    else:
        url = database_url(folder.resolve(), database)
        with _first_start(folder, database, url) as start:
            _show_pay(folder, say, accepted=accept_low_pay, simulated=False)
            _serve(folder.resolve(), url, Address(host, port), processes, say, start, operation)
        say(_verdict(folder) if prototype else f"Next: beholder run {folder}")
    if as_json:
        _print_counts(folder)


def _prototype_round(folder: Path, people: int | None, database: str | None, say: Callable[[str], None]) -> Path:
    """Make the next prototype round, unless the latest is of the same settings; return its folder."""
    from beholder.collect.prototype.rounds import new_round, read_round

    if people is not None or database is not None:
        raise click.UsageError(
            "a prototype round has a database of its own in FOLDER/prototypes, and real raters: leave out "
            "--simulate and --database"
        )
    room = new_round(folder)
    held = read_round(room)
    if held is not None:
        rule = held.rule
        say(
            f"prototype round {held.number}: {rule.first_raters} to {rule.most_raters} raters, "
            f"{held.items} trials each ({room})"
        )
    return room


def _require_published(folder: Path) -> None:
    from beholder.collect.prototype.gate import require_published

    require_published(folder)


def _verdict(room: Path) -> str:
    """Say what the votes of a round decided, and what comes next."""
    from beholder.collect.prototype.gate import tally_of

    tally, folder = tally_of(room), room.parent.parent
    votes = f"{tally.publish} to publish, {tally.revise} to revise"
    following = {
        "publish": f"the study may open: beholder collect {folder}",
        "revise": f"revise study.toml, and try again: beholder collect {folder} --prototype",
        "ask more": f"not decided yet: beholder collect {folder} --prototype",
    }
    return f"votes: {votes}. Next: {following[tally.decision]}"


@contextmanager
def _first_start(folder: Path, database: str | None, url: str) -> Iterator[Callable[[], str]]:
    """Yield what draws the trials and fills the database.

    Where there is certainly none yet, its process starts now, and imports while this one does.
    """
    from beholder.collect.database.address import FILE_NAME
    from beholder.collect.server.child_process import WaitingChild

    def child() -> WaitingChild:
        return WaitingChild("beholder.api.first_start", folder.resolve(), url=url)

    if database is not None or not folder.is_dir() or (folder / FILE_NAME).exists():
        yield lambda: child().work()
        return
    started = child()
    try:
        yield started.work
    finally:
        started.dismiss()


def _serve(
    folder: Path,
    url: str,
    address: "Address",
    processes: int,
    say: Callable[[str], None],
    start: Callable[[], str],
    operation: "Operation",
) -> None:
    """Serve the study until interrupted, and write the answers to its tables."""
    from beholder.collect.database.unavailable import usable_database
    from beholder.collect.researcher.slots import refuse_simulated_raters
    from beholder.collect.server.serve import is_ready, note_ready, serve

    with usable_database():
        ready = is_ready(folder, url)
    if not ready:
        say(start())
        note_ready(folder, url)
    refuse_simulated_raters(folder, url)
    serve(folder, url, host=address.host, port=address.port, processes=processes, say=say, operation=operation)
    say(_write_tables(folder, url))


def _write_tables(folder: Path, url: str) -> str:
    """Write what the database has to the tables of the study, in a process of its own; return what was written."""
    from beholder.collect.server.child_process import run_child

    return run_child("beholder.collect.exchange.export", folder, url=url)


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


class Address(NamedTuple):
    """Where a server listens."""

    host: str
    port: int


def _refuse_odd_options(people: int | None, bad: int, processes: int, *, serving: bool) -> None:
    """Refuse options that do not go together: a rehearsal has a database and one process of its own."""
    if people is None:
        if serving or bad:
            raise click.UsageError("--serve and --bad go with --simulate; without it, the study itself is served")
        return
    if bad > people:
        raise click.BadParameter(f"{bad} of {people} raters cannot be bad", param_hint="--bad")
    source = click.get_current_context().get_parameter_source
    typed = [name for name in ("database", "database_file") if source(name) is ParameterSource.COMMANDLINE]
    if typed or processes > 1:
        raise click.UsageError(
            "a rehearsal has a database of its own in FOLDER/rehearsals and one process: leave out --database, "
            "--database-file and --processes"
        )


def _rehearse(
    folder: Path, people: int, bad: int, address: Address, say: Callable[[str], None], *, serving: bool
) -> None:
    """Play a rehearsal and keep it; to be shown, one that was played before with the same raters is enough."""
    from beholder.collect.database.address import default_url
    from beholder.collect.server.child_process import run_child
    from beholder.collect.server.serve import prepare, serve
    from beholder.collect.simulate.rehearsal import find_rehearsal, rehearse
    from beholder.tables.rehearsals import new_rehearsal

    gc.enable()
    typed, folder = folder, folder.resolve()
    say(run_child("beholder", "design", folder))
    room = find_rehearsal(folder, raters=people, bad=bad) if serving else None
    if room is None:
        room = new_rehearsal(folder)
        url = default_url(room)
        prepare(folder, url)
        for line in _in_progress(rehearse(folder, url, raters=people, bad=bad)):
            say(line)
        say(_write_tables(folder, url))
    say(f"The rehearsal is kept in {typed / room.relative_to(folder)}. It takes no slots of the study.")
    say(f"Next: beholder run {typed}")
    if serving:
        serve(
            folder,
            default_url(room),
            host=address.host,
            port=address.port,
            processes=1,
            say=say,
            rehearsal=True,
        )


def _in_progress(lines: Iterator[str]) -> Iterator[str]:
    """Yield the lines of work that takes long, with a progress report while each is waited for."""
    from beholder.cli.progress import progress_report

    while True:
        with progress_report("simulated raters"):
            line = next(lines, None)
        if line is None:
            return
        yield line


def _arena(folder: Path, address: Address, retired: str | None, reason: str, *, own_prompts: bool) -> None:
    """Serve the arena until interrupted and write its votes; or retire an entry."""
    from beholder.collect.arena.application import serve_arena
    from beholder.collect.arena.catalogue import retire
    from beholder.collect.arena.export import export_arena
    from beholder.collect.arena.schema import arena_url, open_arena

    gc.enable()
    url = arena_url(folder)
    if retired is not None:
        with open_arena(url).writing() as connection:
            retire(connection, retired, reason or "no reason was stated")
        click.echo(f"{retired} is retired. A running server notices within seconds.")
        return
    serve_arena(folder, url, host=address.host, port=address.port, say=click.echo, own_prompts=own_prompts)
    click.echo(export_arena(folder, url))


def _rotate(folder: Path, database: str | None, host: str, port: int) -> None:
    from beholder.collect.researcher.access import rotate_token
    from beholder.collect.researcher.sign_in_link import researcher_address

    url = existing_database_url(folder, database)
    rotate_token(url)
    address = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    click.echo(f"researcher: {researcher_address(folder, url, address)}\nThe old link and all cookies are ended.")
