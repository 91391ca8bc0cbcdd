"""Cost: what answers, images and decisions cost in money, hours and energy, and who is worth it.

Energy is never without its method, and never compared across methods. A decision is a pair of entries that a
measure by people separates. What simulated raters cost is what as many people would have cost.
"""

from collections.abc import Iterator

import polars as pl

from beholder.audit.finding import Finding, nothing
from beholder.audit.material import Material
from beholder.study.wages import base_pay
from beholder.tables.schemas.audit import CAUTION, CLEAR


def audit_cost(material: Material) -> Iterator[Finding]:
    """Yield costs of answers, of images and of decisions, and the Pareto front of quality against each cost."""
    findings = [*_answers(material), *_images(material), *_pareto(material)]
    yield from findings or [nothing("It needs answers, or images that were generated here.")]


def _answers(material: Material) -> Iterator[Finding]:
    """Yield money and hours per answer, per judged image, and per decision."""
    sessions, answers = material.table("sessions"), material.table("answers")
    if answers.is_empty():
        return
    pay = sum(_pay(material, row) for row in sessions.iter_rows(named=True) if row["status"] == "complete")
    hours = float(answers["seconds"].sum()) / 3600
    simulated = bool(sessions["simulated"].all())
    images = material.table("judgements")["image"].n_unique() or material.images.height
    people = [name for name, measure in material.measures.items() if measure.source == "people"]
    decided = material.table("board_pairs").filter(
        (pl.col("slice") == "all") & pl.col("separated") & pl.col("measure").is_in(people)
    )
    currency = material.study.pay.currency
    note = "; raters are simulated: this is what as many people would be paid" if simulated else ""
    units = {"answer": answers.height, "judged image": images, "decision": decided.height}
    for unit, count in units.items():
        if not count:
            yield Finding(
                "No decision yet: no pair of entries is significantly different by people.", CAUTION, "raters"
            )
            continue
        plural = f"{count:,} {unit}{'s' if count != 1 else ''}"
        words = f"{pay / count:.3g} {currency} and {hours * 60 / count:.2g} min per {unit} ({plural}){note}."
        yield Finding(
            words, CLEAR, "raters", slice=f"per {unit}", figure=pay / count, unit=f"{currency} per {unit}"
        )
    total = f"All answers together: {pay:,.2f} {currency}, {hours:.1f} hours of answering."
    yield Finding(total, CLEAR, "raters", slice="in all", figure=pay, unit=currency)


def _pay(material: Material, session: dict[str, object]) -> float:
    """Return what a session was paid, or is to be paid."""
    if session["pay"] is not None:
        return float(str(session["pay"]))
    questions = {question.name: question for question in material.study.questions}
    question = questions.get(str(session["question"]))
    return base_pay(material.study, question) if question is not None else 0.0


def _images(material: Material) -> Iterator[Finding]:
    """Yield what an image of each entry costs, with the interval over prompts."""
    for row in material.table("board_costs").sort("measure", "value").iter_rows(named=True):
        interval = "" if row["low"] is None else f" [{row['low']:.2g}, {row['high']:.2g}]"
        words = f"{row['entry']}: {row['value']:.3g}{interval} {row['measure']}, {row['images']:,} images."
        yield Finding(
            words,
            CLEAR,
            row["entry"],
            row["measure"],
            "per image",
            row["value"],
            row["low"],
            row["high"],
            row["level"],
            prompts=row["prompts"],
            raters=0,
            unit=row["measure"],
        )
    energy = material.table("generation_costs")
    if energy.height and energy["energy_wh"].null_count() == energy.height:
        words = "Energy was not measured: no figure is shown without a method (beholder generate --energy)."
        yield Finding(words, CAUTION, slice="energy")


def _pareto(material: Material) -> Iterator[Finding]:
    """Yield for every cost which entries no other beats by quality and cost together."""
    costs = material.table("board_costs").filter(pl.col("pareto").is_not_null())
    for (measure,), rows in costs.sort("measure", "value").group_by("measure", maintain_order=True):
        front = rows.filter("pareto")["entry"].to_list()
        beaten = rows.filter("surely_dominated")["entry"].to_list()
        words = f"By all measures and {measure}, nobody beats {', '.join(front)}"
        words += f"; {', '.join(beaten)} surely is not worth it." if len(beaten) == 1 else ""
        words += f"; {', '.join(beaten)} surely are not worth it." if len(beaten) > 1 else ""
        yield Finding(
            words.rstrip(".") + ".", CLEAR, slice="Pareto", measure=str(measure), figure=float(len(front))
        )
