"""All tables, in the order of the loop: each after those that it refers to."""

from beholder.tables.schema import Table
from beholder.tables.schemas import (
    board,
    collect,
    consolidate,
    design,
    imported,
    improve,
    learn,
    measure,
    new,
    rank,
)

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        new.PROMPTS,
        new.IMAGES,
        design.TRIALS,
        collect.SESSIONS,
        collect.ANSWERS,
        collect.SKIPS,
        collect.MARKS,
        imported.TOTALS,
        imported.PUBLISHED,
        imported.PUBLISHED_REGIONS,
        consolidate.RATERS,
        consolidate.JUDGEMENTS,
        consolidate.LABELS,
        consolidate.REGIONS,
        consolidate.THRESHOLDS,
        consolidate.AGREEMENT,
        learn.TRAINING,
        learn.PREDICTIONS,
        learn.LABEL_ERRORS,
        measure.SCORES,
        measure.FEATURES,
        measure.DISTANCES,
        measure.CORRELATIONS,
        measure.METRIC_SEPARATIONS,
        rank.RATINGS,
        rank.SEPARATIONS,
        rank.COMPARISONS,
        board.BOARD,
        board.BOARD_PAIRS,
        board.CLAIMS,
        board.UTILITIES,
        board.BOARD_AGREEMENT,
        board.CURVES,
        improve.CHANGES,
    )
}
