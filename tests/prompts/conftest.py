"""All prompts of the shared sets, and the modules that make prompts of known origin."""

import os
from pathlib import Path
from types import ModuleType

import pytest
from tests.loose_modules import load_module

from beholder.prompts.prompt import PromptSet
from beholder.prompts.sets.catalogue import PROMPT_SETS, read_set

SHARED = Path(os.environ.get("BEHOLDER_SHARED", Path(__file__).parents[3] / "shared")) / "data" / "prompts"
ROOT = Path(__file__).parents[2]
WITHOUT_DATA = ("drawbench",)
PARTS_IN_OTHERS = (("t2i-compbench", "main"), ("t2i-compbench", "seen"), ("t2i-compbench", "unseen"))
"""Parts whose prompts are in another part of the set."""


@pytest.fixture(scope="session")
def shared_prompts() -> Path:
    if not SHARED.is_dir():
        pytest.skip(f"{SHARED} is not here")
    return SHARED


@pytest.fixture(scope="session")
def all_sets(shared_prompts: Path) -> dict[str, PromptSet]:
    """Every part of every set that is no part of another one."""
    sets = [
        read_set(name, shared_prompts / name, part)
        for name, entry in PROMPT_SETS.items()
        for part in entry.parts
        if name not in WITHOUT_DATA and (name, part) not in PARTS_IN_OTHERS
    ]
    return {each.full_name: each for each in sets}


@pytest.fixture(scope="session")
def all_texts(all_sets: dict[str, PromptSet]) -> list[str]:
    return [prompt.text for each in all_sets.values() for prompt in each.prompts]


@pytest.fixture(scope="session")
def variants() -> ModuleType:
    return load_module(ROOT / "benchmarks" / "prompt_variants.py")


@pytest.fixture(scope="session")
def synthetic() -> ModuleType:
    return load_module(Path(__file__).with_name("synthetic_prompts.py"))
