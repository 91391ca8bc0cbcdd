"""Stages that run in a temporary copy of a study."""

from pathlib import Path

import pytest

from beholder.collect.exchange.stage_run import run_stage
from beholder.errors import StageError


def test_an_error_does_not_name_the_temporary_folder(tmp_path: Path) -> None:
    with pytest.raises(StageError) as caught:
        run_stage("rank", tmp_path / "copy")
    assert "study.toml" in str(caught.value)
    assert str(tmp_path) not in str(caught.value)
