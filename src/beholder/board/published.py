"""A board in the form of HPS v2's published table: a mean by style, ± the standard deviation of ten groups.

That ± is the spread of the means of ten groups of prompts, about three times the standard error of the mean and no
confidence interval; it is printed for comparison with the published table only.
"""

import numpy as np
import polars as pl

from beholder.errors import UserError
from beholder.judgements.measures import collect_measures
from beholder.tables.store import Store

GROUPS = 10
HPSV2_STYLES = ("animation", "concept-art", "painting", "photo")


def hpsv2_table(store: Store) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return heads and rows: one row per scorer and entry, one column per style, and the mean over all.

    Groups are ten parts of the prompts of a style, in the order of the study.

    Raises:
        UserError: If no image has a style, or nothing was scored.
    """
    images, prompts = store.read("images"), store.read_or_empty("prompts")
    styles = dict(images.filter(pl.col("style").is_not_null()).select("prompt", "style").unique().iter_rows())
    measures = [
        measure
        for measure in collect_measures(
            store.read_or_empty("judgements").clear(),
            images,
            store.read_or_empty("scores"),
            store.read_or_empty("predictions"),
        )
        if measure.source != "people"
    ]
    if not styles or not measures:
        lacking = "no image has a style" if not styles else "nothing was scored (beholder measure)"
        raise UserError(f"HPS v2's form needs scores by style: {lacking}")
    order = {prompt: number for number, prompt in enumerate(prompts["prompt"])}
    names = sorted(set(styles.values()), key=lambda s: (s not in HPSV2_STYLES, s))
    rows = []
    for measure in measures:
        by_style = measure.rows.with_columns(
            style=pl.col("prompt").replace_strict(styles, default=None, return_dtype=pl.String),
            place=pl.col("prompt").replace_strict(order, default=0, return_dtype=pl.Int64),
        ).drop_nulls("style")
        for (entry,), part in by_style.group_by("entry", maintain_order=True):
            cells = [_cell(part.filter(pl.col("style") == style)) for style in names]
            averages = [part.filter(pl.col("style") == style)["value"].mean() for style in names]
            mean = np.mean([float(str(average)) for average in averages if average is not None])
            rows.append((measure.name, str(entry), *cells, f"{mean:.2f}"))
    return ("measure", "entry", *names, "averaged"), rows


def _cell(rows: pl.DataFrame) -> str:
    by_prompt = rows.group_by("prompt", "place").agg(pl.col("value").mean()).sort("place")["value"].to_numpy()
    if len(by_prompt) < GROUPS:
        return "–" if len(by_prompt) == 0 else f"{by_prompt.mean():.2f}"
    means = [part.mean() for part in np.array_split(by_prompt, GROUPS)]
    return f"{by_prompt.mean():.2f} ± {np.std(means):.3f}"
