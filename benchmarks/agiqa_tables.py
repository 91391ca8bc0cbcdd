"""Tables and charts of ``benchmarks/agiqa_learn.py``: accuracy, ablations, partial correlations of scores."""

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import polars as pl
import vl_convert
from numpy.typing import NDArray
from scipy.stats import rankdata

from beholder.learn.examples import read_labelled_images
from beholder.learn.figures.figure import Figure
from beholder.learn.recipe import Recipe
from beholder.learn.splits import split
from beholder.report.site.theme import chart_config, in_daylight, var
from beholder.tables.store import Store

FiguresByVariant = Mapping[str, Sequence[Figure]]
"""Variant -> its evaluation figures."""

Numbers = NDArray[np.float64]
ASPECTS = ("quality", "alignment")
SHIPPED = "joint-0"
"""The variant that is the shipped recipe, unchanged."""
REPLICATES = 400
STATISTICS = (
    "spearman",
    "pearson",
    "kendall",
    "rmse",
    "spearman-within-generators",
    "pair-accuracy-micro",
    "pair-accuracy-macro",
)
WORDS = {
    "joint-0": "both together",
    "blind-0": "both, without attention across them",
    "single-{}": "alone",
    "transfer-{}": "after the other",
    "frozen-{}": "after the other, shared part frozen",
    "four": "both together, four networks",
}
"""Variants by which metrics were trained together; those with braces exist once per aspect."""


def show(figures_by_variant: FiguresByVariant, folder: Path, recipe: Recipe, seeds: Sequence[int]) -> None:
    """Print all tables, in Markdown."""
    table = scores(folder)
    print("\n## The recipe\n")
    _print_recipe(figures_by_variant[SHIPPED])
    print("\n## By fold\n")
    _print_folds(table, fold_of(folder, recipe))
    both = [seed for seed in seeds if {f"joint-{seed}", f"blind-{seed}"} <= set(figures_by_variant)]
    if len(both) > 1:
        print("\n## With and without attention across metrics\n")
        _print_ablation(table, both)
    print("\n## Alone, together, one after the other\n")
    _print_variants(figures_by_variant)
    print("\n## Which score explains which opinion\n")
    _print_explained(table)


def scores(folder: Path) -> pl.DataFrame:
    """Return one row per image: prompt, generator, mean opinion scores, and every variant's held-out scores."""
    store = Store(folder)
    images = store.read("images").select("image", "prompt", "generator")
    means = store.read("labels").pivot("aspect", index="image", values="value")
    out = store.read("predictions").filter("held_out")
    named = pl.col("model") + " " + pl.col("aspect")
    wide = out.with_columns(name=named).pivot("name", index="image", values="score")
    return images.join(means, on="image").join(wide, on="image").sort("image")


def _print_recipe(figures: Sequence[Figure]) -> None:
    print("| | " + " | ".join(f"{aspect} | baseline | raters" for aspect in ASPECTS) + " |")
    print("|---|" + "---|" * 3 * len(ASPECTS))
    for statistic in STATISTICS:
        by_aspect = {figure.aspect: figure for figure in figures if figure.statistic == statistic}
        cells = [
            f"{_with_interval(figure)} | {_number(figure.floor)} | {_number(figure.ceiling)}"
            for figure in (by_aspect[aspect] for aspect in ASPECTS)
        ]
        print(f"| {statistic} | {' | '.join(cells)} |")


def _print_folds(table: pl.DataFrame, folds: Mapping[str, int]) -> None:
    """Print correlations on the images of each fold."""
    print("| fold | images | quality SRCC | PLCC | alignment SRCC | PLCC |\n|---|---|---|---|---|---|")
    for fold in sorted(set(folds.values())):
        rows = table.filter(
            pl.col("image").is_in([image for image, held_out_in in folds.items() if held_out_in == fold])
        )
        cells = []
        for aspect in ASPECTS:
            opinions, model = rows[aspect].to_numpy(), rows[f"{SHIPPED} {aspect}"].to_numpy()
            cells += [_number(_spearman(model, opinions)), _number(_pearson(model, opinions))]
        print(f"| {fold + 1} | {rows.height} | {' | '.join(cells)} |")


def fold_of(folder: Path, recipe: Recipe) -> dict[str, int]:
    """Return the fold in which each image was held out."""
    splits = split(read_labelled_images(Store(folder), recipe.data).items, recipe.split)
    return {image: each.fold for each in splits for image in each.of("test")}


def _print_ablation(table: pl.DataFrame, seeds: Sequence[int]) -> None:
    """Print mean ± standard deviation over seeds, and the difference with a confidence interval over prompts."""
    print("| | seen | blind | seen − blind |\n|---|---|---|---|")
    prompts = np.unique(table["prompt"].to_numpy(), return_inverse=True)[1]
    replicates = _replicates(prompts)
    for aspect, (name, statistic) in product(ASPECTS, (("SRCC", _spearman), ("PLCC", _pearson))):
        opinions = table[aspect].to_numpy()
        arms = [[table[f"{arm}-{seed} {aspect}"].to_numpy() for seed in seeds] for arm in ("joint", "blind")]
        values = np.array([[statistic(scores_of_seed, opinions) for scores_of_seed in arm] for arm in arms])
        differences = [
            np.mean([statistic(scores_of_seed[rows], opinions[rows]) for scores_of_seed in arms[0]])
            - np.mean([statistic(scores_of_seed[rows], opinions[rows]) for scores_of_seed in arms[1]])
            for rows in replicates
        ]
        low, high = np.quantile(differences, (0.025, 0.975))
        cells = [f"{_number(float(row.mean()), 4)} ± {_number(float(row.std(ddof=1)), 4)}" for row in values]
        difference = _number(float(values[0].mean() - values[1].mean()), 4)
        print(f"| {aspect} {name} | {' | '.join(cells)} | {difference} [{_number(low, 4)}, {_number(high, 4)}] |")


def _print_variants(figures_by_variant: FiguresByVariant) -> None:
    print("| learned | quality SRCC | PLCC | alignment SRCC | PLCC |\n|---|---|---|---|---|")
    for words, of_aspect in _complete_variants(figures_by_variant).items():
        cells = [
            _with_interval(_figure(of_aspect[aspect], aspect, statistic))
            for aspect, statistic in product(ASPECTS, ("spearman", "pearson"))
        ]
        print(f"| {words} | {' | '.join(cells)} |")


def _complete_variants(figures_by_variant: FiguresByVariant) -> dict[str, dict[str, Sequence[Figure]]]:
    """Return description -> aspect -> figures, of the variants that are trained for both aspects."""
    named = {words: {aspect: way.format(aspect) for aspect in ASPECTS} for way, words in WORDS.items()}
    return {
        words: {aspect: figures_by_variant[name] for aspect, name in names.items()}
        for words, names in named.items()
        if all(name in figures_by_variant for name in names.values())
    }


def _figure(figures: Sequence[Figure], aspect: str, statistic: str) -> Figure:
    (figure,) = (row for row in figures if row.aspect == aspect and row.statistic == statistic)
    return figure


def _print_explained(table: pl.DataFrame) -> None:
    """Print Spearman correlations of each score with each opinion, plain and partial given the other score."""
    print("| score | opinion | plain | given the other score |\n|---|---|---|---|")
    for row in explained(table):
        plain, partial = (_range(*row[part]) for part in ("plain", "given"))
        print(f"| {row['score']} | {row['opinion']} | {plain} | {partial} |")


def explained(table: pl.DataFrame) -> list[dict[str, Any]]:
    """Return value, low and high of each correlation; confidence intervals over prompts."""
    prompts = np.unique(table["prompt"].to_numpy(), return_inverse=True)[1]
    replicates = _replicates(prompts)
    correlations = []
    for score, opinion in product(ASPECTS, ASPECTS):
        other = ASPECTS[1 - ASPECTS.index(score)]
        score_values, other_values, opinions = (
            table[name].to_numpy() for name in (f"{SHIPPED} {score}", f"{SHIPPED} {other}", opinion)
        )
        plain = [_spearman(score_values[rows], opinions[rows]) for rows in replicates]
        partial = [_partial(score_values[rows], opinions[rows], other_values[rows]) for rows in replicates]
        correlations.append(
            {
                "score": score,
                "opinion": opinion,
                "plain": (_spearman(score_values, opinions), *np.quantile(plain, (0.025, 0.975))),
                "given": (_partial(score_values, opinions, other_values), *np.quantile(partial, (0.025, 0.975))),
            }
        )
    return correlations


def _partial(first: Numbers, second: Numbers, third: Numbers) -> float:
    """Return the partial rank correlation of two variables given a third."""
    a, b, c = _spearman(first, second), _spearman(first, third), _spearman(second, third)
    return float((a - b * c) / np.sqrt((1 - b**2) * (1 - c**2)))


def _replicates(prompts: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return bootstrap replicates of rows: prompts resampled, all images of a prompt together."""
    rng = np.random.default_rng(0)
    rows = [np.flatnonzero(prompts == number) for number in range(int(prompts.max()) + 1)]
    return [
        np.concatenate([rows[number] for number in rng.integers(len(rows), size=len(rows))])
        for _ in range(REPLICATES)
    ]


def _spearman(first: Numbers, second: Numbers) -> float:
    return _pearson(rankdata(first), rankdata(second))


def _pearson(first: Numbers, second: Numbers) -> float:
    return float(np.corrcoef(first, second)[0, 1])


def draw(figures_by_variant: FiguresByVariant, folder: Path, images: Path) -> None:
    """Write both charts, as PNG."""
    _save(_agreement_chart(figures_by_variant), images / "agiqa-learn.webp")
    _save(_explained_chart(explained(scores(folder))), images / "agiqa-explained.webp")


def _agreement_chart(figures_by_variant: FiguresByVariant) -> alt.HConcatChart:
    """Return a chart of each variant's rank correlation with raters, with baseline and human ceiling."""
    done = _complete_variants(figures_by_variant)
    panels = []
    for aspect in ASPECTS:
        figures = {words: _figure(of_aspect[aspect], aspect, "spearman") for words, of_aspect in done.items()}
        rows = [
            {
                "way": words,
                "value": figure.value,
                "low": figure.low,
                "high": figure.high,
                "text": _number(figure.value),
            }
            for words, figure in figures.items()
        ]
        base = alt.Chart(alt.InlineData(values=rows), title=aspect)
        first = aspect == ASPECTS[0]
        axis = alt.Axis(labelLimit=260, title=None, grid=False, labels=first, ticks=False)
        y = alt.Y("way:N", sort=list(done), axis=axis)
        baseline = next(iter(figures.values())).floor
        scale = alt.Scale(domain=[0.55, 0.9], zero=False)
        x = alt.X(
            "value:Q", scale=scale, title="rank correlation with raters", axis=alt.Axis(format=".2f", tickCount=4)
        )
        rule = alt.Chart(alt.InlineData(values=[{"floor": baseline, "text": "generator baseline"}]))
        line = rule.mark_rule(color=var("warn"), strokeDash=[4, 3]).encode(x=alt.X("floor:Q", scale=scale))
        label = rule.mark_text(align="left", dx=4, dy=-6, color=var("warn"), fontSize=12).encode(
            x=alt.X("floor:Q", scale=scale), y=alt.value(0), text="text:N"
        )
        span = base.mark_rule(color=var("tint"), strokeWidth=3).encode(
            y=y, x=alt.X("low:Q", scale=scale), x2="high:Q"
        )
        dot = base.mark_point(filled=True, size=80, opacity=1, color=var("accent")).encode(y=y, x=x)
        number = base.mark_text(dy=-11, fontSize=12, color=var("ink")).encode(y=y, x=x, text="text:N")
        panels.append(alt.layer(line, label, span, dot, number).properties(width=290, height=44 * len(rows)))
    return alt.hconcat(*panels, spacing=28)


def _explained_chart(rows: Sequence[Mapping[str, Any]]) -> alt.HConcatChart:
    """Return two heatmaps: correlation of each score with each opinion, plain and given the other score."""
    panels = []
    titles = {"plain": "plain", "given": "given the other score"}
    for part, title in titles.items():
        cells = [
            {"score": f"{row['score']} score", "opinion": row["opinion"], "value": row[part][0]}
            | {"text": _number(row[part][0]), "range": f"{_number(row[part][1])} to {_number(row[part][2])}"}
            for row in rows
        ]
        base = alt.Chart(alt.InlineData(values=cells), title=title)
        first = part == "plain"
        order = [f"{aspect} score" for aspect in ASPECTS]
        x = alt.X("opinion:N", sort=ASPECTS, title="raters’ opinion of", axis=alt.Axis(labelAngle=0, grid=False))
        y = alt.Y("score:N", sort=order, title=None, axis=alt.Axis(grid=False, labels=first, ticks=False))
        strength = alt.FillOpacity("value:Q", scale=alt.Scale(domain=[0, 1], range=[0.0, 0.75]), legend=None)
        square = base.mark_rect(fill=var("tint"), stroke=var("line"), cornerRadius=2).encode(
            x=x, y=y, fillOpacity=strength
        )
        number = base.mark_text(fontSize=22, dy=-8, color=var("ink")).encode(x=x, y=y, text="text:N")
        span = base.mark_text(fontSize=12, dy=16, color=var("ink")).encode(x=x, y=y, text="range:N")
        panels.append(alt.layer(square, number, span).properties(width=260, height=220))
    return alt.hconcat(*panels, spacing=28)


def _save(chart: alt.HConcatChart, path: Path) -> None:
    title = {"title": {"fontSize": 14, "fontWeight": 600, "color": var("ink"), "offset": 14}}
    spec = chart.to_dict(validate=False)
    spec |= {"config": chart_config() | title, "background": var("paper"), "padding": 16}
    path.write_bytes(vl_convert.svg_to_png(in_daylight(str(vl_convert.vegalite_to_svg(spec))), scale=2))


def _with_interval(figure: Figure) -> str:
    return _range(figure.value, figure.low, figure.high)


def _range(value: float, low: float, high: float) -> str:
    return f"{_number(value)} [{_number(low)}, {_number(high)}]" if np.isfinite(low) else _number(value)


def _number(value: float, digits: int = 3) -> str:
    if not np.isfinite(value):
        return "–"
    return f"{value:.{digits}f}".replace("-", "−").replace("0.", ".", 1)
