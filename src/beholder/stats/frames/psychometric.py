"""Psychometric functions of a data frame of trials: the level at which raters are right so often."""

import numpy as np

from beholder.stats.frames.columns import Frame, code_labels, read_columns
from beholder.stats.frames.result_table import ResultTable, frame_of
from beholder.stats.psychophysics.psychometric import Shape, fit_psychometric, threshold_estimate


def psychometric(
    trials: Frame,
    *,
    stimulus: str = "exposure",
    correct: str = "correct",
    group: str | None = None,
    proportion: float = 0.75,
    shape: Shape = "weibull",
    guess: float | None = 0.5,
    lapse: float | None = None,
    level: float = 0.95,
) -> ResultTable:
    """Fit a psychometric function, and return the threshold: the stimulus at which so many answers are right.

    The chance of a right answer rises from ``guess`` to 1 − ``lapse``. The confidence interval is from the profile
    likelihood, which holds however stimuli were chosen, also by a staircase or QUEST+. It is the uncertainty of
    these trials: for a generator, fit each rater (``group="rater"``) and compare thresholds over raters.

    Args:
        trials: A data frame with one row per trial.
        stimulus: The column of levels, such as milliseconds of exposure.
        correct: A column of true and false.
        group: The column of what is fitted separately, such as raters; all trials are one by default.
        proportion: The proportion of right answers at the threshold.
        shape: ``"weibull"`` (levels above 0, on a logarithmic scale), ``"logistic"`` or ``"gaussian"``.
        guess: The chance of being right without seeing anything: ½ for two answers. None fits it.
        lapse: The chance of a slip on an easy trial. None fits it, up to .1.
        level: Nominal coverage of the confidence interval.

    Returns:
        One row per group: ``estimate`` (the threshold), ``low``, ``high``, ``width``, ``guess``, ``lapse``,
        ``deviance``, ``doubtful`` (whether the threshold lies beyond the levels shown) and ``trials``.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> exposure = rng.choice([50.0, 100, 200, 400, 800], 400)
        >>> chance = 0.5 + 0.5 * (1 - np.exp(-((exposure / 250) ** 2)))
        >>> fit = psychometric({"exposure": exposure, "correct": rng.random(400) < chance})
        >>> fit.to_frame().select("estimate", "low", "high").row(0)
        (206.18534198363992, 162.83608574756497, 254.1489276543657)
    """
    columns = read_columns(
        trials, labels={"group": group}, numbers={"stimulus": stimulus}, flags={"correct": correct}
    )
    names, (cell,) = code_labels(columns.labels.get("group", ["all"] * columns.rows))
    fits, estimates = [], []
    for number in range(len(names)):
        own = cell == number
        right = columns.flags["correct"][own].astype(np.float64)
        fit = fit_psychometric(columns.numbers["stimulus"][own], right, shape=shape, guess=guess, lapse=lapse)
        fits.append(fit)
        estimates.append(threshold_estimate(fit, proportion, level=level))
    return ResultTable(
        title=f"threshold of {stimulus} at {100 * proportion:g} % right",
        rows=frame_of(
            {
                group or "group": names,
                "estimate": [estimate.value for estimate in estimates],
                "low": [estimate.low for estimate in estimates],
                "high": [estimate.high for estimate in estimates],
                "width": [fit.width for fit in fits],
                "guess": [fit.guess for fit in fits],
                "lapse": [fit.lapse for fit in fits],
                "deviance": [fit.deviance for fit in fits],
                "doubtful": [fit.doubtful for fit in fits],
                "trials": np.bincount(cell),
            }
        ),
        method=f"profile likelihood, {shape}",
        level=level,
        answers=columns.rows,
        unit=stimulus,
        backend=columns.backend,
    )
