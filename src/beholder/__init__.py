"""Human-grounded evaluation of generated images."""

from importlib import import_module

__version__ = "0.1.0"

LATE = {
    "score": "beholder.api.scoring",
    "differentiable_scores": "beholder.api.scoring",
    "explain": "beholder.api.explaining",
}
"""What is imported when it is first asked for: the study server starts without it."""


def __getattr__(name: str) -> object:
    if name in LATE:
        return getattr(import_module(LATE[name]), name)
    raise AttributeError(f"module 'beholder' has no attribute '{name}'")
