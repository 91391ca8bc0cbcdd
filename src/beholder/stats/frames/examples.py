"""Small synthetic data frames on which every function can be tried."""

import numpy as np
import polars as pl

QUALITY = {"aurora": -0.6, "cirrus": 0.0, "dune": 0.1, "ember": 0.7}
"""The generators, and how good their images are, in log odds of being preferred."""

TIE_RATE = 0.1


def example_votes(*, raters: int = 20, votes: int = 30, seed: int = 0) -> pl.DataFrame:
    """Return votes of simulated raters on pairs of four generators, one row per vote.

    Args:
        raters: How many raters vote.
        votes: How many votes each of them gives.
        seed: Of the random numbers.

    Returns:
        Columns ``rater``, ``prompt``, ``first``, ``second``, ``outcome`` (first, second, tie), and the same as
        ``winner``, ``loser`` and ``tie``.

    Example:
        >>> example_votes().select("rater", "first", "second", "outcome").row(0)
        ('r00', 'ember', 'cirrus', 'first')
    """
    rng = np.random.default_rng(seed)
    names, quality = list(QUALITY), np.array(list(QUALITY.values()))
    rows = raters * votes
    first = rng.integers(0, len(names), rows)
    second = (first + rng.integers(1, len(names), rows)) % len(names)
    taste = rng.normal(0, 0.5, (raters, len(names)))  # raters differ
    who = np.repeat(np.arange(raters), votes)
    lead = quality[first] - quality[second] + taste[who, first] - taste[who, second]
    first_wins = rng.random(rows) < 1 / (1 + np.exp(-lead))
    tie = rng.random(rows) < TIE_RATE
    winner, loser = np.where(first_wins, first, second), np.where(first_wins, second, first)
    return pl.DataFrame(
        {
            "rater": [f"r{rater:02}" for rater in who],
            "prompt": [f"p{prompt:02}" for prompt in rng.integers(0, 25, rows)],
            "first": [names[cell] for cell in first],
            "second": [names[cell] for cell in second],
            "outcome": np.where(tie, "tie", np.where(first_wins, "first", "second")),
            "winner": [names[cell] for cell in winner],
            "loser": [names[cell] for cell in loser],
            "tie": tie,
        }
    )


def example_ratings(*, raters: int = 12, prompts: int = 10, seed: int = 0) -> pl.DataFrame:
    """Return ratings of images of four generators by simulated raters, one row per rater and image.

    Args:
        raters: How many raters judge every image.
        prompts: How many prompts each generator has an image of.
        seed: Of the random numbers.

    Returns:
        Columns ``rater``, ``image``, ``generator``, ``prompt``, ``score`` (1 to 5), ``flawed`` (whether the rater
        saw a flaw, yes or no) and ``metric`` (an automatic score of the image, which agrees with raters in part).

    Example:
        >>> example_ratings().height
        480
    """
    rng = np.random.default_rng(seed)
    names, quality = list(QUALITY), np.array(list(QUALITY.values()))
    generator, prompt = np.divmod(np.arange(len(names) * prompts), prompts)  # (images,)
    image_quality = quality[generator] + rng.normal(0, 0.5, len(generator))
    metric = 20 + 2 * (image_quality + rng.normal(0, 0.6, len(generator)))
    strictness = rng.normal(0, 0.3, raters)
    felt = image_quality - strictness[:, None] + rng.normal(0, 0.7, (raters, len(generator)))  # (raters, images)
    score = np.clip(np.rint(3 + 1.2 * felt), 1, 5).astype(np.int64)
    flawed = rng.random(felt.shape) < 1 / (1 + np.exp(2 * felt))
    images = [f"{names[g]}-{p:02}" for g, p in zip(generator, prompt, strict=True)]
    return pl.DataFrame(
        {
            "rater": [f"r{rater:02}" for rater in range(raters) for _ in images],
            "image": images * raters,
            "generator": [names[g] for g in generator] * raters,
            "prompt": [f"p{p:02}" for p in prompt] * raters,
            "score": score.ravel(),
            "flawed": np.where(flawed.ravel(), "yes", "no"),
            "metric": np.tile(metric.round(3), raters),
        }
    )
