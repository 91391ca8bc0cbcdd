"""``beholder plan``: how many raters a study needs, and what they cost."""

from dataclasses import asdict

import click
import numpy as np

from beholder.cli.output import show_json, show_table
from beholder.cli.progress import progress_bar
from beholder.design.plan import POWER_MODELS, ClosedForm, Plan, PowerAt, closed_form, power_curve
from beholder.errors import StudyError
from beholder.study.kinds.catalogue import AnyQuestion, kind_of
from beholder.study.protocols.catalogue import PROTOCOLS
from beholder.study.study import Pay

DIFFERENCE = 0.05
"""The difference to be detected where neither the command nor the kind's power model has one."""


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


@click.command()
@click.argument("protocol", type=click.Choice(list(PROTOCOLS)))
@click.option(
    "--difference", type=float, help="To be detected: a proportion, or points of the scale. [default: .05 or .2]"
)
@click.option("--generators", type=click.IntRange(min=2), default=2, show_default=True, help="All are compared.")
@click.option("--raters", "sizes", type=Numbers(), default="10,20,30,60,100,200", show_default=True)
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
@click.option("--accept-low-pay", is_flag=True, help="Plan with less than the least wage of a study all the same.")
@click.option(
    "--studies", type=click.IntRange(min=50), default=400, show_default=True, help="To simulate for each."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON.")
def plan(
    protocol: str,
    difference: float | None,
    generators: int,
    sizes: tuple[int, ...],
    trials: int | None,
    images: int,
    rater_share: float,
    image_share: float,
    baseline: float,
    wage: float,
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
    """
    _require_wage(wage, accepted=accept_low_pay)
    question = _question(protocol, trials)
    study_plan = Plan(
        question,
        _default_difference(question) if difference is None else difference,
        generators=generators,
        images=images,
        rater_share=rater_share,
        image_share=image_share,
        baseline=baseline,
        hourly_wage=wage,
    )
    formula = closed_form(study_plan)
    points: list[PowerAt] = []
    with progress_bar("studies") as progress:
        for number, size in enumerate(sizes):
            rng = np.random.default_rng([seed, size])
            points += power_curve(study_plan, [size], studies=studies, rng=rng)
            progress(number + 1, len(sizes))
    if as_json:
        pay = {"session": study_plan.session_pay, "hourly": wage, "minutes": study_plan.hours_each * 60}
        show_json({"formula": asdict(formula), "power": [asdict(point) for point in points], "pay": pay})
        return
    _say(protocol, study_plan, formula, points)


def _require_wage(wage: float, *, accepted: bool) -> None:
    least = Pay().minimum_hourly
    if wage < least and not accepted:
        raise StudyError(
            "plan",
            [f"a wage of {wage:.2f} an hour; a study's minimum_hourly is {least:.2f}"],
            advice="Raise --wage; to plan with less all the same, say so: --accept-low-pay",
        )


def _question(protocol: str, trials: int | None) -> AnyQuestion:
    question = PROTOCOLS[protocol].questions()[0]
    if trials is None:
        return question
    return question.model_copy(update={"design": question.design.model_copy(update={"trials": trials})})


def _default_difference(question: AnyQuestion) -> float:
    model = kind_of(question).traits.power_model
    return DIFFERENCE if model is None else POWER_MODELS[model].difference


def _say(protocol: str, study_plan: Plan, formula: ClosedForm, points: list[PowerAt]) -> None:
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
        for point in points
    ]
    show_table(["raters", "answers", "power", "95 % CI", "hours", "cost"], rows)
    click.echo(
        f"\nBy formula, for a power of {study_plan.power:.0%}: {formula.independent_answers:,} answers if all "
        f"were independent; × {formula.design_effect:.2f} because each rater gives several = {formula.answers:,}, "
        f"from {formula.raters:,} raters."
    )
