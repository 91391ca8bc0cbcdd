"""Every verb has a ``stage.py`` of one shape."""

import inspect
from pathlib import Path

import pytest

import beholder
from beholder.api.stages import VERBS, load_stage
from beholder.cli.main import COMMANDS
from beholder.tables.stages import STAGES
from beholder.tables.work import Outcome

SOURCE = Path(beholder.__file__).parent


def test_they_are_the_stages_that_run_in_a_folder_in_the_same_order() -> None:
    assert [name for name in STAGES if name not in ("new", "import")] == list(VERBS)
    assert set(STAGES) <= set(COMMANDS)


def test_no_stage_is_forgotten() -> None:
    there = {f"beholder.{path.parent.name}.stage" for path in SOURCE.glob("*/stage.py")}
    assert there == set(VERBS.values())


@pytest.mark.parametrize("verb", VERBS)
def test_the_shape_of_a_stage(verb: str) -> None:
    module = load_stage(verb)
    assert module.STAGE is STAGES[verb]
    signature = inspect.signature(module.run)
    first, *others = signature.parameters.values()
    assert first.name == "folder"
    assert signature.parameters["force"].kind is inspect.Parameter.KEYWORD_ONLY
    assert all(other.default is not inspect.Parameter.empty for other in others)  # run(folder) is enough
    returned = inspect.get_annotations(module.run, eval_str=True)["return"]
    assert issubclass(returned, Outcome)
