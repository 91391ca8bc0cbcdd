"""``beholder plan``: how many raters a study needs, and what they cost."""

from dataclasses import asdict
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import click

from beholder.api.benchmark.board_planning import PROMPTS, BoardPower, plan_board
from beholder.api.benchmark.board_planning import RATERS as BOARD_RATERS
from beholder.api.planning import RATERS, Power, formula_sentence
from beholder.api.planning import plan as simulate_power
from beholder.cli.output import show_json, show_table
from beholder.cli.progress import progress_bar
from beholder.errors import UserError
from beholder.stats.significance.crossed_power import Claim
from beholder.study.protocols.catalogue import PROTOCOLS

if TYPE_CHECKING:
    from beholder.care.effort import Effort


class Numbers(click.ParamType[tuple[int, ...]]):
    """Whole numbers with commas between."""

    name = "N,N,…"

    def convert(
        self, value: str | tuple[int, ...], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        """Split at commas; each must be at least 2."""
        if isinstance(value, tuple):
            return value
        parts = [part.strip() for part in value.split(",") if part.strip()]
        if not parts or not all(part.isdigit() and int(part) >= 2 for part in parts):
            self.fail(f"'{value}' is not a list of whole numbers from 2, such as 20,50,100", param, ctx)
        return tuple(int(part) for part in parts)


class Variances(click.ParamType[tuple[float, float, float]]):
    """Three variances with commas between."""

    name = "R,P,E"

    def convert(
        self, value: str | tuple[float, float, float], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, float, float]:
        """Split at commas; none may be below 0."""
        if isinstance(value, tuple):
            return value
        try:
            rater, prompt, rest = (float(part) for part in value.split(","))
        except ValueError:
            self.fail(f"'{value}' is not three variances, such as 0.02,0.3,0.9", param, ctx)
        if min(rater, prompt, rest) < 0:
            self.fail(f"'{value}': a variance is at least 0", param, ctx)
        return rater, prompt, rest


@click.command()
@click.argument("target", metavar="PROTOCOL|FOLDER", required=False)
@click.option(
    "--replicate",
    "lock",
    type=click.Path(path_type=Path),
    metavar="LOCK",
    help="Plan a replication of a locked study instead: raters for each of its claims.",
)
@click.option(
    "--difference", type=float, help="To be detected: a proportion, or points of the scale. [default: .05 or .2]"
)
@click.option("--generators", type=click.IntRange(min=2), default=2, show_default=True, help="All are compared.")
@click.option("--raters", "sizes", type=Numbers(), help="To try. [default: 10 to 200; for a board 5 to 40]")
@click.option("--prompts", type=Numbers(), help="Numbers of prompts to try, for a board. [default: 50 to 400]")
@click.option(
    "--claim",
    type=click.Choice(["pair", "winner", "order", "half-width"]),
    default="pair",
    show_default=True,
    help="What a board is to show.",
)
@click.option("--measure", metavar="NAME", help="Measure of the study's board. [default: the first by people]")
@click.option("--entries", metavar="A,B", help="The two entries of a pair. [default: the two best]")
@click.option("--half-width", type=click.FloatRange(min=0, min_open=True), help="That is narrow enough.")
@click.option(
    "--variances",
    type=Variances(),
    help="Plan a board: variances of a difference between raters, between prompts, of an answer.",
)
@click.option("--trials", type=click.IntRange(min=1), help="Trials per rater. [default: the protocol's]")
@click.option("--images", type=click.IntRange(min=2), default=100, show_default=True, help="Of each generator.")
@click.option(
    "--rater-share", type=float, default=0.05, show_default=True, help="Proportion of variance between raters."
)
@click.option(
    "--image-share", type=float, default=0.05, show_default=True, help="Proportion of variance between images."
)
@click.option("--baseline", type=float, default=0.5, show_default=True, help="Error rate of the better generator.")
@click.option("--wage", type=click.FloatRange(min=0), default=12.0, show_default=True, help="Pay per hour.")
@click.option(
    "--error-times",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="CSV of answers under time limits (limit, errors, answers): the time of a trial is measured by them.",
)
@click.option("--accept-low-pay", is_flag=True, help="Plan with less than the least wage of a study all the same.")
@click.option(
    "--studies", type=click.IntRange(min=50), default=400, show_default=True, help="To simulate for each."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON.")
def plan(
    target: str | None,
    lock: Path | None,
    difference: float | None,
    generators: int,
    sizes: tuple[int, ...] | None,
    prompts: tuple[int, ...] | None,
    claim: Claim,
    measure: str | None,
    entries: str | None,
    half_width: float | None,
    variances: tuple[float, float, float] | None,
    trials: int | None,
    images: int,
    rater_share: float,
    image_share: float,
    baseline: float,
    wage: float,
    error_times: Path | None,
    studies: int,
    seed: int,
    *,
    accept_low_pay: bool,
    as_json: bool,
) -> None:
    """Simulate a study to see how many raters it needs, at what cost.

    Studies of PROTOCOL with two generators that differ are simulated, with varying raters and images, and each is
    analysed as the ratings are. Power is the proportion of them with a significant difference, at a level
    corrected for all pairs of generators. With --rater-share 0 the answers are independent.

    With a study FOLDER, or with --variances, it plans a board: power, half-width and cost over numbers of prompts
    and raters for a claim, from the variances between raters, between prompts and of single answers.

    With --replicate LOCK, it says for every claim of a locked study how many raters a replication needs.
    """
    if lock is not None:
        _plan_replication(lock, wage, accept_low_pay=accept_low_pay, as_json=as_json)
        return
    if target is None:
        raise click.UsageError("Missing argument 'PROTOCOL|FOLDER', or --replicate LOCK")
    if target not in PROTOCOLS and not Path(target).is_dir():
        raise UserError(f"'{target}' is not one of {', '.join(PROTOCOLS)}, and no study folder")
    if target not in PROTOCOLS or variances is not None:
        board = plan_board(
            target,
            claim=claim,
            measure=measure,
            entries=None if entries is None else [name.strip() for name in entries.split(",")],
            prompts=prompts or PROMPTS,
            raters=sizes or BOARD_RATERS,
            difference=difference,
            half_width=half_width,
            variances=variances,
            generators=generators,
            wage=wage,
            accept_low_pay=accept_low_pay,
            seed=seed,
        )
        _show_board(board, as_json=as_json)
        return
    effort = None if error_times is None else _read_effort(error_times, seed)
    with progress_bar("studies") as progress:
        power = simulate_power(
            target,
            difference=difference,
            generators=generators,
            raters=sizes or RATERS,
            trials=trials,
            images=images,
            rater_share=rater_share,
            image_share=image_share,
            baseline=baseline,
            wage=wage,
            trial_seconds=None if effort is None else effort.seconds.value,
            accept_low_pay=accept_low_pay,
            studies=studies,
            seed=seed,
            progress=progress,
        )
    study_plan = power.plan
    if as_json:
        pay = {"session": study_plan.session_pay, "hourly": wage, "minutes": study_plan.hours_each * 60}
        points = [asdict(point) for point in power.points]
        show_json({"formula": asdict(power.formula), "power": points, "pay": pay})
        return
    if effort is not None:
        click.echo(_effort_sentence(effort, wage))
    _say(target, power)


def _plan_replication(lock: Path, wage: float, *, accept_low_pay: bool, as_json: bool) -> None:
    from beholder.api.replication.planning import POWER, plan_replication

    plans = plan_replication(lock, wage=wage, accept_low_pay=accept_low_pay)
    if as_json:
        show_json({"power": POWER, "claims": [asdict(each) for each in plans]})
        return
    if not plans:
        raise UserError(f"{lock}: no claim to replicate: no two entries are significantly different by people")
    show_table(
        ["claim", "effect", "raters then", "raters", "cautious effect", "raters", "2.5 ×", "hours", "cost"],
        [
            (
                each.claim.words,
                f"{each.effect:+.3g}",
                f"{each.raters_before:,}",
                _number(each.raters),
                f"{each.safeguard_effect:+.3g}",
                _number(each.safeguard_raters),
                f"{each.telescopes_raters:,}",
                "" if each.hours is None else f"{each.hours:,.1f}",
                "" if each.cost is None else f"{each.cost:,.0f}",
            )
            for each in plans
        ],
    )
    click.echo(
        f"\nRaters for a power of {POWER:g} with the same prompts: for the effect as it was, and for the lower "
        "end of its 60 % CI; 2.5 × is Simonsohn's rule. –: up to 1,000 raters are not enough with these prompts."
    )


def _number(raters: int | None) -> str:
    return "–" if raters is None else f"{raters:,}"


def _read_effort(path: Path, seed: int) -> "Effort":
    """Fit the error–time curve of a file."""
    import csv

    import numpy as np

    from beholder.care.effort import measure_effort

    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = list(csv.DictReader(stream))
        limits, errors, answers = ([float(row[name]) for row in rows] for name in ("limit", "errors", "answers"))
    except (OSError, UnicodeDecodeError, KeyError, ValueError, TypeError) as error:
        raise UserError(f"{path}: needs the columns limit, errors and answers, all numbers ({error!r})") from error
    return measure_effort(limits, errors, answers, np.random.default_rng(seed))


def _effort_sentence(effort: "Effort", wage: float) -> str:
    seconds, area = effort.seconds, effort.area
    cents = effort.price_cents(Decimal(f"{wage:.2f}"))
    return (
        f"a trial needs {seconds.value:.1f} s [{seconds.low:.1f}, {seconds.high:.1f}] (error–time area "
        f"{area.value:.2f} s [{area.low:.2f}, {area.high:.2f}]): {cents / 100:.2f} per trial"
    )


def _say(protocol: str, power: Power) -> None:
    study_plan = power.plan
    size = "" if study_plan.model is None else study_plan.model.size(study_plan.difference)
    click.echo(
        f"{protocol}: to separate two of {study_plan.generators} generators that differ by {size}\n"
        f"{study_plan.answers_each} answers per rater about the two; {study_plan.images} images per generator; "
        f"{study_plan.rater_share:.0%} of the variance lies between raters\n"
        f"pay: {study_plan.session_pay:.2f} per rater for {study_plan.hours_each * 60:.0f} min, "
        f"{study_plan.hourly_wage:.2f} an hour\n"
    )
    rows = [
        (
            f"{point.raters:,}",
            f"{point.answers:,}",
            f"{point.power.value:.0%}",
            f"{point.power.low:.0%}–{point.power.high:.0%}",
            f"{point.hours:,.1f}",
            f"{point.cost:,.0f}",
        )
        for point in power.points
    ]
    show_table(["raters", "answers", "power", "95 % CI", "hours", "cost"], rows)
    click.echo(f"\n{formula_sentence(study_plan, power.formula)}")


def _show_board(board: BoardPower, *, as_json: bool) -> None:
    rows = board.rows.to_dicts()
    if as_json:
        show_json({"claim": board.title, "level": board.level, "note": board.notes[0], "board": rows})
        return
    click.echo(f"{board.title}\n")
    show_table(
        ["prompts", "raters", "half-width", "power", "answers", "hours", "cost"],
        [
            (
                f"{row['prompts']:,}",
                f"{row['raters']:,}" if row["raters"] else "",
                f"± {row['half_width']:.3g}",
                f"{row['power']:.0%}",
                f"{row['answers']:,}" if row["answers"] else "",
                f"{row['hours']:,.1f}" if row["answers"] else "",
                f"{row['cost']:,.0f}" if row["answers"] else "",
            )
            for row in rows
        ],
    )
    click.echo(f"\n{board.notes[0]}")
