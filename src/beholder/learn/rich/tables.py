"""The paper's four tables: how far models agree with people on scores, both heatmaps and keywords.

A row is a model, or the mean over several that differ in their seed alone; all intervals are over prompts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from beholder.learn.evaluate import Figure, Settings
from beholder.learn.rich.evaluate import Predicted, figures_together
from beholder.learn.rich.examples import RichJudged

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
    """One figure of a table."""

    head: str
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
            Column(f"{aspect} {head}", aspect, statistic)
            for aspect in SCORED
            for head, statistic in (("PLCC", "pearson"), ("SRCC", "spearman"))
        ),
    ),
    *(
        Table(
            f"{aspect}-heatmap",
            f"{aspect.capitalize()} heatmap",
            tuple(Column(head, aspect, statistic) for head, statistic in HEATMAP_COLUMNS),
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
    """A figure of a row; ``spread`` is the standard deviation over models, nan where there is one."""

    figure: Figure
    spread: float = np.nan


@dataclass(frozen=True, eq=False)
class Row:
    """One line of every table."""

    name: str
    models: int
    cells: Mapping[tuple[str, str], Cell]
    """(aspect, statistic) -> figure; what a model does not predict is missing."""

    def cell(self, column: Column) -> Cell | None:
        """The figure of a column."""
        return self.cells.get((column.aspect, column.statistic))


def row_of(name: str, judged: RichJudged, models: Sequence[Mapping[str, Predicted]], settings: Settings) -> Row:
    """The row of one model, or of several together."""
    cells = {
        (one.figure.aspect, one.figure.statistic): Cell(
            one.figure, float(np.std(one.each, ddof=1)) if len(models) > 1 else np.nan
        )
        for one in figures_together(judged, models, settings)
    }
    return Row(name, len(models), cells)


def flat(rows: Sequence[Row]) -> Iterator[dict[str, str | float | int | None]]:
    """One record for each figure of each row, table by table; None where a number is not known."""
    kept = ("aspect", "statistic", "value", "low", "high", "items", "prompts", "interval")
    for table in TABLES:
        for row in rows:
            for column in table.columns:
                if (cell := row.cell(column)) is not None:
                    numbers = {key: value for key, value in asdict(cell.figure).items() if key in kept}
                    whole = {"table": table.name, "row": row.name, "models": row.models, **numbers}
                    yield {key: _known(value) for key, value in {**whole, "spread": cell.spread}.items()}


def _known(value: str | float) -> str | float | None:
    return None if isinstance(value, float) and np.isnan(value) else value
