"""Metrics against people in Python: ``beholder.measure(study)``."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from beholder.api.results import are_ratings_current, load_results
from beholder.api.study_folder import StudyFolder, folder_of
from beholder.distances.aliases import resolve_distances
from beholder.engines.engine import Engine
from beholder.errors import UserError
from beholder.measure.settings import OFFLINE, SIMPLE, MeasureSettings
from beholder.measure.stage import run
from beholder.report.text.metric_verdict import Verdict, verdicts
from beholder.scorers.aliases import resolve_scorers
from beholder.scorers.catalogue import SCORERS, default_scorers, learned_scorer_remark
from beholder.scorers.remarks import shift_remarks, training_remark
from beholder.stats.frames.result_table import ResultTable, frame_of
from beholder.tables.store import Store
from beholder.tables.work import Outcome

logger = logging.getLogger(__name__)

NO_RATINGS = "No ratings to compare metrics with yet: beholder rank {folder}"
OLD_RATINGS = (
    "The answers have changed since the ratings were computed, with which metrics are compared here. "
    "Compute them again, then measure again: beholder rank {folder}"
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MetricTable(ResultTable):
    """How far each metric orders the generators as raters do: one row per question and metric."""

    verdicts: tuple[Verdict, ...] = ()
    """Which metrics to trust, in words, for every question."""
    outcome: Outcome
    """What was computed; the tables ``scores``, ``distances`` and ``correlations`` of the study have all of it."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What was computed, and which metrics to trust."""

    outcome: Outcome
    caveats: tuple[str, ...]
    """Why the verdicts may be no finding: simulated raters, included ones, answers that have changed since."""
    verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...]


def measure(
    study: str | Path | StudyFolder,
    *,
    metrics: Sequence[str] = (),
    scorers: Sequence[str] = (),
    encoder: str | None = None,
    encoder_weights: str | None = None,
    weights: Mapping[str, str] | None = None,
    published: str | Path | None = None,
    skip_broken: bool = False,
    force: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> MetricTable:
    """Compute metrics of a study's images, and see which agree with raters, as ``beholder measure`` does.

    Args:
        study: The study, or its folder; with ratings, for metrics to be compared with.
        metrics: Distances to the real images; all that need no training images or classifier by default.
        scorers: Of single images; by default all that need no weights but those of installed packages.
        encoder: Whose features distances are taken over. By default ``efficientnet-lite0``, which works offline.
        encoder_weights: Its weights: a folder, a file or a hub name.
        weights: Of the scorers' networks, by name.
        published: CSV of figures computed elsewhere: a column ``generator``, each other a metric.
        skip_broken: Leave broken images out, instead of an error that lists them.
        force: Do the work even if nothing it depends on has changed.
        progress: Called with what is being done, how much of it is done, and how much there is.

    Returns:
        The rank correlation of every metric with raters over generators, positive where it agrees, with its
        confidence interval; its ``verdicts`` say in words which to trust.

    Example:
        >>> import beholder as bh
        >>> agreement = bh.measure("my-study", metrics=["vendi"], scorers=["sharpness"], encoder="pixel")
        >>> sorted(agreement["metric"].tolist())  # those two, and the model that was trained on the study
        ['sharpness', 'tiny-two-tower/out-of-fold', 'vendi (pixel)']
    """
    folder = folder_of(study)
    settings, recipes = measure_settings(
        metrics,
        scorers,
        encoder=encoder,
        encoder_weights=encoder_weights,
        weights=weights,
        published=None if published is None else Path(published),
        skip_broken=skip_broken,
    )
    measured = measure_study(folder, settings, force=force, progress=progress)
    listed = [
        (verdict.question, verdict.aspect, metric) for verdict in measured.verdicts for metric in verdict.metrics
    ]
    columns: dict[str, list[object]] = {
        "question": [question for question, _, _ in listed],
        "aspect": [aspect for _, aspect, _ in listed],
        "metric": [metric.name for _, _, metric in listed],
        "spearman": [metric.rho for _, _, metric in listed],
        "low": [metric.low for _, _, metric in listed],
        "high": [metric.high for _, _, metric in listed],
        "standing": [metric.standing for _, _, metric in listed],
    }
    sentences = [f"{verdict.question} · {verdict.aspect}: {verdict.sentences[0]}" for verdict in measured.verdicts]
    return MetricTable(
        title="rank correlation of metrics with raters, over generators",
        rows=frame_of(columns),
        method="over generators",
        estimate="spearman",
        keys=3,
        level=StudyFolder(folder).settings.analysis.level,
        notes=(*recipes, *measured.caveats, *sentences, *measured.notes),
        reference=0.0,
        unit="rank correlation with raters",
        verdicts=measured.verdicts,
        outcome=measured.outcome,
    )


def measure_settings(
    metrics: Sequence[str],
    scorers: Sequence[str],
    *,
    encoder: str | None,
    encoder_weights: str | None,
    weights: Mapping[str, str] | None,
    published: Path | None,
    skip_broken: bool,
) -> tuple[MeasureSettings, tuple[str, ...]]:
    """Return the settings that names stand for, and a line for each published name among them."""
    named = resolve_distances(metrics or SIMPLE, encoder, None, OFFLINE)
    faults = list(named.faults)
    if len(named.by_encoder) > 1:
        faults.append(f"distances of one study need one encoder; these need {', '.join(named.by_encoder)}")
    if faults:
        raise UserError("\n".join(faults))
    ((chosen_encoder, chosen_distances),) = named.by_encoder.items()
    chosen_scorers, scorer_recipes = resolve_scorers(scorers or default_scorers())
    settings = MeasureSettings(
        encoder=chosen_encoder,
        encoder_weights=encoder_weights,
        distances=chosen_distances,
        scorers=chosen_scorers,
        weights=dict(weights or {}),
        published=published,
        skip_broken=skip_broken,
    )
    return settings, (*named.recipes, *scorer_recipes)


def measure_study(
    folder: Path,
    settings: MeasureSettings,
    *,
    force: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
    engine: Engine | None = None,
) -> Measured:
    """Run the stage, and say which metrics to trust, and what to know about scorers trained on other images."""
    outcome = run(folder, force=force, measuring=settings, progress=progress, engine=engine)
    store = Store(folder)
    all_verdicts = tuple(verdicts(store.read("correlations"), store.read("metric_separations")))
    notes = [] if all_verdicts else [NO_RATINGS.format(folder=folder)]
    caveats = load_results(folder).caveats("metrics") if all_verdicts else []
    caveats += [] if are_ratings_current(store) else [OLD_RATINGS.format(folder=folder)]
    return Measured(outcome, tuple(caveats), all_verdicts, (*notes, *scorer_remarks(store, settings.scorers)))


def scorer_remarks(store: Store, scorers: Sequence[str]) -> list[str]:
    """Return which of the study's images a scorer was trained on, and whether the others are unlike those."""
    images, scores = store.read("images").filter(~pl.col("gold")), store.read("scores")
    remarks: list[str] = []
    for name in scorers:
        if training := SCORERS[name].training_images:
            trained = sum(sha256 in training() for sha256 in images["sha256"])
            remark = training_remark(name, training().data_set, trained, images.height)
            remarks += [remark] if remark else []
    companions = {name: companion for name in scorers if (companion := SCORERS[name].companion)}
    shifts = {name: scores.filter(scorer=name)["score"].to_list() for name in companions.values()}
    lacking = learned_scorer_remark(scorers)
    return [*remarks, *shift_remarks(companions, shifts), *([lacking] if lacking else [])]
