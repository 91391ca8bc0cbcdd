"""Differences of two scorers' correlations with raters, with a bootstrap over prompts."""

from collections.abc import Iterator, Sequence

import numpy as np
from agiqa_scorer import Floats, number
from scipy.stats import rankdata

REPLICATES, SEED = 2000, 19


def difference_cells(first: Floats, second: Floats, truth: Floats, prompts: Sequence[str]) -> list[str]:
    """The differences of SRCC and of PLCC, each with its percentile interval; all arrays are (images,)."""
    draws = np.array(list(_differences(first, second, truth, prompts)))
    cells = []
    for draw in draws.T:
        low, high = np.quantile(draw[1:], (0.025, 0.975))
        cells.append(f"{number(draw[0])} [{number(low)}, {number(high)}]")
    return cells


def _differences(
    first: Floats, second: Floats, truth: Floats, prompts: Sequence[str]
) -> Iterator[tuple[float, float]]:
    """The difference over all images, then one for each replicate."""
    prompt_of = np.unique(prompts, return_inverse=True)[1]
    by_prompt = [np.flatnonzero(prompt_of == prompt) for prompt in range(prompt_of.max() + 1)]
    rng = np.random.default_rng(SEED)
    for replicate in range(REPLICATES + 1):
        drawn = rng.integers(0, len(by_prompt), len(by_prompt)) if replicate else np.arange(len(by_prompt))
        rows = np.concatenate([by_prompt[prompt] for prompt in drawn])
        ranks = rankdata(truth[rows])
        by_rank = [np.corrcoef(rankdata(scores[rows]), ranks)[0, 1] for scores in (first, second)]
        plain = [np.corrcoef(scores[rows], truth[rows])[0, 1] for scores in (first, second)]
        yield float(by_rank[0] - by_rank[1]), float(plain[0] - plain[1])
