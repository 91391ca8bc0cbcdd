"""The examples in the docstrings of the statistics run, and print what they say."""

import doctest
import pkgutil
from importlib import import_module

import pytest

import beholder.stats

MODULES = [
    module.name for module in pkgutil.walk_packages(beholder.stats.__path__, "beholder.stats.") if not module.ispkg
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str) -> None:
    failures, _ = doctest.testmod(import_module(name))
    assert failures == 0


def test_every_function_on_frames_has_an_example() -> None:
    frames = import_module("beholder.stats.frames")
    functions = [name for name in frames.__all__ if name.islower()]
    for name in functions:
        text = getattr(frames, name).__doc__
        assert text.count("    Example:\n") == 1, name
        assert "    Returns:\n" in text, name
        assert "    Args:\n" in text, name
    assert len(functions) >= 26
