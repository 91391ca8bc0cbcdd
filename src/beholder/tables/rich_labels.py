"""Labels of rich feedback as shares: scores from 0 to 1, and the words that people say were missed."""

SCORED_BY = {"mean": "scale", "published-mean": "share"}
"""Methods of labels that are scores, and whether they are on the question's scale or shares of it already."""

WORDS_BY = ("majority", "published-majority")
"""Methods of labels that are shares of people who say that a word was missed."""

MISSED = 0.5
"""Above this share of people, or this chance, a word counts as missed."""


def as_share(value: float, method: str, scale: tuple[float, float]) -> float:
    """The label of a score on a scale from 0 to 1; an interval's end beyond the scale stays there."""
    if SCORED_BY[method] == "share":
        return value
    low, high = scale
    return (value - low) / (high - low)
