"""``beholder plan``: how many people a study needs, and what they cost."""

from dataclasses import asdict

import click
import numpy as np

from beholder.cli.output import show_json, show_table
from beholder.cli.progress import progress_bar
from beholder.design.plan import POWER_MODELS, ClosedForm, Plan, PowerAt, closed_form, power_curve
from beholder.study.kinds.catalogue import AnyQuestion, kind_of
from beholder.study.protocols.catalogue import PROTOCOLS

DIFFERENCE = 0.05
"""What is to be found where neither the command nor the kind's power model says."""


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
    "--difference", type=float, help="To be found: a share, or points of the scale. [default: .05 or .2]"
)
@click.option("--generators", type=click.IntRange(min=2), default=2, show_default=True, help="All are compared.")
@click.option("--people", "sizes", type=Numbers(), default="10,20,30,60,100,200", show_default=True)
@click.option("--trials", type=click.IntRange(min=1), help="A person's trials. [default: the protocol's]")
@click.option("--images", type=click.IntRange(min=2), default=100, show_default=True, help="Of each generator.")
@click.option("--people-share", type=float, default=0.05, show_default=True, help="Variance that lies in people.")
@click.option("--image-share", type=float, default=0.05, show_default=True, help="Variance that lies in images.")
@click.option("--baseline", type=float, default=0.5, show_default=True, help="Error rate of the better generator.")
@click.option("--wage", type=click.FloatRange(min=0), default=12.0, show_default=True, help="Pay an hour.")
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
    people_share: float,
    image_share: float,
    baseline: float,
    wage: float,
    studies: int,
    seed: int,
    *,
    as_json: bool,
) -> None:
    """Simulate a study to see how many people it needs, at what cost.

    Studies of PROTOCOL with two generators that differ are simulated, people and images varying, and each is
    analysed as the ratings are. Power is the share of them that tell the two apart at a level that allows for all
    pairs of generators. With --people-share 0 the answers are independent, and the formula's numbers come out.
    """
    question = _question(protocol, trials)
    wanted = Plan(
        question,
        _default_difference(question) if difference is None else difference,
        generators=generators,
        images=images,
        people_share=people_share,
        image_share=image_share,
        baseline=baseline,
        hourly_wage=wage,
    )
    formula = closed_form(wanted)
    points: list[PowerAt] = []
    with progress_bar("studies") as progress:
        for number, size in enumerate(sizes):
            rng = np.random.default_rng([seed, size])
            points += power_curve(wanted, [size], studies=studies, rng=rng)
            progress(number + 1, len(sizes))
    if as_json:
        show_json({"formula": asdict(formula), "power": [asdict(point) for point in points]})
        return
    _say(protocol, wanted, formula, points)


def _question(protocol: str, trials: int | None) -> AnyQuestion:
    question = PROTOCOLS[protocol].questions()[0]
    if trials is None:
        return question
    return question.model_copy(update={"design": question.design.model_copy(update={"trials": trials})})


def _default_difference(question: AnyQuestion) -> float:
    model = kind_of(question).traits.power_model
    return DIFFERENCE if model is None else POWER_MODELS[model].difference


def _say(protocol: str, wanted: Plan, formula: ClosedForm, points: list[PowerAt]) -> None:
    size = "" if wanted.model is None else wanted.model.size(wanted.difference)
    click.echo(
        f"{protocol}: to tell two of {wanted.generators} generators apart that differ by {size}\n"
        f"{wanted.answers_each} answers a person about the two; {wanted.images} images a generator; "
        f"{wanted.people_share:.0%} of the variance lies in people\n"
    )
    rows = [
        (
            f"{point.people:,}",
            f"{point.answers:,}",
            f"{point.power.value:.0%}",
            f"{point.power.low:.0%}–{point.power.high:.0%}",
            f"{point.hours:,.1f}",
            f"{point.cost:,.0f}",
        )
        for point in points
    ]
    show_table(["people", "answers", "power", "95 % interval", "hours", "cost"], rows)
    click.echo(
        f"\nBy formula, for a power of {wanted.power:.0%}: {formula.independent_answers:,} answers if all were "
        f"independent; × {formula.design_effect:.2f} because each person gives several = {formula.answers:,}, "
        f"from {formula.people:,} people."
    )
