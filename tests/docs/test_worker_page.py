"""The worker that the page on workers shows works."""

import io
import re
import sys
from pathlib import Path

import pytest
from PIL import Image
from tests.docs.blocks import ROOT

from beholder.errors import RefusalError
from beholder.workers.child import ChildConnection
from beholder.workers.client import Worker
from beholder.workers.messages import ImageRequest

WORKER = re.compile(r'^```python title="worker"\n(.*?)^```\n', re.M | re.S)


def test_the_worker_of_the_page_is_one_and_short(tmp_path: Path) -> None:
    (program,) = WORKER.findall((ROOT / "docs" / "reference" / "workers.md").read_text(encoding="utf-8"))
    assert len([line for line in program.splitlines() if line.strip()]) <= 30
    (tmp_path / "worker.py").write_text(program)
    with Worker(ChildConnection([sys.executable, "-S", str(tmp_path / "worker.py")])) as worker:
        reply = worker.generate(ImageRequest(prompt="a cat", seed=1, width=30, height=20))
        assert Image.open(io.BytesIO(reply.content)).size == (30, 20)
        with pytest.raises(RefusalError, match="forbidden word"):
            worker.generate(ImageRequest(prompt="a forbidden cat", seed=1, width=30, height=20))
        assert worker.generate(ImageRequest(prompt="a cat", seed=2, width=30, height=20)).content != reply.content
