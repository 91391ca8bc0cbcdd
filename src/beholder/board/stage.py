"""The board stage: every measure of every entry, by slice, with confidence intervals over prompts and raters."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from beholder.board.agreement import agreement_rows
from beholder.board.claims import claim_rows
from beholder.board.costs import cost_measures, cost_rows
from beholder.board.dose_responses import dose_rows
from beholder.board.marks.drift import drift_rows
from beholder.board.marks.overfitting import overfitting_rows
from beholder.board.marks.picked import picked_rows
from beholder.board.marks.rewritten import rewritten_rows
from beholder.board.marks.saturation import ceiling_rows, saturation_rows
from beholder.board.marks.stated import stated_board_rows, stated_rows
from beholder.board.powered import powered_rows
from beholder.board.precision_curves import curve_rows
from beholder.board.rows import board_rows, described_rows, pair_rows
from beholder.board.standings import Standings, standings
from beholder.board.utilities import utility_rows
from beholder.errors import StageError, StatisticsError
from beholder.judgements.measures import Measure, collect_measures
from beholder.study.kinds.catalogue import kind_of
from beholder.study.study import Study, load_study
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Plain
from beholder.tables.stages import BOARD, BOARD_COSTS, STAGES
from beholder.tables.store import Store
from beholder.tables.work import Outcome, Work, perform

STAGE = STAGES["board"]

ALL = "all"
"""The slice of all prompts, and its family."""

Row = dict[str, object]


def run(folder: Path, *, force: bool = False) -> Outcome:
    """Rate the entries by every measure and in every slice, and test the claims of the study file."""
    study, store = load_study(folder), Store(folder)
    settings: dict[str, Plain] = {
        "board": study.board.model_dump(mode="json"),
        "level": study.analysis.level,
    }
    board = perform(store, Work(BOARD, settings, study.seed), lambda tables: _board(tables, study), force=force)
    costs = perform(
        store, Work(BOARD_COSTS, settings, study.seed), lambda tables: _costs(tables, study), force=force
    )
    return Outcome(
        "board",
        skipped=board.skipped and costs.skipped,
        rows={**board.rows, **costs.rows},
        seconds=board.seconds + costs.seconds,
    )


def _board(store: Store, study: Study) -> dict[str, pl.DataFrame]:
    images = store.read("images")
    measures = {
        measure.name: measure
        for measure in collect_measures(
            store.read_or_empty("judgements"),
            images,
            store.read_or_empty("scores"),
            store.read_or_empty("predictions"),
            _scales(study),
        )
    }
    distances = list(_distance_rows(store.read_or_empty("distances"), study.analysis.level))
    if not measures and not distances:
        raise StageError(
            f"{store.folder} has nothing to put on a board: no judgements, scores or distances. Ask raters "
            "(beholder collect) and consolidate, or measure the images (beholder measure)"
        )
    overall: dict[str, Standings] = {}
    rows: list[Row] = []
    pairs: list[Row] = []
    tags = store.read_or_empty("prompt_tags").sort("tag", "prompt")
    for family, name, prompts in _slices(images, tags, study):
        where: Row = {"family": family, "slice": name}
        for measure in measures.values():
            part = measure if prompts is None else measure.on(prompts)
            few = _too_few(part, study.board.fewest_prompts) if prompts is not None else ""
            if part.rows.is_empty():
                continue
            try:
                standing = None if few else standings(part, level=study.analysis.level, seed=study.seed)
            except StatisticsError as error:
                standing, few = None, str(error)
            if standing is None:
                rows += [where | row for row in described_rows(part, few, level=study.analysis.level)]
                continue
            rows += [where | row for row in board_rows(part, standing)]
            pairs += [where | row for row in pair_rows(part, standing, check_fragility=prompts is None)]
            if prompts is None:
                overall[measure.name] = standing
    level = study.analysis.level
    stated = stated_board_rows(study.board.stated, overall, level=level)
    board = TABLES["board"].frame(rows + distances + stated)
    usable = {name: measure for name, measure in measures.items() if name in overall}
    curves = [row for name, s in overall.items() for row in curve_rows(name, s, level=level)]
    responses, steps = dose_rows(study.board.variants, usable, overall, level=level)
    frames = {
        "board_pairs": pairs,
        "claims": claim_rows(study.board.claims, overall, level=level),
        "utilities": utility_rows(board, study.board.weights, seed=study.seed),
        "board_agreement": agreement_rows(usable, overall),
        "curves": curves,
        "board_marks": _marks(store, study, usable, overall),
        "board_powered": powered_rows(usable, study.board.powered_by, level=level),
        "dose_responses": responses,
        "dose_steps": steps,
    }
    return {"board": board} | {name: TABLES[name].frame(rows) for name, rows in frames.items()}


def _marks(
    store: Store, study: Study, measures: Mapping[str, Measure], boards: Mapping[str, Standings]
) -> list[Row]:
    """Return the rows of all checks."""
    level, settings = study.analysis.level, study.board
    held_out, generations = store.read_or_empty("curated_prompts"), store.read_or_empty("generations")
    rows: list[Row] = []
    for name, measure in measures.items():
        rows += overfitting_rows(measure, held_out, level=level)
        rows += ceiling_rows(measure, boards[name], level=level)
        rows += saturation_rows(measure, boards[name], level=level)
    rows += drift_rows(measures, settings.chronology, level=level)
    rows += picked_rows(settings.picked, generations, boards, level=level)
    rows += stated_rows(settings.stated, boards, level=level)
    rows += rewritten_rows(measures, generations, level=level)
    return rows


def _costs(store: Store, study: Study) -> dict[str, pl.DataFrame]:
    level, board = study.analysis.level, store.read("board")
    measures = cost_measures(store.read_or_empty("generation_costs"), store.read_or_empty("generations"))
    rows = [row for measure in measures for row in cost_rows(measure, board, level=level, seed=study.seed)]
    return {"board_costs": TABLES["board_costs"].frame(rows)}


def _scales(study: Study) -> dict[str, tuple[float, float]]:
    """Return the ends of the scale of every question that has one."""
    scales = {question.name: kind_of(question).scale(question) for question in study.questions}
    return {name: scale.ends for name, scale in scales.items() if scale is not None}


def _slices(images: pl.DataFrame, tags: pl.DataFrame, study: Study) -> Iterator[tuple[str, str, pl.Series | None]]:
    """Yield family, name and prompts of every slice; first all prompts, as None.

    A style is a slice where there are at least two; a tag, such as *count*, is that of the curated prompts with
    it.
    """
    yield ALL, ALL, None
    if "tag" in study.board.slices:
        for (tag,), rows in tags.group_by("tag", maintain_order=True):
            yield "tag", str(tag), rows["prompt"].unique()
    if "style" not in study.board.slices:
        return
    styled = images.filter(~pl.col("real") & ~pl.col("gold") & pl.col("style").is_not_null()).select(
        "style", prompt=pl.coalesce("prompt", pl.lit("image ") + pl.col("image"))
    )
    styles = sorted(styled["style"].unique())
    if len(styles) < 2:
        return
    for style in styles:
        yield "style", style, styled.filter(pl.col("style") == style)["prompt"].unique()


def _too_few(measure: Measure, fewest: int) -> str:
    prompts = measure.rows["prompt"].n_unique()
    if prompts >= fewest:
        return ""
    return f"{prompts} prompts: too few for numbers, of which {fewest} are the least"


def _distance_rows(distances: pl.DataFrame, level: float) -> Iterator[Row]:
    """Yield the distances as rows of the board: between sets, so without prompts and without tests of pairs."""
    for row in distances.filter(pl.col("slice") == ALL).iter_rows(named=True):
        reference = "" if row["reference"] in ("real", "none") else f" from {row['reference']}"
        yield {
            "family": ALL,
            "slice": ALL,
            "measure": f"{row['distance']} ({row['encoder'].split('@')[0]}){reference}",
            "source": "distance",
            "better": row["better"],
            "entry": row["generator"],
            "value": row["value"],
            "low": row["low"],
            "high": row["high"],
            "level": level,
            "answers": row["images"],
            "note": "a distance between sets of images: its interval resamples images, and pairs are not tested",
        }
