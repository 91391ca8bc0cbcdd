"""One S3-compatible server for all tests of storage."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.storage.s3_server import s3_server


@pytest.fixture(scope="session")
def s3_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with s3_server(tmp_path_factory.mktemp("s3")) as variables:
        yield variables


@pytest.fixture
def one_machine(s3_environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The environment of the server, and the cache of a machine that has fetched nothing yet."""
    for name, text in s3_environment.items():
        monkeypatch.setenv(name, text)
    cache = tmp_path / "cache of one machine"
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    return cache
