"""What the responses of a scorer say: what it sees, what it does not see, and by what it is moved."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import special

from beholder.audit.finding import Finding
from beholder.audit.robustness.pictures import HARMFUL
from beholder.audit.robustness.responses import Responses
from beholder.stats.intervals.proportions import wilson
from beholder.tables.schemas.audit import CAUTION, CLEAR, PROBLEM, UNDECIDED

MOVED = 0.2
"""Standard deviations between images by which a harmless change may move a score."""
SEES = 0.75
"""A scorer that is right less often than this does not see a change; ½ is chance."""


def findings_on(name: str, responses: Responses, *, level: float, fewest: int) -> Iterator[Finding]:
    """Yield the summary of a scorer, then one finding per change.

    Args:
        name: Of the scorer.
        responses: Its scores before and after.
        level: Of all intervals of the scorer together (Bonferroni).
        fewest: Images below which there are words only.
    """
    tests = len(responses.wrong_prompts) + len(responses.harmful) + len(responses.harmless)
    alone = 1 - (1 - level) / max(tests, 1)
    single = [
        *(_right(name, kind, *both, alone, fewest) for kind, both in responses.wrong_prompts.items()),
        *(
            _right(name, change, responses.before, after, alone, fewest)
            for change, after in responses.harmful.items()
        ),
        *(
            _moved(name, change, responses.before, after, alone, fewest)
            for change, after in responses.harmless.items()
        ),
    ]
    yield _summary(name, single, reads_prompt=reads_prompt(responses))
    yield from single


def reads_prompt(responses: Responses) -> bool | None:
    """Say whether any wrong prompt changed any score; ``None`` where there was no prompt."""
    if not responses.wrong_prompts:
        return None
    return any(np.any(right != wrong) for right, wrong in responses.wrong_prompts.values())


def _right(
    name: str, change: str, before: NDArray[np.float64], after: NDArray[np.float64], level: float, fewest: int
) -> Finding:
    """Return how often the score becomes worse; a tie counts one half."""
    count = len(before)
    right = float(np.sum(before > after) + np.sum(before == after) / 2)
    if count < fewest:
        words = f"{name}, {change}: {count} images; at least {fewest} are needed for numbers."
        return Finding(words, UNDECIDED, name, slice=change, prompts=count)
    low, high = (float(end) for end in wilson(right, count, level))
    numbers = f"worse in {right / count:.0%} of {count} images [{low:.0%}, {high:.0%}], chance 50 %"
    if high < SEES:
        severity, words = PROBLEM, f"{name} does not see: {change} ({numbers})."
    elif low > SEES:
        severity, words = CLEAR, f"{name} sees: {change} ({numbers})."
    elif low > 0.5:
        severity, words = CAUTION, f"{name} sees, but not surely: {change} ({numbers})."
    else:
        severity, words = UNDECIDED, f"{name}: whether it sees {change} cannot be said ({numbers})."
    return Finding(
        words,
        severity,
        name,
        slice=change,
        figure=right / count,
        low=low,
        high=high,
        level=level,
        baseline=0.5,
        prompts=count,
        raters=0,
        unit="proportion of images",
    )


def _moved(
    name: str, change: str, before: NDArray[np.float64], after: NDArray[np.float64], level: float, fewest: int
) -> Finding:
    """Return how far a harmless change moves the score, in standard deviations between images."""
    count, spread = len(before), float(np.std(before, ddof=1)) if len(before) > 1 else 0.0
    if count < fewest or spread == 0:
        why = f"{count} images" if count < fewest else "all images have one score"
        return Finding(f"{name}, {change}: {why}.", UNDECIDED, name, slice=change, prompts=count)
    moved = np.abs(after - before) / spread
    low, high = _interval(moved, level)
    numbers = f"{moved.mean():.2f} standard deviations between images [{low:.2f}, {high:.2f}]"
    if low > MOVED:
        severity, words = PROBLEM, f"{name} is moved by a harmless change: {change} ({numbers})."
    elif high < MOVED:
        severity, words = CLEAR, f"{name} hardly minds: {change} ({numbers})."
    else:
        severity, words = CAUTION, f"{name} may be moved by: {change} ({numbers})."
    return Finding(
        words,
        severity,
        name,
        slice=change,
        figure=float(moved.mean()),
        low=low,
        high=high,
        level=level,
        baseline=MOVED,
        prompts=count,
        raters=0,
        unit="standard deviations",
    )


def _interval(sizes: NDArray[np.float64], level: float) -> tuple[float, float]:
    """Return the t interval of a mean of sizes, at least 0."""
    mean, error = float(sizes.mean()), float(sizes.std(ddof=1) / np.sqrt(len(sizes)))
    reach = float(special.stdtrit(len(sizes) - 1, (1 + level) / 2)) * error
    return max(mean - reach, 0.0), mean + reach


def _summary(name: str, single: list[Finding], *, reads_prompt: bool | None) -> Finding:
    unseen = [each.slice for each in single if each.severity == PROBLEM and each.unit == "proportion of images"]
    moved = [each.slice for each in single if each.severity == PROBLEM and each.unit == "standard deviations"]
    sees = [each.slice for each in single if each.severity == CLEAR and each.unit == "proportion of images"]
    parts = []
    if reads_prompt is False:
        parts.append("does not read the prompt at all")
    elif unseen:
        parts.append(f"does not see: {', '.join(unseen)}")
    if reads_prompt is False and [each for each in unseen if each in HARMFUL]:
        parts.append(f"does not see: {', '.join(each for each in unseen if each in HARMFUL)}")
    if moved:
        parts.append(f"is moved by what should not matter: {', '.join(moved)}")
    if sees:
        parts.append(f"sees: {', '.join(sees)}")
    words = f"{name} {'; '.join(parts)}." if parts else f"{name}: nothing can be said for sure."
    severity = PROBLEM if unseen or moved or reads_prompt is False else CLEAR if sees else UNDECIDED
    return Finding(words, severity, name, slice="summary")
