"""Human-grounded evaluation of generated images."""

from importlib import import_module

__version__ = "0.1.0"

LATE = {
    "score": "beholder.api.scoring",
    "differentiable_scores": "beholder.api.scoring",
    "explain": "beholder.api.explaining",
    # statistics on data frames
    "active_pairs": "beholder.stats.frames.active_pairs",
    "aggregate": "beholder.stats.frames.aggregate",
    "agreement": "beholder.stats.frames.agreement",
    "bradley_terry": "beholder.stats.frames.bradley_terry",
    "calibration": "beholder.stats.frames.calibration",
    "compare_correlations": "beholder.stats.frames.compare_correlations",
    "confidence_sequence": "beholder.stats.frames.confidence_sequence",
    "conformal_interval": "beholder.stats.frames.calibration",
    "correlate": "beholder.stats.frames.correlate",
    "detection": "beholder.stats.frames.detection",
    "example_ratings": "beholder.stats.frames.examples",
    "example_votes": "beholder.stats.frames.examples",
    "group_tests": "beholder.stats.frames.group_tests",
    "interval_widths": "beholder.stats.frames.sample_size",
    "label_errors": "beholder.stats.frames.label_errors",
    "mean_opinion_scores": "beholder.stats.frames.mean_opinion_scores",
    "mean_scores": "beholder.stats.frames.group_means",
    "plackett_luce": "beholder.stats.frames.plackett_luce",
    "power": "beholder.stats.frames.sample_size",
    "prediction_powered_mean": "beholder.stats.frames.prediction_powered",
    "proportions": "beholder.stats.frames.group_means",
    "psychometric": "beholder.stats.frames.psychometric",
    "raters_needed": "beholder.stats.frames.sample_size",
    "sequential_separation": "beholder.stats.frames.confidence_sequence",
    "t_test": "beholder.stats.frames.group_tests",
    "thurstone": "beholder.stats.frames.thurstone",
}
"""What is imported when it is first asked for: the study server starts without it."""


def __getattr__(name: str) -> object:
    if name in LATE:
        return getattr(import_module(LATE[name]), name)
    raise AttributeError(f"module 'beholder' has no attribute '{name}'")
