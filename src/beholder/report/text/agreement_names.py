"""Names of the measures of agreement, as the table ``agreement`` has them."""

MAX_DIFF = "max-diff-at-most-"
"""Of rich feedback: the proportion of images whose highest and lowest score differ by no more than this."""

STEMS = {
    "krippendorff-alpha": "Krippendorff’s α",
    "gwet-ac1": "Gwet’s AC₁",
    "gwet-ac2": "Gwet’s AC₂",
    "gwet-ac": "Gwet’s AC",
    "fleiss-kappa": "Fleiss’ κ",
    "icc-1": "ICC(1)",
    "icc-2": "ICC(2)",
    "icc-3": "ICC(3)",
    "kendall-w": "Kendall’s W",
}
"""The beginning of a name, and the name of the measure in the literature."""


def name_statistic(statistic: str) -> str:
    """``krippendorff-alpha-ordinal`` → ``Krippendorff’s α, ordinal``; an unknown name is kept, without hyphens."""
    for stem, name in STEMS.items():
        if statistic == stem:
            return name
        if statistic.startswith(f"{stem}-"):
            return f"{name}, {statistic.removeprefix(f'{stem}-').replace('-', ' ')}"
    return statistic.replace("-", " ")


def max_diff_edge(statistic: str) -> float | None:
    """The bin edge of a statistic of max_diff; ``None`` for another statistic."""
    return float(statistic.removeprefix(MAX_DIFF)) if statistic.startswith(MAX_DIFF) else None
