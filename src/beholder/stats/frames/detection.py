"""How well raters distinguish generated images from real ones: d′ and error rates over raters."""

from dataclasses import replace

import numpy as np
import polars as pl

from beholder.errors import StatisticsError
from beholder.stats.frames.columns import Frame, code_labels, read_columns
from beholder.stats.frames.ratings import Ratings, ratings_table
from beholder.stats.intervals.clustered_t import clustered_t, ratio_influence
from beholder.stats.psychophysics.detection import detection as signal_detection

ALL_GENERATED = "generated"
"""The name of the only group where no generators are named."""


def detection(
    answers: Frame,
    *,
    generated: str = "generated",
    answer: str = "answer",
    generator: str | None = None,
    rater: str = "rater",
    level: float = 0.95,
) -> Ratings:
    """Return d′ (sensitivity), criterion and error rates for real and generated images, over raters.

    A signal is a generated image and a hit is calling it generated. Every rater has a d′ of their own, with
    the log-linear correction of Hautus (1995), which keeps it finite; a generator's is the mean over raters, with
    a t interval over raters, as in ``beholder rank``. d′ = 0 and an error rate of 50 % are guessing: the lower d′,
    the harder a generator's images are to recognise, so the lowest is ranked first.

    Args:
        answers: A data frame with one row per answer.
        generated: A column of true and false: whether the image is generated.
        answer: A column of true and false: whether the rater called it generated.
        generator: The column of generators, of which that of real images is ignored. All generated images are
            one group where it is None.
        rater: The column of raters. Those who saw no real image, or none of a generator, do not count for it.
        level: Nominal coverage of the confidence intervals.

    Returns:
        One row per generator: ``estimate`` (d′) with ``low``, ``high``, ``se``, ``rank_low`` and ``rank_high``,
        then ``criterion`` (below 0: raters lean to *generated*), ``hit_rate``, ``false_alarm_rate``,
        ``error_rate`` (mean of both kinds of errors) with ``error_rate_low`` and ``error_rate_high``.

    Example:
        >>> shown = [True, True, False, False]
        >>> said = {"a": [1, 1, 0, 0], "b": [1, 0, 0, 0], "c": [1, 1, 1, 0], "d": [0, 1, 1, 0], "e": [1, 1, 0, 0]}
        >>> answers = {"rater": [rater for rater in said for _ in shown], "generated": shown * 5,
        ...            "answer": [answer for row in said.values() for answer in row]}
        >>> next(iter(detection(answers)))["error_rate"]
        0.2
    """
    columns = read_columns(
        answers,
        labels={"rater": rater, "generator": generator},
        flags={"generated": generated, "answer": answer},
        nullable=frozenset({"generator"}),
    )
    fake, said = columns.flags["generated"], columns.flags["answer"]
    if fake.all() or not fake.any():
        raise StatisticsError(
            f"d′ needs real and generated images; found only {'generated' if fake.all() else 'real'} ones in "
            f"column '{generated}'"
        )
    _, (who,) = code_labels(columns.labels["rater"])
    labels = columns.labels.get("generator", [ALL_GENERATED] * columns.rows)
    names, (cell,) = code_labels([label for label, is_fake in zip(labels, fake, strict=True) if is_fake])
    shape = (int(who.max()) + 1, len(names))
    fakes, hits = np.zeros(shape), np.zeros(shape)
    np.add.at(fakes, (who[fake], cell), 1.0)
    np.add.at(hits, (who[fake], cell), said[fake].astype(np.float64))
    reals = np.bincount(who[~fake], minlength=shape[0]).astype(np.float64)[:, None]
    alarms = np.bincount(who[~fake], said[~fake], shape[0])[:, None]
    both = ((fakes > 0) & (reals > 0)).astype(np.float64)  # (raters, generators) who saw both kinds
    rates = signal_detection(hits, fakes, np.broadcast_to(alarms, shape), np.broadcast_to(reals, shape))
    wrong = ((fakes - hits) / np.maximum(fakes, 1) + alarms / np.maximum(reals, 1)) / 2
    answered = ((fakes + reals) * both).sum(axis=0).astype(np.int64)
    table = ratings_table(
        ratio_influence(rates.d_prime * both, both),
        names,
        answered,
        key="generator" if generator is None else generator,
        title="d′ and error rates, mean over raters",
        total=columns.rows,
        level=level,
        backend=columns.backend,
        independent=False,
        unit="d′",
        reference=0.0,
        higher_is_better=False,
    )
    errors = clustered_t(ratio_influence(wrong * both, both, proportions=True), level=level)
    further = {
        "criterion": (rates.criterion * both).sum(axis=0) / both.sum(axis=0),
        "hit_rate": (hits / np.maximum(fakes, 1) * both).sum(axis=0) / both.sum(axis=0),
        "false_alarm_rate": (alarms / np.maximum(reals, 1) * both).sum(axis=0) / both.sum(axis=0),
        "error_rate": errors.value,
        "error_rate_low": errors.low,
        "error_rate_high": errors.high,
    }
    order = [names.index(name) for name in table.rows.to_series(0)]
    added = [pl.Series(name, column[order]).fill_nan(None) for name, column in further.items()]
    counts = ["raters", "answers"]
    rows = table.rows.with_columns(added)
    return replace(table, rows=rows.select(pl.exclude(counts), *counts))
