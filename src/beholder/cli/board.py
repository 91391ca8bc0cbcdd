"""``beholder board``: every measure of every entry, with confidence intervals over prompts and raters."""

import logging
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from beholder.cli.stages import stage_options
from beholder.tables.stages import STAGES

if TYPE_CHECKING:
    import polars as pl

    from beholder.tables.store import Store

logger = logging.getLogger(__name__)

TABLES = STAGES["board"].outputs


@click.command()
@stage_options
@click.option("--measure", "measures", multiple=True, metavar="NAME", help="Print this measure only; repeatable.")
@click.option("--slices", is_flag=True, help="Print every style and tag too, not only all prompts.")
@click.option(
    "--like",
    "form",
    type=click.Choice(["hpsv2"]),
    help="Print scores in the form published there: mean ± sd of ten groups.",
)
def board(
    folder: Path,
    *,
    force: bool,
    quiet: bool,
    as_json: bool,
    measures: tuple[str, ...],
    slices: bool,
    form: str | None,
) -> None:
    """Compare the generators by every measure, people and metrics alike.

    Reads the judgements, scores, distances and generations of FOLDER and writes the tables `board`, `board_pairs`,
    `claims`, `utilities`, `board_agreement`, `curves`, `board_marks`, `board_powered`, `dose_responses`,
    `dose_steps` and `board_costs`. Confidence intervals are over prompts and raters; entries are compared on the
    same prompts, and ranks are ranges.
    """
    from beholder.board.stage import run
    from beholder.cli.output import show_json
    from beholder.cli.progress import progress_report
    from beholder.tables.store import Store

    logger.info("board: starting in %s", folder)
    with progress_report("board"):
        outcome = run(folder, force=force)
    store = Store(folder)
    _check_names(store, measures)
    if as_json:
        tables = {} if quiet else {name: store.read(name).to_dicts() for name in TABLES}
        show_json({"stages": [asdict(outcome)]} | tables)
        return
    click.echo(str(outcome))
    if quiet:
        return
    if form:
        _print_as_published(store)
        return
    print_board(store, measures, slices=slices)


def print_board(store: "Store", measures: tuple[str, ...] = (), *, slices: bool = False) -> None:
    """Print the entries by every measure, or by some; then claims, agreement, utilities and marks."""
    _print_boards(store.read("board"), measures, slices=slices)
    _print_powered(store.read("board_powered"), measures)
    _print_costs(store.read("board_costs"))
    _print_claims(store.read("claims"))
    _print_agreement(store.read("board_agreement"))
    _print_utilities(store.read("utilities"))
    _print_responses(store.read("dose_responses"))
    for words in store.read("board_marks").filter("raised")["words"]:
        click.echo(f"\nmark: {words}")


def _check_names(store: "Store", measures: tuple[str, ...]) -> None:
    from difflib import get_close_matches

    from beholder.errors import UserError

    names = store.read("board")["measure"].unique().sort().to_list()
    for name in measures:
        if name not in names:
            close = get_close_matches(name, names, 1, 0.5)
            meant = f" Did you mean '{close[0]}'?" if close else ""
            raise UserError(f"the board has no measure '{name}'.{meant} It has: {', '.join(names)}")


def _print_boards(board: "pl.DataFrame", measures: tuple[str, ...], *, slices: bool) -> None:
    import polars as pl

    from beholder.cli.output import show_table

    shown = board.filter(pl.col("measure").is_in(measures)) if measures else board
    shown = shown if slices else shown.filter(pl.col("family") == "all")
    for (name, family, part), rows in shown.group_by("measure", "family", "slice", maintain_order=True):
        better = rows["better"][0]
        where = "" if family == "all" else f", {family} {part}"
        click.echo(f"\n{name}{where}" + (f" — {better} is better" if better in ("higher", "lower") else ""))
        if rows["value"].null_count() == rows.height:
            click.echo(f"  {rows['note'][0]}")
            continue
        ordered = rows.sort("value", descending=better != "lower")
        show_table(
            (
                "rank",
                "entry",
                "value",
                f"{100 * rows['level'][0]:.0f} % CI",
                "chance to be best",
                "prompts",
                "raters",
            ),
            [_cells(row) for row in ordered.iter_rows(named=True)],
        )


def _cells(row: dict[str, object]) -> tuple[str, ...]:
    low, high = row["low"], row["high"]
    rank_low, rank_high = row["rank_low"], row["rank_high"]
    rank = "" if rank_low is None else str(rank_low) if rank_low == rank_high else f"{rank_low}–{rank_high}"
    chance = row["chance_best"]
    return (
        rank,
        f"{row['entry']} (stated)" if row["source"] == "stated" else str(row["entry"]),
        f"{row['value']:.4g}",
        _interval(low, high),
        "" if chance is None else f"{100 * float(str(chance)):.0f}%",
        "" if row["prompts"] is None else f"{row['prompts']:,}",
        "" if not row["raters"] else f"{row['raters']:,}",
    )


def _interval(low: object, high: object) -> str:
    return "–" if low is None or high is None else f"{low:.4g} to {high:.4g}"


def _print_powered(powered: "pl.DataFrame", measures: tuple[str, ...]) -> None:
    import polars as pl

    from beholder.cli.output import show_table

    rows = powered.filter("chosen")
    rows = rows.filter(pl.col("measure").is_in(measures)) if measures else rows
    for (measure, scorer), part in rows.group_by("measure", "scorer", maintain_order=True):
        click.echo(f"\n{measure}, from raters and the scores of {scorer} (prediction-powered)")
        interval = f"{100 * part['level'][0]:.0f} % CI"
        show_table(
            (
                "entry",
                "raters alone",
                interval,
                "raters and scores",
                interval,
                "width",
                "prompts",
                "further prompts",
            ),
            [
                (
                    row["entry"],
                    f"{row['people_value']:.4g}",
                    _interval(row["people_low"], row["people_high"]),
                    f"{row['value']:.4g}",
                    _interval(row["low"], row["high"]),
                    "–" if row["width_ratio"] is None else f"× {row['width_ratio']:.2f}",
                    f"{row['prompts']:,}",
                    f"{row['further_prompts']:,}",
                )
                for row in part.sort("value", descending=True).iter_rows(named=True)
            ],
        )


def _print_costs(costs: "pl.DataFrame") -> None:
    from beholder.cli.output import show_table

    for (measure,), part in costs.group_by("measure", maintain_order=True):
        click.echo(f"\n{measure} — lower is better")
        show_table(
            (
                "rank",
                "entry",
                "mean",
                f"{100 * part['level'][0]:.0f} % CI",
                "on the Pareto front with it",
                "images",
            ),
            [
                (
                    str(row["rank_low"])
                    if row["rank_low"] == row["rank_high"]
                    else f"{row['rank_low']}–{row['rank_high']}",
                    row["entry"],
                    f"{row['value']:.4g}",
                    _interval(row["low"], row["high"]),
                    {None: "", True: "yes", False: "surely not" if row["surely_dominated"] else "no"}[
                        row["pareto"]
                    ],
                    f"{row['images']:,}",
                )
                for row in part.sort("value").iter_rows(named=True)
            ],
        )


def _print_responses(responses: "pl.DataFrame") -> None:
    from beholder.cli.output import show_table

    for (setting,), part in responses.group_by("setting", maintain_order=True):
        click.echo(
            f"\n{setting}: change from the first to the last variant, in standard deviations between prompts"
        )
        show_table(
            ("measure", "change", f"{100 * part['level'][0]:.0f} % CI", "first seen at", "in words"),
            [
                (
                    row["measure"],
                    "–" if row["slope"] is None else f"{row['slope']:+.2f}",
                    "–" if row["low"] is None else f"{row['low']:+.2f} to {row['high']:+.2f}",
                    row["first_seen"] or "",
                    row["words"],
                )
                for row in part.iter_rows(named=True)
            ],
        )


def _print_claims(claims: "pl.DataFrame") -> None:
    if claims.is_empty():
        return
    click.echo("\nclaims")
    for row in claims.iter_rows(named=True):
        bound = "" if row["bound"] is None else f": at least {row['bound']:.3g} with 95 % confidence"
        click.echo(f"  {row['verdict']:<10} {row['claim']}{bound}")


def _print_agreement(agreement: "pl.DataFrame") -> None:
    if agreement.is_empty():
        return
    from beholder.cli.output import show_table

    click.echo("\nautomatic measures against people")
    show_table(
        ("measure", "people", "Kendall's τ of entries", "Pearson's r of images", "in words"),
        [
            (
                row["measure"],
                row["people"],
                "" if row["kendall"] is None else f"{row['kendall']:.2f}",
                "" if row["image_pearson"] is None else f"{row['image_pearson']:.3f}",
                row["words"],
            )
            for row in agreement.iter_rows(named=True)
        ],
    )


def _print_utilities(utilities: "pl.DataFrame") -> None:
    if utilities.is_empty():
        return
    from beholder.cli.output import show_table

    click.echo("\nall measures together")
    show_table(
        ("entry", "on the Pareto front", "utility", "wins for", "with most of the weight on"),
        [
            (
                row["entry"],
                "yes" if row["pareto"] else "surely not" if row["surely_dominated"] else "no",
                "" if row["utility"] is None else f"{row['utility']:+.2f}",
                f"{100 * row['wins']:.0f}% of weights",
                _heaviest(row["best_weights"]) if row["lead"] > 0 else "",
            )
            for row in utilities.sort("utility", descending=True, nulls_last=True).iter_rows(named=True)
        ],
    )


def _heaviest(weights: str) -> str:
    import json

    by_measure: dict[str, float] = json.loads(weights)
    return max(by_measure, key=by_measure.__getitem__)


def _print_as_published(store: "Store") -> None:
    from beholder.board.published import hpsv2_table
    from beholder.cli.output import show_table

    heads, rows = hpsv2_table(store)
    show_table(heads, rows)
