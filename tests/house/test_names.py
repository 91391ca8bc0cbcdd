"""Names say what they hold: placeholder words are rare among bindings, and no public name is one."""

import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

PLACEHOLDERS = frozenset(
    [
        "found",
        "one",
        "told",
        "mine",
        "shown",
        "asked",
        "known",
        "taken",
        "given",
        "said",
        "seen",
        "made",
        "kept",
        "wanted",
        "whole",
        "piece",
        "thing",
    ]
)
VAGUE = frozenset(["result", "item", "data", "value", "info", "obj", "res", "tmp"])
MOST_PLACEHOLDERS = 0.005
MOST_VAGUE = 0.0094
"""What it was when this was first measured."""


def load() -> ModuleType:
    """The module beside this one; tests are no package."""
    spec = importlib.util.spec_from_file_location("bindings", Path(__file__).with_name("bindings.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@cache
def all_bindings() -> list[Any]:
    """Every name that the package binds; looked for when a test needs them, not by all who collect the tests."""
    return list(load().bindings())


def test_placeholder_words_are_rare() -> None:
    faults = [binding for binding in all_bindings() if binding.name in PLACEHOLDERS]
    proportion = len(faults) / len(all_bindings())
    assert proportion < MOST_PLACEHOLDERS, f"{proportion:.4f} of {len(all_bindings()):,}:\n" + "\n".join(
        map(str, faults)
    )


def test_vague_words_are_no_more_than_they_were() -> None:
    faults = [binding for binding in all_bindings() if binding.name in VAGUE]
    proportion = len(faults) / len(all_bindings())
    assert proportion <= MOST_VAGUE, f"{proportion:.4f}:\n" + "\n".join(map(str, faults))


def test_no_public_name_is_a_placeholder() -> None:
    faults = [binding for binding in all_bindings() if binding.public and binding.name in PLACEHOLDERS]
    assert not faults, "\n".join(map(str, faults))
