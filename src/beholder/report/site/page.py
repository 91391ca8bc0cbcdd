"""The page: what it says and shows, put together from the tables and handed to the templates."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from altair.utils.schemapi import debug_mode

from beholder.report.charts.agreement import agreement_chart
from beholder.report.charts.chart import Chart
from beholder.report.charts.learning import loss_chart, measure_chart
from beholder.report.charts.metrics import TINTS as METRIC_TINTS
from beholder.report.charts.metrics import WORDS as METRIC_WORDS
from beholder.report.charts.metrics import metrics_chart
from beholder.report.charts.people import SHAPE_PATHS, people_chart, rules_drawn
from beholder.report.charts.screening import screening_chart
from beholder.report.sections.question import Part, part
from beholder.report.sections.rich_models import RichModel, rich_models
from beholder.report.sections.screening_effect import effect_of_screening
from beholder.report.sections.summary import findings
from beholder.report.site.templating import template_environment
from beholder.report.site.theme import PALETTE, colours
from beholder.report.site.vega import vega_bundle
from beholder.report.tables.accuracy import accuracies
from beholder.report.tables.basis import Basis, basis
from beholder.report.tables.comparisons import SIGNS, WORDS
from beholder.report.tables.facts import Fact, facts
from beholder.report.tables.glance import Glance, glance
from beholder.report.tables.inputs import Inputs
from beholder.report.tables.leaderboard import Board, boards, headlines, slugs
from beholder.report.tables.learning import Learning, learnings
from beholder.report.tables.metrics import MetricsPart, metrics_parts, show, show_interval
from beholder.report.tables.raters import Crowd, crowds, days
from beholder.report.text.agreement_names import statistic_name
from beholder.study.kinds.catalogue import KINDS, AnyQuestion
from beholder.study.protocols.catalogue import PROTOCOLS
from beholder.study.study import Study
from beholder.tables.store import Store

AGREES = {"nominal": "share in line with the majority", "ordinal": "correlation with the others’ mean"}
"""What a person's agreement is, by the scale of the answers."""


@dataclass(frozen=True, slots=True)
class Page:
    """Everything on the page, before it is set in HTML."""

    study: Study
    simulated: bool
    invented: bool
    """Whether the qualities that the made-up people saw were invented too."""
    facts: tuple[Fact, ...]
    findings: tuple[str, ...]
    glance: Glance | None
    parts: tuple[Part, ...]
    metrics: tuple[tuple[MetricsPart, Chart | None], ...]
    learning: tuple[tuple[Learning, Chart, Chart], ...]
    rich: tuple[RichModel, ...]
    crowds: tuple[Crowd, ...]
    people: tuple[tuple[Crowd, Chart | None], ...]
    agreement: Chart | None
    screening: tuple[tuple[Board, str, Chart], ...]
    """Boards that screening changed, in words and drawn."""
    basis: Basis
    colour: dict[str, str]
    level: float
    draws: int

    @property
    def told_by_colour(self) -> bool:
        """Whether each generator has a colour of its own."""
        return len(self.colour) <= len(PALETTE)

    @property
    def charts(self) -> tuple[Chart, ...]:
        """Every chart, in the order of the page."""
        found = [chart for part in self.parts for chart in part.charts]
        found += [chart for _, chart in self.metrics if chart]
        found += [chart for _, *both in self.learning for chart in both]
        found += [chart for _, chart in self.people if chart]
        found += [chart for _, _, chart in self.screening]
        return (*found, *([self.agreement] if self.agreement else []))


def compose(study: Study, tables: Inputs, folder: Path) -> Page:
    """The page of a study; what a made-up world knows is shown only where all its people are made up."""
    true_ratings, true_raters = (tables.true_ratings, tables.true_raters) if tables.simulated else (None, None)
    every = boards(tables.ratings, tables.separations, true_ratings)
    leading = _in_order(study, headlines(every))
    generators = list(dict.fromkeys(row.generator for board in leading for row in board.rows))
    colour = colours(generators)
    aspects = {question.name: KINDS[question.kind].aspects(question) for question in study.questions}
    accuracy = accuracies(tables.judged, tables.totals)
    found = crowds(aspects, tables.sessions, tables.raters, tables.agreement, true_raters, accuracy)
    crowd_of = {crowd.question: crowd for crowd in found}
    with debug_mode(False):  # the charts are checked against Vega-Lite's schema by the tests, not at every build
        parts = tuple(
            part(
                question,
                crowd_of[question.name],
                every,
                leading,
                tables,
                colour,
                folder,
                study.images.background,
            )
            for question in study.questions
        )
        metrics = tuple(_metrics(leading, tables))
        learning = tuple(
            (one, measure_chart(one, f"validation-{place}"), loss_chart(one, f"loss-{place}"))
            for place, one in enumerate(learnings(tables.training), 1)
        )
        people_charts = tuple(_people(study.questions, crowd_of))
        agreement = agreement_chart(found, "agreement")
        screening = tuple(_screening(leading))
    return Page(
        study=study,
        simulated=tables.simulated,
        invented=tables.simulated and not tables.planted,
        facts=facts(tables.sessions, tables.raters, tables.images, generators, days(tables.sessions)),
        findings=findings(leading, every, found),
        glance=glance(leading),
        parts=parts,
        metrics=metrics,
        learning=learning,
        rich=rich_models(study, tables, folder),
        crowds=found,
        people=people_charts,
        agreement=agreement,
        screening=screening,
        basis=basis(Store(folder), study),
        colour=colour,
        level=study.analysis.level,
        draws=study.analysis.draws,
    )


def render(page: Page, provenance: str, stills: dict[str, str]) -> str:
    """The page as one HTML text; ``stills`` are the drawings of the charts, by name."""
    environment = template_environment()
    environment.globals |= {"protocols": PROTOCOLS, "signs": SIGNS, "outcome_words": WORDS}
    environment.globals |= {"rules_drawn": rules_drawn, "statistic_name": statistic_name}
    environment.globals |= {"shape_paths": SHAPE_PATHS, "correlation": show_interval, "one_correlation": show}
    environment.globals |= {"metric_words": METRIC_WORDS, "metric_tints": METRIC_TINTS}
    return environment.get_template("report.html.j2").render(
        page=page,
        provenance=provenance,
        stills=stills,
        vega=vega_bundle(),
    )


def _in_order(study: Study, leading: Sequence[Board]) -> tuple[Board, ...]:
    """The boards as the study asks: by question, then by aspect as the question lists them."""
    place = {
        (question.name, aspect): (number, rank)
        for number, question in enumerate(study.questions)
        for rank, aspect in enumerate(KINDS[question.kind].aspects(question))
    }
    last = (len(study.questions), 0)
    return tuple(sorted(leading, key=lambda board: place.get((board.question, board.aspect), last)))


def _people(questions: Sequence[AnyQuestion], crowd_of: dict[str, Crowd]) -> Iterator[tuple[Crowd, Chart | None]]:
    for question in questions:
        crowd = crowd_of[question.name]
        numbers = any(accord.statistic.endswith(("-ordinal", "-interval")) for accord in crowd.accords)
        scale = "ordinal" if numbers else "nominal"
        drawn = len(crowd.members) > crowd.unplaced
        name = f"people-{question.name}"
        yield crowd, people_chart(crowd, question.screening, name, AGREES[scale]) if drawn else None


def _metrics(leading: Sequence[Board], tables: Inputs) -> Iterator[tuple[MetricsPart, Chart | None]]:
    slug = slugs(leading)
    for one in metrics_parts(leading, tables.correlations, tables.metric_separations):
        yield one, metrics_chart(one, f"{slug[one.board.key]}-metrics")


def _screening(leading: Sequence[Board]) -> Iterator[tuple[Board, str, Chart]]:
    slug = slugs(leading)
    for board in leading:
        words = effect_of_screening(board)
        if words:
            yield board, words, screening_chart(board, f"{slug[board.key]}-screening")
