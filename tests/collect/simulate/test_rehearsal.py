"""Rehearsals: in databases of their own, kept, shown, and never in the way of the study."""

import asyncio
import io
import os
import shutil
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from beholder.cli.main import main
from beholder.collect.database.address import DATABASE, default_url
from beholder.collect.exchange.export import collected_tables, export
from beholder.collect.exchange.restore import restore
from beholder.collect.researcher.extend import extend
from beholder.collect.server import child_process
from beholder.collect.server import serve as serving
from beholder.collect.server.application import create_app
from beholder.collect.simulate.http_raters import post_patiently
from beholder.collect.simulate.rehearsal import (
    find_rehearsal,
    listening,
    mark_rehearsal,
    rehearse,
    restored_rehearsal,
)
from beholder.collect.stage import run as run_simulated
from beholder.errors import StageError
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.rich_feedback import RichFeedbackQuestion
from beholder.study.question import Design
from beholder.tables.rehearsals import new_rehearsal, rehearsal_folders
from beholder.tables.store import Store

StudyFolder = Callable[..., Path]
Serve = Callable[..., Any]

QUESTION = PairQuestion(name="q", design=Design(raters=3, trials=4, attention_every=2))


@pytest.fixture
def served_urls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool]]:
    """Databases that would be served, and whether as a rehearsal, instead of serving until interrupted."""
    urls: list[tuple[str, bool]] = []

    def note(_: Path, url: str, *, rehearsal: bool = False, **__: object) -> None:
        urls.append((url, rehearsal))

    monkeypatch.setattr(serving, "serve", note)
    return urls


@pytest.fixture
def _children_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run what a rehearsal leaves to child processes in this one, where nothing has to be imported."""

    def run(*arguments: str | Path, url: str = "") -> str:
        module, *others = map(str, arguments)
        out, errors = io.StringIO(), io.StringIO()
        with (
            patch.object(sys, "argv", [module, *others]),
            patch.dict(os.environ, {DATABASE: url}),
            redirect_stdout(out),
            redirect_stderr(errors),
        ):
            code = main(others) if module == "beholder" else import_module(module).main()
        return child_process._output(module, code, out.getvalue(), errors.getvalue())

    monkeypatch.setattr(child_process, "run_child", run)
    monkeypatch.setattr(serving, "run_child", run)


def content_of(folder: Path) -> dict[str, pl.DataFrame]:
    return {name: Store(folder).read(name) for name in ("sessions", "answers", "marks")}


@pytest.mark.usefixtures("_children_here")
def test_a_rehearsal_takes_no_slot_and_is_never_deleted(
    study_folder: StudyFolder, served_urls: list[tuple[str, bool]], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = study_folder(QUESTION)
    study_database = default_url(folder)
    assert main(["collect", str(folder), "--simulate", "3"]) == 0
    said = capsys.readouterr().out
    assert f"The rehearsal is kept in {folder / 'rehearsals' / '1'}. It takes no slots of the study." in said
    assert said.endswith(f"Next: beholder run {folder}\n")
    first = collected_tables(default_url(folder / "rehearsals" / "1"))
    assert first["sessions"]["simulated"].all()
    assert first["sessions"].height == 3
    assert collected_tables(study_database)["sessions"].height == 0
    assert_frame_equal(Store(folder).read("answers"), first["answers"])

    assert main(["collect", str(folder)]) == 0  # the study itself, in which nobody takes part yet
    assert "Nobody has taken part yet: the tables keep the simulated answers" in capsys.readouterr().out
    assert_frame_equal(Store(folder).read("answers"), first["answers"])

    assert main(["collect", str(folder), "--simulate", "2"]) == 0
    assert [path.name for path in rehearsal_folders(folder)] == ["2", "1"]
    assert_frame_equal(collected_tables(default_url(folder / "rehearsals" / "1"))["answers"], first["answers"])
    assert Store(folder).read("sessions").height == 2
    assert served_urls == [(study_database, False)]


def test_a_rehearsal_is_shown_and_not_played_twice_for_that(
    study_folder: StudyFolder, served_urls: list[tuple[str, bool]]
) -> None:
    folder = study_folder(QUESTION)
    for _ in range(2):
        assert main(["collect", str(folder), "--simulate", "3", "--bad", "1", "--serve"]) == 0
    assert served_urls == [(default_url(folder / "rehearsals" / "1"), True)] * 2
    assert find_rehearsal(folder, raters=3, bad=1) == folder / "rehearsals" / "1"
    assert find_rehearsal(folder, raters=3, bad=0) is None


@pytest.mark.usefixtures("_children_here")
def test_options_that_do_not_go_together(study_folder: StudyFolder, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(study_folder(QUESTION))
    assert main(["collect", folder, "--serve"]) == 2
    assert "--serve and --bad go with --simulate" in capsys.readouterr().err
    assert main(["collect", folder, "--simulate", "3", "--database", "postgresql://localhost/x"]) == 2
    assert "a rehearsal has a database of its own" in capsys.readouterr().err
    assert main(["collect", folder, "--simulate", "3", "--bad", "4"]) == 2
    assert not (Path(folder) / "rehearsals").exists()


def test_a_rehearsal_admits_simulated_raters_only(study_folder: StudyFolder) -> None:
    folder = study_folder(QUESTION)
    url = default_url(folder)
    mark_rehearsal(url, "")
    with listening(create_app(folder, url)) as address, httpx.Client(base_url=address) as client:
        reply = client.post("/api/enter", json={"parameters": {}, "path": "/", "language": "en"})
        assert (reply.status_code, reply.json()["detail"]["code"]) == (403, "rehearsal")
    assert sum(1 for _ in rehearse(folder, url, raters=2, bad=0)) == 1
    assert collected_tables(url)["sessions"].height == 2
    with pytest.raises(StageError, match="this is a rehearsal"):
        extend(folder, url, "q", 2, reason="", who="me")


@pytest.mark.usefixtures("_children_here")
def test_answers_of_real_raters_stay_in_the_tables(serve: Serve, capsys: pytest.CaptureFixture[str]) -> None:
    served = serve(QUESTION)
    served.visitor().begin().walk()
    export(served.folder, served.url)
    before = content_of(served.folder)
    assert main(["collect", str(served.folder), "--simulate", "2"]) == 0
    assert "The tables hold answers of real raters, and keep them" in capsys.readouterr().out
    for name, frame in content_of(served.folder).items():
        assert_frame_equal(frame, before[name])


def test_real_raters_move_answers_simulated_on_the_tables_aside(serve: Serve) -> None:
    served = serve(QUESTION)
    run_simulated(served.folder, people=2)
    before = Store(served.folder).path("answers").read_bytes()
    served.visitor().begin().walk()
    outcome = export(served.folder, served.url)
    room = served.folder / "rehearsals" / "1"
    assert (
        outcome.note
        == "The simulated answers that the tables held were moved to rehearsals/1 in the folder of the study"
    )
    assert (room / "answers.parquet").read_bytes() == before
    assert not Store(served.folder).read("sessions")["simulated"].any()


@pytest.mark.usefixtures("_children_here")
def test_simulated_raters_in_the_study_itself_are_refused_and_kept(
    study_folder: StudyFolder, served_urls: list[tuple[str, bool]], capsys: pytest.CaptureFixture[str]
) -> None:
    """Earlier versions rehearsed in the database of the study."""
    folder = study_folder(QUESTION)
    url = default_url(new_rehearsal(folder))
    serving.prepare(folder, url)
    list(rehearse(folder, url, raters=2, bad=0))
    for file in (folder / "rehearsals" / "1").iterdir():
        shutil.copy(file, folder / file.name)
    assert main(["collect", str(folder)]) == 2
    assert "holds 2 simulated raters of a rehearsal and nobody else" in capsys.readouterr().err
    assert collected_tables(default_url(folder))["sessions"].height == 2
    assert served_urls == []


def test_simulated_tables_come_back_from_the_database_as_they_were(study_folder: StudyFolder) -> None:
    marked = RichFeedbackQuestion(name="marks", design=Design(raters=2, trials=3))
    folder = study_folder(QUESTION, marked, pay={"base": 1.0})
    run_simulated(folder, people=3, bad=1)
    url = restored_rehearsal(folder, raters=3, bad=1)
    assert restored_rehearsal(folder, raters=3, bad=1) == url
    tables, restored = content_of(folder), collected_tables(url)
    keys = {
        "sessions": ["session"],
        "answers": ["session", "trial", "aspect"],
        "marks": ["session", "trial", "number"],
    }
    for name, frame in tables.items():
        dropped = ["language", "frame_ms", "pay"] if name == "sessions" else []
        assert_frame_equal(restored[name].drop(dropped).sort(keys[name]), frame.drop(dropped).sort(keys[name]))
    complete = restored["sessions"].filter(status="complete")
    assert complete["pay"].to_list() == [1.0] * complete.height


def test_only_simulated_answers_are_restored(study_folder: StudyFolder) -> None:
    folder = study_folder(QUESTION)
    with pytest.raises(StageError, match="holds no simulated answers"):
        restore(folder, default_url(new_rehearsal(folder)))


@pytest.mark.parametrize(("busy", "lost", "status"), [(0, 0, 200), (2, 0, 200), (2, 1, 200), (9, 0, 503)])
def test_a_busy_or_lost_server_is_asked_again_as_the_pages_do(busy: int, lost: int, status: int) -> None:
    requests: list[bytes] = []

    def reply(request: httpx.Request) -> httpx.Response:
        requests.append(request.content)
        if len(requests) <= lost:
            raise httpx.ReadError("the connection was closed")
        return httpx.Response(503 if len(requests) <= busy else 200)

    async def post() -> int:
        async with httpx.AsyncClient(base_url="http://server", transport=httpx.MockTransport(reply)) as client:
            return (await post_patiently(client, "/api/answer", {"trial": "t"}, waits=[0, 0, 0])).status_code

    with ThreadPoolExecutor(1) as thread:  # a browser of another test may have left a loop running in this one
        assert thread.submit(lambda: asyncio.run(post())).result() == status
    assert len(requests) == min(busy + 1, 4)
    assert len(set(requests)) == 1
