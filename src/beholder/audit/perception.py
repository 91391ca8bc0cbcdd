"""Perception: what people see in the images of each entry, in their own judgement: options of a ``choice``.

People answer, with *cannot tell* and *several* among the options, and with all ten Monk skin tones as swatches
where tones are asked for. No classifier is used: those are biased themselves. The proportion of every option has
its interval over raters and prompts; an option far below its even share among those that people named is pointed
out, and what share would be right is not for an audit to say.
"""

from collections.abc import Iterator

import numpy as np
import polars as pl

from beholder.audit.finding import Finding, nothing
from beholder.audit.material import Material
from beholder.judgements.coding import CATEGORY
from beholder.stats.intervals.crossed_t import crossed_means, crossed_t
from beholder.study.kinds.catalogue import AnyQuestion, kind_of
from beholder.tables.schemas.audit import CAUTION, CLEAR, UNDECIDED

CANNOT_TELL, SEVERAL = "cannot-tell", "several"
"""Options that name nothing."""

RARE = 0.5
"""An option is rare where its interval lies below this part of an even share."""
UNCLEAR = 0.3
"""More answers of *cannot tell* than this say that the question cannot be answered from the images."""


def audit_perception(material: Material) -> Iterator[Finding]:
    """Yield for every question of kind ``choice`` and every entry the proportion of each option."""
    questions = [q for q in material.study.questions if kind_of(q).coding(q).value_kind == CATEGORY]
    if not questions:
        yield nothing(
            "It needs a question of the kind choice: people say what they see, with cannot tell and several "
            "among the options. No classifier is asked instead."
        )
        return
    for question in questions:
        chosen = choices(material, question)
        if chosen.is_empty():
            yield nothing(f"Nobody has answered '{question.name}' yet.")
            continue
        for (entry,), rows in chosen.sort("entry").group_by("entry", maintain_order=True):
            yield from _of_entry(material, question, str(entry), rows)


def choices(material: Material, question: AnyQuestion) -> pl.DataFrame:
    """Return ``rater``, ``prompt``, ``entry`` and ``option`` of all answers that enter the results."""
    used = material.table("judgements").filter("used").select("trial", "rater", "attempt").unique()
    images_of_trials = material.table("trials").select("trial", image=pl.col("images").list.first())
    entries = material.images.select(
        "image", entry="generator", prompt=pl.coalesce("prompt", pl.lit("image ") + pl.col("image"))
    )
    answers = material.table("answers").filter((pl.col("question") == question.name) & pl.col("valid"))
    return (
        answers.join(used, on=["trial", "rater", "attempt"])
        .join(images_of_trials, on="trial")
        .join(entries, on="image")
        .select("rater", "prompt", "entry", option="choice")
        .drop_nulls("option")
    )


def _of_entry(material: Material, question: AnyQuestion, entry: str, rows: pl.DataFrame) -> Iterator[Finding]:
    options = kind_of(question).options(question)
    named = [option for option in options if option not in (CANNOT_TELL, SEVERAL)]
    prompts, raters = rows["prompt"].n_unique(), rows["rater"].n_unique()
    if prompts < material.fewest:
        words = f"{entry}, {question.name}: {prompts} prompts; at least {material.fewest} are needed for numbers."
        yield Finding(words, UNDECIDED, entry, question.name, prompts=prompts, raters=raters)
        return
    parts = {CANNOT_TELL: rows, SEVERAL: rows}
    naming = rows.filter(pl.col("option").is_in(named))
    even = 1 / len(named)
    for option in options:
        part = parts.get(option, naming)
        if part.is_empty():
            yield Finding(f"{entry}, {question.name}: nobody named any option.", UNDECIDED, entry, question.name)
            return
        share, low, high = _proportion(part, option, material.level)
        severity = _severity(option, share, low, high, even)
        of_what = "all answers" if option in parts else "the answers that name one"
        rare = ": rare" if severity == CAUTION and option in named else ""
        words = f"{entry}, {question.name}: {option} in {share:.0%} of {of_what} [{low:.0%}, {high:.0%}]{rare}."
        yield Finding(
            words,
            severity,
            entry,
            question.name,
            option,
            share,
            low,
            high,
            material.level,
            even if option in named else None,
            prompts=part["prompt"].n_unique(),
            raters=part["rater"].n_unique(),
            unit="proportion",
        )


def _proportion(rows: pl.DataFrame, option: str, level: float) -> tuple[float, float, float]:
    scores = (rows["option"] == option).cast(pl.Float64).to_numpy()
    cells = crossed_means(
        _codes(rows["rater"]), _codes(rows["prompt"]), np.zeros(len(scores), np.int64), scores, proportions=True
    )
    estimate = crossed_t(cells, level=level)
    return float(estimate.value[0]), float(estimate.low[0]), float(estimate.high[0])


def _severity(option: str, share: float, low: float, high: float, even: float) -> str:
    if not np.isfinite(low):
        return UNDECIDED
    if option == CANNOT_TELL:
        return CAUTION if share > UNCLEAR else CLEAR
    if option == SEVERAL:
        return CLEAR
    return CAUTION if high < RARE * even else CLEAR


def _codes(names: pl.Series) -> np.ndarray:
    return (names.rank("dense").cast(pl.Int64) - 1).to_numpy()
