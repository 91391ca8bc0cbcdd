"""The paper's four tables: how well models agree with raters on scores, both heatmaps and keywords.

A row is a model, or the mean over several that differ only in their seed; all confidence intervals are over
prompts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from beholder.learn.figures.figure import EvaluationSettings, Figure
from beholder.learn.rich.evaluate import Comparison, MeanFigure, mean_figures
from beholder.learn.rich.examples import RichLabels
from beholder.learn.rich.statistics import RichPrediction

HEATMAP_COLUMNS = (
    ("MSE", "heatmap-mse"),
    ("MSE empty", "heatmap-mse-empty"),
    ("CC", "heatmap-cc"),
    ("KLD", "heatmap-kld"),
    ("SIM", "heatmap-sim"),
    ("NSS", "heatmap-nss"),
    ("AUC-Judd", "heatmap-auc-judd"),
)
SCORED = ("plausibility", "aesthetics", "alignment", "overall")


@dataclass(frozen=True, slots=True)
class Column:
    """One statistic of a table."""

    heading: str
    aspect: str
    statistic: str


@dataclass(frozen=True, slots=True)
class Table:
    """One table of the paper."""

    name: str
    title: str
    columns: tuple[Column, ...]


TABLES = (
    Table(
        "scores",
        "Scores",
        tuple(
            Column(f"{aspect} {heading}", aspect, statistic)
            for aspect in SCORED
            for heading, statistic in (("PLCC", "pearson"), ("SRCC", "spearman"))
        ),
    ),
    *(
        Table(
            f"{aspect}-heatmap",
            f"{aspect.capitalize()} heatmap",
            tuple(Column(heading, aspect, statistic) for heading, statistic in HEATMAP_COLUMNS),
        )
        for aspect in ("implausibility", "misalignment")
    ),
    Table(
        "keywords",
        "Misaligned keywords",
        tuple(
            Column(f"{measure} {pooling.replace('-', ' ')}", "misalignment", f"keyword-{measure}-{pooling}")
            for pooling in ("pooled", "by-image")
            for measure in ("precision", "recall", "f1")
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure of a row; ``spread`` is the standard deviation over models, nan if there is only one."""

    figure: Figure
    spread: float = np.nan


@dataclass(frozen=True, eq=False)
class Row:
    """One row of every table."""

    name: str
    models: int
    cells: Mapping[tuple[str, str], Cell]
    """(aspect, statistic) -> cell; what a model does not predict is missing."""

    def cell(self, column: Column) -> Cell | None:
        """Return the figure of a column."""
        return self.cells.get((column.aspect, column.statistic))


def evaluate_row(
    name: str,
    rich_labels: RichLabels,
    predictions_by_model: Sequence[Mapping[str, RichPrediction]],
    settings: EvaluationSettings,
) -> Row:
    """Return the row of one model, or of the mean of several."""
    return _row(name, mean_figures(rich_labels, predictions_by_model, settings))


def compared_row(name: str, comparison: Comparison, models: Sequence[str]) -> Row:
    """Return the row of the mean over some of the models of a comparison."""
    return _row(name, comparison.means(models))


def _row(name: str, means: Sequence[MeanFigure]) -> Row:
    cells = {
        (mean.figure.aspect, mean.figure.statistic): Cell(
            mean.figure, float(np.std(mean.values, ddof=1)) if len(mean.values) > 1 else np.nan
        )
        for mean in means
    }
    return Row(name, len(means[0].values) if means else 0, cells)


def flatten_rows(rows: Sequence[Row]) -> Iterator[dict[str, str | float | int | None]]:
    """Yield one record per figure, table by table and row by row; None where a number is not known."""
    figure_columns = ("aspect", "statistic", "value", "low", "high", "items", "prompts", "interval")
    for table in TABLES:
        for row in rows:
            for column in table.columns:
                if (cell := row.cell(column)) is not None:
                    numbers = {key: value for key, value in asdict(cell.figure).items() if key in figure_columns}
                    record = {"table": table.name, "row": row.name, "models": row.models, **numbers}
                    yield {key: _none_for_nan(value) for key, value in {**record, "spread": cell.spread}.items()}


def _none_for_nan(value: str | float) -> str | float | None:
    return None if isinstance(value, float) and np.isnan(value) else value
