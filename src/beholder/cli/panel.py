"""``beholder panel``: raters who come again, over many studies."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import click

from beholder.cli.options import database_url
from beholder.cli.output import show_json, show_table
from beholder.collect.database.schema import Database
from beholder.collect.database.unavailable import usable_database
from beholder.collect.panel.leaving import agree_to_contact, forget_rater, opt_out
from beholder.collect.panel.open_log import write_entry
from beholder.collect.panel.schema import FILE_NAME, open_panel
from beholder.collect.panel.voices import study_voices
from beholder.errors import StageError, UserError

VARIABLE = "BEHOLDER_PANEL_DATABASE"

folder_argument = click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
database_option = click.option(
    "--database",
    metavar="URL",
    envvar=VARIABLE,
    help=f"A PostgreSQL database of the panel's own, or from {VARIABLE}. [default: SQLite in FOLDER]",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
by_option = click.option("--by", required=True, metavar="NAME", help="Who decides; it is written to the log.")


@click.group()
def panel() -> None:
    """Keep raters who come again: history, pay, reputation and rules.

    A panel is a folder of its own. It knows raters over many studies by pseudonyms; contacts, ratings and the
    ledger never enter a study's tables. Nothing is paid that a researcher has not approved.
    """


@contextmanager
def opened(folder: Path, address: str | None, *, create: bool = False) -> Iterator[Database]:
    """Open a panel for one command."""
    url = None if address is None else database_url(folder, address)
    with usable_database():
        database = open_panel(folder, url, create=create)
        try:
            yield database
        finally:
            database.engine.dispose()


def say(sentence: str, *, as_json: bool, **fields: object) -> None:
    """Print what a command did: a sentence, or its facts as JSON."""
    if as_json:
        show_json(fields)
    else:
        click.echo(sentence)


@panel.command()
@folder_argument
@database_option
@json_option
def new(folder: Path, database: str | None, *, as_json: bool) -> None:
    """Make a panel in FOLDER."""
    if database is None and (folder / FILE_NAME).exists():
        raise StageError(f"{folder} is a panel already")
    with opened(folder, database, create=True) as panel_database, panel_database.writing() as connection:
        write_entry(connection, "panel", {"made": True}, now=time.time())
    sentence = f"{folder}: a new panel\nNext: beholder panel add {folder} STUDY --researcher NAME"
    say(sentence, as_json=as_json, panel=str(folder))


@panel.command()
@folder_argument
@click.argument("study", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.option("--researcher", required=True, metavar="NAME", help="Who ran the study; raters rate them by it.")
@click.option(
    "--study-database", metavar="URL", envvar="BEHOLDER_DATABASE", help="Of the study, where it is not SQLite."
)
@database_option
@json_option
def add(
    folder: Path, study: Path, researcher: str, study_database: str | None, database: str | None, *, as_json: bool
) -> None:
    """Add a study and its raters, or what has happened in it since."""
    from beholder.collect.panel.studies import add_study

    url = None if study_database is None else database_url(study, study_database)
    with opened(folder, database) as panel_database, panel_database.writing() as connection:
        added = add_study(connection, study, researcher=researcher, study_url=url, now=time.time())
    if as_json:
        show_json(asdict(added))
        return
    click.echo(
        f"{added.study}: {added.sessions} sessions of {added.raters} raters, {added.newcomers} new to the panel"
    )
    if added.simulated:
        click.echo("Simulated raters are among them: they are never paid.")


@panel.command()
@folder_argument
@database_option
@json_option
def studies(folder: Path, database: str | None, *, as_json: bool) -> None:
    """List the studies, and what their raters say of them."""
    with opened(folder, database) as panel_database, panel_database.reading() as connection:
        voices = study_voices(connection)
    if as_json:
        show_json([asdict(voice) for voice in voices])
        return
    rows = [
        (
            voice.study,
            str(voice.ratings),
            "–" if voice.mean_rating is None else f"{voice.mean_rating:.2f}",
            str(voice.flags),
            str(voice.open_appeals),
            "paused" if voice.paused else "",
        )
        for voice in voices
    ]
    show_table(("study", "ratings", "mean", "flags", "open appeals", ""), rows)


@panel.command()
@folder_argument
@click.option("--researcher", default="", metavar="NAME", help="With whom the raters' reputation is shown.")
@database_option
@json_option
def raters(folder: Path, researcher: str, database: str | None, *, as_json: bool) -> None:
    """List the raters with their quality, drift alarms and reputation.

    Accuracy is on gold trials, with a 95 % confidence interval. An alarm is a CUSUM that found a drop of .15
    since the rater's baseline. *Gold* is the proportion of gold trials that the rater should get next.
    """
    from beholder.collect.panel.raters import rater_records

    with opened(folder, database) as panel_database, panel_database.reading() as connection:
        records = rater_records(connection, researcher)
    if as_json:
        fields = ("rater", "studies", "sessions", "trials", "gold_rate", "reputation", "opted_out", "simulated")
        show_json(
            [
                {name: getattr(record, name) for name in fields}
                | {"accuracy": record.accuracy and asdict(record.accuracy)}
                | {"predicted": record.predicted and asdict(record.predicted)}
                | {"alarm": record.drift is not None and record.drift.alarm is not None}
                for record in records
            ]
        )
        return
    rows = [
        (
            record.rater,
            str(record.studies),
            f"{record.trials:,}",
            "–" if (a := record.accuracy) is None else f"{a.value:.0%} [{a.low:.0%}, {a.high:.0%}]",
            "–" if (p := record.predicted) is None else f"{p.value:.0%} [{p.low:.0%}, {p.high:.0%}]",
            "drift" if record.drift is not None and record.drift.alarm is not None else "",
            f"{record.gold_rate:.0%}",
            f"{record.seconds_per_trial:.1f}",
            f"{record.hourly / 100:.2f}",
            f"{record.reputation:.2f}",
            " ".join(["opted out"] * record.opted_out + ["simulated"] * record.simulated),
        )
        for record in records
    ]
    heads = (
        "rater",
        "studies",
        "trials",
        "accuracy",
        "next 100",
        "alarm",
        "gold",
        "s/trial",
        "per hour",
        "score",
        "",
    )
    show_table(heads, rows)


@panel.command()
@folder_argument
@click.argument("rater")
@click.option("--address", required=True, help="Such as an e-mail address.")
@click.option(
    "--consent",
    "consent_file",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="A file with the text that the rater agreed to; its hash is recorded.",
)
@database_option
@json_option
def contact(
    folder: Path, rater: str, address: str, consent_file: Path, database: str | None, *, as_json: bool
) -> None:
    """Note how to reach a rater who agreed to be contacted."""
    try:
        text = consent_file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{consent_file}: cannot be read ({error})") from error
    with opened(folder, database) as panel_database, panel_database.writing() as connection:
        agree_to_contact(connection, rater, address, text, now=time.time())
    say(f"{rater}: contact noted, with the hash of the consent", as_json=as_json, rater=rater, contact=True)


@panel.command("opt-out")
@folder_argument
@click.argument("rater")
@database_option
@json_option
def opt_out_command(folder: Path, rater: str, database: str | None, *, as_json: bool) -> None:
    """End all contact with a rater; the address is deleted."""
    with opened(folder, database) as panel_database, panel_database.writing() as connection:
        opt_out(connection, rater, now=time.time())
    say(f"{rater}: opted out, address deleted", as_json=as_json, rater=rater, contact=False)


@panel.command()
@folder_argument
@click.argument("rater")
@database_option
@json_option
def forget(folder: Path, rater: str, database: str | None, *, as_json: bool) -> None:
    """Delete a rater from the panel; the ledger stays, without a name.

    In each study, `beholder forget` deletes the rater's answers.
    """
    with opened(folder, database) as panel_database:
        rows = forget_rater(panel_database, rater, now=time.time())
    say(f"{rater}: {rows} rows deleted", as_json=as_json, rater=rater, deleted_rows=rows)


def _add_others() -> None:
    """Add the commands of the other modules, which use what is defined here."""
    from beholder.cli.panel_money import COMMANDS as MONEY
    from beholder.cli.panel_rules import COMMANDS as RULES
    from beholder.cli.panel_serving import COMMANDS as SERVING

    for command in (*MONEY, *RULES, *SERVING):
        panel.add_command(command)


_add_others()
