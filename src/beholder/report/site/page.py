"""The page: its content, composed from the tables and rendered by the templates."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from beholder.judgements.inclusion import includes_excluded
from beholder.report.charts.agreement import agreement_chart
from beholder.report.charts.board_checks import chroma_chart, curves_chart, slopes_chart
from beholder.report.charts.chart import Chart
from beholder.report.charts.learning import loss_chart, measure_chart
from beholder.report.charts.metrics import TINTS as METRIC_TINTS
from beholder.report.charts.metrics import WORDS as METRIC_WORDS
from beholder.report.charts.metrics import metrics_chart
from beholder.report.charts.raters import MOST_DOTS, exclusion_shapes, raters_chart
from beholder.report.charts.screening import screening_chart
from beholder.report.sections.question import QuestionPart, build_question_part
from beholder.report.sections.rich_models import RichModel, build_rich_models
from beholder.report.sections.round_models import RoundModels, build_round_models
from beholder.report.sections.screening_effect import describe_screening_effect
from beholder.report.sections.summary import write_findings
from beholder.report.site.caveats import Caveats
from beholder.report.site.generator_marks import SHAPE_PATHS, UNRANKED, Mark, generator_marks
from beholder.report.site.images_page import IMAGES_PAGE
from beholder.report.site.templating import template_environment
from beholder.report.site.vega import vega_bundle
from beholder.report.tables.accuracy import accuracies
from beholder.report.tables.basis import Basis, build_basis
from beholder.report.tables.board_checks import BoardChecks, Family, build_board_checks
from beholder.report.tables.comparisons import SIGNS, WORDS
from beholder.report.tables.facts import Fact, build_facts
from beholder.report.tables.glance import Glance, build_glance
from beholder.report.tables.inputs import Inputs
from beholder.report.tables.leaderboard import Board, build_boards, file_stems, select_headlines
from beholder.report.tables.learning import TrainingRun, build_training_runs
from beholder.report.tables.metrics import MetricsPart, build_metrics_parts, format_correlation, format_estimate
from beholder.report.tables.powered import (
    PoweredBoard,
    build_powered_boards,
    group_by_question,
    write_powered_findings,
)
from beholder.report.tables.raters import RaterPool, build_pools, collection_dates
from beholder.report.text.agreement_names import name_statistic
from beholder.stats.intervals.clustered_t import FEWEST_RATERS
from beholder.study.kinds.catalogue import KINDS, AnyQuestion
from beholder.study.protocols.catalogue import PROTOCOLS
from beholder.study.study import Study
from beholder.tables.store import Store

AGREEMENT_WORDS = {"nominal": "agreement with the majority", "ordinal": "correlation with the others’ mean"}
"""What the agreement of a rater is, by the scale of the answers."""


@dataclass(frozen=True, slots=True)
class Page:
    """Everything on the page, before it is rendered as HTML."""

    study: Study
    caveats: Caveats
    facts: tuple[Fact, ...]
    findings: tuple[str, ...]
    glance: Glance | None
    parts: tuple[QuestionPart, ...]
    metrics: tuple[tuple[MetricsPart, Chart | None], ...]
    powered: tuple[tuple[str, tuple[PoweredBoard, ...]], ...]
    """Questions rated by raters and scores together, each with one board per scorer."""
    checks: BoardChecks
    responses: tuple[tuple[Family, Chart, Chart], ...]
    """Settings whose effect was measured, with the slopes and the curves of the measures."""
    chroma: Chart | None
    learning: tuple[tuple[TrainingRun, Chart, Chart], ...]
    rounds: RoundModels | None
    rich: tuple[RichModel, ...]
    pools: tuple[RaterPool, ...]
    raters: tuple[tuple[RaterPool, Chart | None], ...]
    agreement: Chart | None
    screening: tuple[tuple[Board, str, Chart], ...]
    """Boards that screening changed, with a sentence and a chart."""
    basis: Basis
    marks: dict[str, Mark]
    """How each generator is marked, in the order of the first leaderboard."""
    level: float
    fewest_raters: int
    """Fewer raters have no confidence interval."""
    units: Mapping[str, tuple[str, ...]]
    """What confidence intervals generalise over: raters or prompts -> the boards that it applies to."""
    weight: str | None
    """What counts the same in mean scores, ``raters`` or ``answers``; None where there are none."""
    single_images: str
    """File name of the page of single images."""

    @property
    def charts(self) -> tuple[Chart, ...]:
        """Every chart, in the order of the page."""
        charts = [chart for part in self.parts for chart in part.charts]
        charts += [chart for _, chart in self.metrics if chart]
        charts += [chart for _, *both in self.responses for chart in both]
        charts += [self.chroma] if self.chroma else []
        charts += [chart for _, *both in self.learning for chart in both]
        charts += [chart for _, chart in self.raters if chart]
        charts += [chart for _, _, chart in self.screening]
        return (*charts, *([self.agreement] if self.agreement else []))


def compose(study: Study, tables: Inputs, folder: Path) -> Page:
    """The page of a study; ground truth is shown only where all raters are simulated."""
    true_ratings, true_raters = (tables.true_ratings, tables.true_raters) if tables.simulated else (None, None)
    every = build_boards(tables.ratings, tables.separations, true_ratings)
    leading = _in_order(study, select_headlines(every))
    generators = list(dict.fromkeys(row.generator for board in leading for row in board.rows))
    marks = generator_marks(generators)
    aspects = {question.name: KINDS[question.kind].aspects(question) for question in study.questions}
    accuracy = accuracies(tables.checkable, tables.totals)
    pools = build_pools(aspects, tables.sessions, tables.raters, tables.agreement, true_raters, accuracy)
    pool_of = {pool.question: pool for pool in pools}
    checks = build_board_checks(tables.board_marks, tables.dose_responses, tables.dose_steps, tables.chroma)
    parts = tuple(
        build_question_part(
            question,
            pool_of[question.name],
            every,
            leading,
            tables,
            marks,
            folder,
            study.images.background,
        )
        for question in study.questions
    )
    metrics = tuple(_metrics(leading, tables))
    learning = tuple(
        (run, measure_chart(run, f"validation-{place}"), loss_chart(run, f"loss-{place}"))
        for place, run in enumerate(build_training_runs(tables.training), 1)
    )
    responses = tuple(
        (family, slopes_chart(family, f"slopes-{place}"), curves_chart(family, f"doses-{place}"))
        for place, family in enumerate(checks.families, 1)
    )
    chroma = chroma_chart(checks.chroma, marks, "chroma") if checks.chroma else None
    rater_charts = tuple(_rater_charts(study.questions, pool_of))
    agreement = agreement_chart(pools, "agreement")
    screening = tuple(_screening(leading))
    dates = None if tables.simulated else collection_dates(tables.sessions)
    return Page(
        study=study,
        caveats=Caveats(
            simulated=tables.simulated,
            invented=tables.simulated and not tables.synthetic,
            includes_excluded=includes_excluded(Store(folder)),
        ),
        facts=build_facts(tables.sessions, tables.raters, tables.images, generators, dates),
        findings=write_findings(leading, every, pools),
        glance=build_glance(leading),
        parts=parts,
        metrics=metrics,
        powered=group_by_question(build_powered_boards(tables.powered_ratings)),
        checks=checks,
        responses=responses,
        chroma=chroma,
        learning=learning,
        rounds=build_round_models(tables.rounds),
        rich=build_rich_models(study, tables, folder),
        pools=pools,
        raters=rater_charts,
        agreement=agreement,
        screening=screening,
        basis=build_basis(Store(folder), study),
        marks=marks,
        level=study.analysis.level,
        fewest_raters=FEWEST_RATERS,
        units=_units(leading),
        weight=study.analysis.weight if any(board.measure.weighted for board in every) else None,
        single_images=IMAGES_PAGE,
    )


def render(page: Page, provenance: str, stills: dict[str, str]) -> str:
    """The page as one HTML text; ``stills`` are the drawings of the charts, by name."""
    environment = template_environment()
    environment.globals |= {"protocols": PROTOCOLS, "signs": SIGNS, "outcome_words": WORDS}
    environment.globals |= {"exclusion_shapes": exclusion_shapes, "name_statistic": name_statistic}
    environment.globals |= {
        "shape_paths": SHAPE_PATHS,
        "unranked": UNRANKED,
        "estimate": format_estimate,
        "correlation": format_correlation,
    }
    environment.globals |= {"metric_words": METRIC_WORDS, "metric_tints": METRIC_TINTS}
    environment.globals |= {"powered_findings": write_powered_findings, "most_dots": MOST_DOTS}
    return environment.get_template("report.html.j2").render(
        page=page,
        provenance=provenance,
        stills=stills,
        vega=vega_bundle(),
    )


def _units(leading: Sequence[Board]) -> dict[str, tuple[str, ...]]:
    """Raters where nothing has been rated yet, for that is what will be resampled."""
    units = dict.fromkeys(board.measure.resampled for board in leading) or ("raters",)
    return {unit: tuple(board.name for board in leading if board.measure.resampled == unit) for unit in units}


def _in_order(study: Study, leading: Sequence[Board]) -> tuple[Board, ...]:
    """The boards by question, then by aspect in the order of the question."""
    place = {
        (question.name, aspect): (number, rank)
        for number, question in enumerate(study.questions)
        for rank, aspect in enumerate(KINDS[question.kind].aspects(question))
    }
    last = (len(study.questions), 0)
    return tuple(sorted(leading, key=lambda board: place.get((board.question, board.aspect), last)))


def _rater_charts(
    questions: Sequence[AnyQuestion], pool_of: dict[str, RaterPool]
) -> Iterator[tuple[RaterPool, Chart | None]]:
    for question in questions:
        pool = pool_of[question.name]
        numbers = any(own.statistic.endswith(("-ordinal", "-interval")) for own in pool.agreements)
        scale = "ordinal" if numbers else "nominal"
        drawn = len(pool.raters) > pool.unplaced
        name = f"raters-{question.name}"
        yield pool, raters_chart(pool, question.screening, name, AGREEMENT_WORDS[scale]) if drawn else None


def _metrics(leading: Sequence[Board], tables: Inputs) -> Iterator[tuple[MetricsPart, Chart | None]]:
    stems = file_stems(leading)
    for part in build_metrics_parts(leading, tables.correlations, tables.metric_separations):
        yield part, metrics_chart(part, f"{stems[part.board.key]}-metrics")


def _screening(leading: Sequence[Board]) -> Iterator[tuple[Board, str, Chart]]:
    stems = file_stems(leading)
    for board in leading:
        words = describe_screening_effect(board)
        if words:
            yield board, words, screening_chart(board, f"{stems[board.key]}-screening")
