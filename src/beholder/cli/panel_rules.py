"""``beholder panel rate, flag, appeal, decide, board, propose, vote, log, credit``: a say for everybody."""

import csv
import json
import time
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import click

from beholder.care.governance import CHOICES, Choice, Role
from beholder.cli.output import show_json, show_table
from beholder.cli.panel import by_option, database_option, folder_argument, json_option, opened, say
from beholder.collect.panel.board import propose_rule, seat_board, vote
from beholder.collect.panel.credit_points import keep_points
from beholder.collect.panel.open_log import read_log
from beholder.collect.panel.voices import FLAG_KINDS, appeal, decide_appeal, flag_study, rate
from beholder.errors import UserError

POINTS_COLUMNS = ("giver", "receiver", "points")


@click.command("rate")
@folder_argument
@click.argument("study")
@click.argument("rater")
@click.argument("rating", type=click.IntRange(1, 3))
@click.option(
    "--by-rater", is_flag=True, help="The rater rates the study; otherwise the researcher rates the rater."
)
@database_option
@json_option
def rate_command(
    folder: Path, study: str, rater: str, rating: int, database: str | None, *, by_rater: bool, as_json: bool
) -> None:
    """Rate a rater, or a study: 1 comes last, 2 as others, 3 first.

    The next study of the researcher opens first to raters rated 3, five minutes later to those rated 2, then to
    those never rated, and at last to those rated 1.
    """
    giver = "rater" if by_rater else "researcher"
    with opened(folder, database) as panel_database, panel_database.writing() as connection:
        rate(connection, study, rater, rating, giver=giver, now=time.time())  # type: ignore[arg-type]
    sentence = f"{study if by_rater else rater}: rated {rating} by the {giver}"
    say(sentence, as_json=as_json, study=study, rater=rater, rating=rating, by=giver)


@click.command("flag")
@folder_argument
@click.argument("study")
@click.argument("rater")
@click.argument("kind", type=click.Choice(FLAG_KINDS))
@click.option("--text", default="", help="What is wrong.")
@database_option
@json_option
def flag_command(
    folder: Path, study: str, rater: str, kind: str, text: str, database: str | None, *, as_json: bool
) -> None:
    """Flag a study for a rater; flags of seven raters pause it."""
    with opened(folder, database) as panel_database, panel_database.writing() as connection:
        paused = flag_study(connection, study, rater, kind, text, now=time.time())
    say(f"{study}: flagged{', and paused' if paused else ''}", as_json=as_json, study=study, paused=paused)


@click.command("appeal")
@folder_argument
@click.argument("study")
@click.argument("rater")
@click.option("--reason", required=True, help="That the rater was given.")
@click.option("--statement", required=True, help="The rater's answer to it.")
@database_option
@json_option
def appeal_command(
    folder: Path, study: str, rater: str, reason: str, statement: str, database: str | None, *, as_json: bool
) -> None:
    """Note a rater's answer to an exclusion or a frozen report."""
    with opened(folder, database) as panel_database, panel_database.writing() as connection:
        number = appeal(connection, study, rater, reason, statement, now=time.time())
    sentence = f"appeal {number} is open; decide it with: beholder panel decide {folder} {number} …"
    say(sentence, as_json=as_json, appeal=number, study=study, rater=rater)


@click.command("decide")
@folder_argument
@click.argument("number", type=int)
@click.argument("decision", type=click.Choice(["accept", "reject"]))
@by_option
@click.option("--reason", required=True, help="That the rater is told.")
@database_option
@json_option
def decide_command(
    folder: Path, number: int, decision: str, by: str, reason: str, database: str | None, *, as_json: bool
) -> None:
    """Decide an appeal, with a reason."""
    with opened(folder, database) as panel_database, panel_database.writing() as connection:
        decide_appeal(connection, number, accept=decision == "accept", by=by, reason=reason, now=time.time())
    sentence = f"appeal {number}: {decision}ed by {by}"
    say(sentence, as_json=as_json, appeal=number, accepted=decision == "accept", by=by)


@click.command("board")
@folder_argument
@click.option("--rater", "raters", multiple=True, metavar="NAME", help="Three times.")
@click.option("--researcher", "researchers", multiple=True, metavar="NAME", help="Three times.")
@click.option("--independent", required=True, metavar="NAME")
@database_option
@json_option
def board_command(
    folder: Path,
    raters: tuple[str, ...],
    researchers: tuple[str, ...],
    independent: str,
    database: str | None,
    *,
    as_json: bool,
) -> None:
    """Seat the board: three raters, three researchers, one independent."""
    board: dict[str, Role] = dict.fromkeys(raters, "rater")
    board |= dict.fromkeys(researchers, "researcher")
    board[independent] = "independent"
    with opened(folder, database) as panel_database, panel_database.writing() as connection:
        seat_board(connection, board, now=time.time())
    say(f"the board: {', '.join(board)}; four of seven votes decide", as_json=as_json, board=board)


@click.command("propose")
@folder_argument
@click.argument("title")
@by_option
@click.option("--text", default="", help="What is to change.")
@database_option
@json_option
def propose_command(folder: Path, title: str, by: str, text: str, database: str | None, *, as_json: bool) -> None:
    """Propose a change of the panel's rules."""
    with opened(folder, database) as panel_database, panel_database.writing() as connection:
        number = propose_rule(connection, title, text, by=by, now=time.time())
    say(f"proposal {number}: {title}", as_json=as_json, proposal=number, title=title)


@click.command("vote")
@folder_argument
@click.argument("number", type=int)
@click.argument("choice", type=click.Choice(CHOICES))
@by_option
@click.option("--reason", default="", help="For the log.")
@database_option
@json_option
def vote_command(
    folder: Path, number: int, choice: Choice, by: str, reason: str, database: str | None, *, as_json: bool
) -> None:
    """Vote on a proposal, as a member of the board."""
    with opened(folder, database) as panel_database, panel_database.writing() as connection:
        outcome = vote(connection, number, by, choice, reason, now=time.time())
    counts = f"{outcome.yes} yes, {outcome.no} no, {outcome.abstained} abstained"
    say(f"proposal {number}: {counts}: {outcome.status}", as_json=as_json, proposal=number, **asdict(outcome))


@click.command("log")
@folder_argument
@database_option
@json_option
def log_command(folder: Path, database: str | None, *, as_json: bool) -> None:
    """Print the open log, after checking that no entry was changed."""
    with opened(folder, database) as panel_database, panel_database.reading() as connection:
        entries = read_log(connection)
    if as_json:
        show_json([{"at": e.at, "kind": e.kind, "detail": e.detail, "hash": e.hash} for e in entries])
        return
    show_table(
        ("when", "what", "detail", "hash"),
        [
            (
                datetime.fromtimestamp(entry.at, UTC).strftime("%Y-%m-%d %H:%M"),
                entry.kind,
                json.dumps(entry.detail, ensure_ascii=False),
                entry.hash[:12],
            )
            for entry in entries
        ],
    )


@click.command("credit")
@click.argument("points", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option(
    "--panel",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Keep the points in this panel, whose researcher's page shows the credit.",
)
@database_option
@json_option
def credit_command(points: Path, folder: Path | None, database: str | None, *, as_json: bool) -> None:
    """Order contributors by the points that they gave each other.

    POINTS is a CSV file with the columns giver, receiver and points, and optionally role (of the receiver).
    Points that members of a ring gave each other are replaced by what all others think of them.
    """
    from beholder.care.credit import credit_statement, share_credit

    names, table, roles = _read_points(points)
    credit = share_credit(names, table)
    if folder is not None:
        with opened(folder, database) as panel_database, panel_database.writing() as connection:
            keep_points(connection, names, table, roles)
    if as_json:
        columns = zip(credit.names, credit.proportion, credit.plain, credit.flagged, strict=True)
        show_json(
            [
                {"name": name, "proportion": float(share), "unprotected": float(plain), "flagged": bool(flagged)}
                for name, share, plain, flagged in columns
            ]
        )
        return
    click.echo(credit_statement(credit, roles))
    flagged = [name for name, is_flagged in zip(credit.names, credit.flagged, strict=True) if is_flagged]
    if flagged:
        click.echo(f"Points exchanged in a ring were not counted: {', '.join(flagged)}")


def _read_points(
    path: Path,
) -> tuple[list[str], list[list[float]], dict[str, list[str]]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = list(csv.DictReader(stream))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read ({error})") from error
    if not rows or not set(POINTS_COLUMNS) <= set(rows[0]):
        raise UserError(
            f"{path}: needs the columns {', '.join(POINTS_COLUMNS)}; found {', '.join(rows[0] if rows else [])}"
        )
    names = sorted({row[side] for row in rows for side in ("giver", "receiver")})
    table = [[0.0] * len(names) for _ in names]
    roles: dict[str, list[str]] = {}
    for number, row in enumerate(rows, start=2):
        try:
            table[names.index(row["giver"])][names.index(row["receiver"])] += float(row["points"])
        except ValueError as error:
            raise UserError(f"{path}, line {number}: '{row['points']}' is no number of points") from error
        if row.get("role") and row["role"] not in roles.setdefault(row["receiver"], []):
            roles[row["receiver"]].append(row["role"])
    return names, table, roles


COMMANDS = (
    *(rate_command, flag_command, appeal_command, decide_command),
    *(board_command, propose_command, vote_command, log_command, credit_command),
)
