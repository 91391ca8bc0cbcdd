"""Answers that the question does not allow: all of them are named before anything is computed."""

import polars as pl

from beholder.study.kinds.catalogue import AnyQuestion, kind_of

NAMED = 5
"""Answers named for each fault; the rest are counted."""


def faults_of_answers(question: AnyQuestion, answered: pl.DataFrame) -> list[str]:
    """Return all faults of the answers to a question: unknown aspects, and answers that it does not allow."""
    faults = []
    for wrong, words in _conditions(question):
        bad = answered.filter(wrong.fill_null(value=True))
        if not bad.is_empty():
            faults.append(f"question '{question.name}': {words}: {_named(bad)}")
    return faults


def impossible(question: AnyQuestion, answered: pl.DataFrame) -> pl.DataFrame:
    """Return the answers that have any fault."""
    return answered.filter(pl.any_horizontal(w.fill_null(value=True) for w, _ in _conditions(question)))


def _conditions(question: AnyQuestion) -> tuple[tuple[pl.Expr, str], ...]:
    """Return which answers have each fault, and the words for it."""
    aspects, images = kind_of(question).aspects(question), pl.col("images").list.len()
    return (
        (~pl.col("aspect").is_in(list(aspects)), f"aspect must be {_either(aspects)}"),
        (images != _image_count(question, images), f"{_count(question)} images are asked about"),
        _outside(question),
    )


def _outside(question: AnyQuestion) -> tuple[pl.Expr, str]:
    """Return which answers are not allowed, by the column that holds them, and the words for it."""
    kind = kind_of(question)
    if "choice" in kind.columns:
        options = kind.options(question)
        return ~pl.col("choice").is_in(list(options)), f"choice must be {_either(options)}"
    if "ranking" in kind.columns:
        ranks, images = pl.col("ranking"), pl.col("images").list.len()
        inside = (ranks.list.min() >= 1) & (ranks.list.max() <= images) & (ranks.list.len() == images)
        return ~inside, "ranking must have a rank for each image, from 1 to their number"
    scale = kind.scale(question)
    if scale is None:
        return ~(pl.col("value") >= 0), "value must be the number of presses"
    return (
        ~pl.col("value").is_between(scale.low, scale.high),
        f"value must lie between {scale.low:g} and {scale.high:g}",
    )


def _image_count(question: AnyQuestion, images: pl.Expr) -> pl.Expr:
    """Return how many images a trial shows; rankings and sweeps of imported data may have other lengths."""
    return images.clip(lower_bound=2) if _any_number(question) else pl.lit(kind_of(question).shows(question))


def _count(question: AnyQuestion) -> str:
    return "two or more" if _any_number(question) else str(kind_of(question).shows(question))


def _any_number(question: AnyQuestion) -> bool:
    return kind_of(question).traits.any_number


def _either(words: tuple[str, ...]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _named(bad: pl.DataFrame) -> str:
    """Say ``found 'left' in trial t1 and '9' in trial t2 and 3 more``."""
    rows = bad.select(pl.col("answer_text").fill_null("nothing"), "trial", "rater").head(NAMED).iter_rows()
    examples = [f"{answer!r} in trial {trial} by {rater}" for answer, trial, rater in rows]
    more = f" and {bad.height - len(examples):,} more" if bad.height > len(examples) else ""
    return f"found {', '.join(examples)}{more}"
