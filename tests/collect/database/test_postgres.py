"""The same on PostgreSQL, where several processes write at once; skipped where its programs are not installed."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import polars as pl
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import MetaData, create_engine, event, inspect, text
from tests.collect.database.conftest import needs_postgres
from tests.collect.display.test_images import begun, wait_until
from tests.collect.researcher.test_input import send_controls
from tests.collect.server.test_serving import free_port

from beholder.collect.database.migrations.upgrade import migrate
from beholder.collect.database.schema import CONNECTIONS, Database, metadata
from beholder.collect.database.schema_version import REVISIONS
from beholder.collect.exchange.export import collected_tables
from beholder.collect.exchange.forget import find_rater, forget_identities
from beholder.collect.exchange.load import load
from beholder.collect.researcher.access import rotate_token
from beholder.collect.researcher.accounts import add_account, remove_account
from beholder.collect.server.application import create_app
from beholder.collect.session.cookies import holder_of, token_of
from beholder.collect.session.identity import hash_of
from beholder.collect.simulate.rehearsal import listening
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.kinds.timed_realism import TimedRealismQuestion
from beholder.study.question import Design
from beholder.study.study import load_study

pytestmark = needs_postgres

StudyFolder = Callable[..., Path]
Json = dict[str, Any]


@pytest.fixture
def served(clean: str, study_folder: StudyFolder) -> Iterator[Callable[..., Any]]:
    """Two servers on one database, as two processes would be."""
    with ExitStack() as stack:

        def make(*questions: object, **settings: object) -> tuple[Path, list[str], list[Any]]:
            folder = study_folder(*questions, **settings)
            load(folder, clean)
            apps = [create_app(folder, clean, limited=False) for _ in range(2)]
            addresses = [stack.enter_context(listening(app)) for app in apps]
            for app in apps:
                stack.callback(app.state.service.database.engine.dispose)
            return folder, addresses, [app.state.service for app in apps]

        yield make


def rows(url: str, query: str) -> list[tuple[Any, ...]]:
    engine = create_engine(url)
    with engine.connect() as connection:
        rows = [tuple(row) for row in connection.execute(text(query))]
    engine.dispose()
    return rows


class Walker:
    """A browser whose requests go to both servers in turn."""

    def __init__(self, clients: list[httpx.Client], folder: Path, url: str = "") -> None:
        self.clients, self.turn, self.url = clients, 0, url
        self.study = load_study(folder)
        self.cookie = ""

    def ponder(self) -> None:
        """Half a minute has passed since the trial was sent."""
        engine = create_engine(self.url)
        with engine.begin() as connection:
            query = "update sessions set presented = presented - 30 where token_hash = :hash"
            connection.execute(text(query), {"hash": hash_of(token_of(self.cookie))})
        engine.dispose()

    def post(self, path: str, body: Json) -> httpx.Response:
        self.turn += 1
        if self.url and path == "answer":
            self.ponder()
        client = self.clients[self.turn % len(self.clients)]
        reply = client.post(f"/api/{path}", json=body, headers={"cookie": f"beholder={self.cookie}"})
        if "set-cookie" in reply.headers:
            self.cookie = reply.headers["set-cookie"].split("beholder=")[1].split(";")[0]
            client.cookies.clear()
        return reply

    def walk(self, most: int = 500) -> str:
        """To the end, or so many steps; the last step."""
        reply = self.post("enter", {"parameters": {}, "path": "/"})
        if reply.status_code == 409:
            return "full"
        state = reply.json()
        for _ in range(most):
            if state["step"] in ("done", "paused"):
                break
            reply = self.post(*self.next(state))
            assert reply.status_code == 200, reply.text
            state = reply.json().get("state", reply.json())
        return str(state["step"])

    def next(self, state: Json) -> tuple[str, Json]:
        step = state["step"]
        if step == "consent":
            consent = {name: state["consent"][name] for name in ("hash", "version", "language")}
            return "consent", consent | {"agreed": True}
        if step == "check":
            sizes = dict.fromkeys(("screen_width", "screen_height", "viewport_width", "viewport_height"), 900)
            return "check", {**sizes, "pixel_ratio": 1, "zoom": 1, "frame_ms": 16, "touch": False}
        if step in ("instructions", "break", "debrief"):
            return "begin" if step == "instructions" else str(step), {}
        trial = state["trial"]
        body: Json = {
            "trial": trial["trial"],
            "attempt": trial["attempt"],
            "key": os.urandom(8).hex(),
            "seconds": 1,
        }
        body["said"] = [{"aspect": "realism", "choice": trial["instruction"] or trial["options"][0]}]
        if trial["exposure_ms"] is not None:
            ms = trial["exposure_ms"]
            number = round(ms / 16)
            frames = {"intended_frames": number, "shown_frames": number, "dropped_frames": 0, "frame_ms": 16}
            body["exposure"] = {"intended_ms": ms, "shown_ms": 16 * number, **frames}
        return "answer", body


class Skipper(Walker):
    """Skips as long as it is paid."""

    def next(self, state: Json) -> tuple[str, Json]:
        if state["step"] != "trial" or state["trial"]["skips_left"] == 0:
            return super().next(state)
        trial = state["trial"]
        return "skip", {"trial": trial["trial"], "attempt": trial["attempt"], "reason": "disturbing"}


def clients(stack: ExitStack, addresses: list[str]) -> list[httpx.Client]:
    return [stack.enter_context(httpx.Client(base_url=address, timeout=60)) for address in addresses]


def test_a_rater_in_many_tabs_of_two_processes_is_one_session(served: Callable[..., Any], clean: str) -> None:
    folder, addresses, _ = served(RealismQuestion(name="q", design=Design(raters=9, trials=4)))
    body = {"parameters": {"PROLIFIC_PID": "same"}, "path": "/"}
    gate = threading.Barrier(12)

    def come(number: int) -> int:
        gate.wait()
        return httpx.post(f"{addresses[number % 2]}/api/enter", json=body, timeout=60).status_code

    with ThreadPoolExecutor(12) as pool:
        assert list(pool.map(come, range(12))) == [200] * 12
    assert rows(clean, "select count(*) from sessions") == [(1,)]
    assert rows(clean, "select count(*) from slots where session is not null") == [(1,)]
    assert folder.exists()


def test_an_id_alone_at_another_process_deletes_nothing(served: Callable[..., Any], clean: str) -> None:
    folder, addresses, services = served(RealismQuestion(name="q", design=Design(raters=2, trials=4)))
    body = {"parameters": {"PROLIFIC_PID": "same", "SESSION_ID": "s"}, "path": "/"}
    alone = {"parameters": {"PROLIFIC_PID": "same"}, "path": "/"}
    with ExitStack() as stack:
        owner, guest = (Walker([client], folder) for client in clients(stack, addresses))
        state = owner.post("enter", body).json()
        assert guest.post("enter", alone).json()["guest"] is True
        assert guest.post("enter", alone).status_code == 200
        for delete in (True, False):
            assert guest.post("withdraw", {"delete": delete}).json()["detail"]["code"] == "other-device"
        assert owner.post(*owner.next(state)).status_code == 200
        for service in services:  # each process knows the cookies that the other has given out
            key = service.catalogue.secret("token")
            assert holder_of(key, {"beholder": owner.cookie}, researcher=False) == owner.cookie
            assert holder_of(key, {"beholder": guest.cookie}, researcher=False) == guest.cookie
    assert rows(clean, "select status from sessions") == [("running",)]
    assert rows(clean, "select kind from events") == [("other-device",)]


def test_many_at_once_with_drop_outs_leave_one_answer_a_trial(served: Callable[..., Any], clean: str) -> None:
    question = TimedRealismQuestion(name="q", design=Design(raters=6, trials=6, blocks=2))
    folder, addresses, services = served(question, collect={"lease_minutes": 5})
    with ExitStack() as stack:
        held = clients(stack, addresses)

        def go(number: int) -> str:
            return Walker(held, folder, clean).walk(most=7 if number % 2 else 500)

        with ThreadPoolExecutor(12) as pool:
            first = Counter(pool.map(go, range(12)))
            assert sum(first.values()) == 12
            for service in services:  # whoever vanished is gone for good
                service.now = lambda now=service.now: now() + 301
            for _ in range(10):
                if list(pool.map(go, [0] * 6)) == ["full"] * 6:
                    break
    assert rows(clean, "select count(*) from slots where not done") == [(0,)]
    valid = collected_tables(clean)["answers"].filter(pl.col("valid"))
    tests = [name for (name,) in rows(clean, "select trial from trials where role = 'test'")]
    assert Counter(valid["trial"].to_list()) == dict.fromkeys(tests, 1)


def test_of_many_who_skip_at_once_nobody_gets_the_same_trial(served: Callable[..., Any], clean: str) -> None:
    """Every trial ends with one answer or one skip, whoever took it in place of a skipped one or dropped out."""
    question = RealismQuestion(name="q", design=Design(raters=12, trials=8))
    folder, addresses, services = served(question, collect={"lease_minutes": 5})
    with ExitStack() as stack:
        held = clients(stack, addresses)

        def go(number: int) -> str:
            walker = Skipper if number % 2 else Walker
            return walker(held, folder).walk(most=7 if number % 3 == 0 else 500)

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(go, range(8)))
            assert rows(clean, "select count(*) from skips") != [(0,)]
            for service in services:
                service.now = lambda now=service.now: now() + 301
            for _ in range(12):
                if list(pool.map(go, [1, 2, 4, 5])) == ["full"] * 4:
                    break
    assert rows(clean, "select count(*) from slots where not done") == [(0,)]
    assert rows(clean, "select count(*) from replacements") == [(0,)]
    assert rows(clean, "select count(*) from responses r join trials t on t.trial = r.trial where t.slot <> "
                       "(select s.slot from sessions s where s.session = r.session)") != [(0,)]  # fmt: skip
    tables = collected_tables(clean)
    settled = tables["answers"].filter(pl.col("valid"))["trial"].to_list() + tables["skips"]["trial"].to_list()
    tests = [name for (name,) in rows(clean, "select trial from trials where role = 'test'")]
    assert Counter(settled) == dict.fromkeys(tests, 1)


def test_one_answer_however_many_processes_get_it(served: Callable[..., Any], clean: str) -> None:
    folder, addresses, _ = served(RealismQuestion(name="q", design=Design(raters=1, trials=4)))
    with ExitStack() as stack:
        held = clients(stack, addresses)
        walker = Walker(held, folder)
        walker.walk(most=3)
        state = held[0].get("/api/state", headers={"cookie": f"beholder={walker.cookie}"}).json()
        _, body = walker.next(state)
        bodies = [body] * 8 + [body | {"key": f"{number:08d}"} for number in range(8)]

        def send(number: int) -> int:
            cookie = {"cookie": f"beholder={walker.cookie}"}
            return held[number % 2].post("/api/answer", json=bodies[number], headers=cookie).status_code

        with ThreadPoolExecutor(16) as pool:
            codes = Counter(pool.map(send, range(16)))
    assert set(codes) <= {200, 409}
    assert rows(clean, "select count(*) from responses") == [(1,)]


def test_as_many_requests_as_there_are_threads_do_not_block_each_other(
    served: Callable[..., Any], clean: str
) -> None:
    folder, addresses, _ = served(RealismQuestion(name="q", design=Design(raters=45, trials=2)))
    with ExitStack() as stack:
        walkers = [Walker(clients(stack, addresses[:1]), folder) for _ in range(45)]  # a browser each
        with ThreadPoolExecutor(45) as pool:
            ended = Counter(pool.map(Walker.walk, walkers))
    assert ended == {"done": 45}
    assert rows(clean, "select count(*) from responses") == [(90,)]


def test_a_process_keeps_its_connections_and_opens_no_more(clean: str) -> None:
    database, opened = Database(clean), []
    event.listen(database.engine, "connect", lambda *_: opened.append(1))

    def work(_: int) -> None:
        with database.writing() as connection:
            connection.execute(text("select pg_sleep(0.01)"))

    with ThreadPoolExecutor(3 * CONNECTIONS) as threads:
        list(threads.map(work, range(9 * CONNECTIONS)))
    database.engine.dispose()
    assert 1 < len(opened) <= CONNECTIONS


@contextmanager
def locked(url: str, data: Path) -> Iterator[None]:  # noqa: ARG001
    """Another client holds a table."""
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("lock table sessions in access exclusive mode"))
        yield
    engine.dispose()


@contextmanager
def stopped(url: str, data: Path) -> Iterator[None]:  # noqa: ARG001
    """The database does not move at all, though its connections stay."""
    parent = int((data / "postmaster.pid").read_text(encoding="ascii").split()[0])
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="ascii").split()
    processes = [parent, *map(int, children)]
    _signal(processes, signal.SIGSTOP)
    try:
        yield
    finally:
        _signal(processes, signal.SIGCONT)


def _signal(processes: list[int], number: signal.Signals) -> None:
    for process in processes:
        with suppress(ProcessLookupError):  # a connection that has just ended
            os.kill(process, number)


@pytest.mark.parametrize("hold", [locked, stopped])
def test_a_held_database_holds_up_nothing_else(
    study_folder: StudyFolder,
    clean: str,
    press: Callable[..., Any],
    hold: Callable[[str, Path], AbstractContextManager[None]],
) -> None:
    folder = study_folder(RealismQuestion(name="q", design=Design(raters=1, trials=2)))
    load(folder, clean)
    data = Path(rows(clean, "show data_directory")[0][0])
    app = create_app(folder, clean, limited=False, longest_seconds=2)
    with listening(app) as address, httpx.Client(base_url=address, timeout=30) as client:
        client.post("/api/enter", json={"parameters": {}, "path": "/"}).raise_for_status()
        with hold(clean, data):
            pressed = press(address, client.cookies["beholder"], seconds=3)
        assert set(pressed.statuses) == {503}
        assert pressed.without_retry == 0
        assert pressed.slowest < 6
        assert max(pressed.apart.values()) < 1, pressed.apart
        deadline = time.monotonic() + 20
        while client.get("/api/state").status_code != 200:
            assert time.monotonic() < deadline
        assert client.get("/api/ready").status_code == 200
    app.state.service.database.engine.dispose()


def test_a_study_of_the_version_before_opens_with_nothing_lost(served: Callable[..., Any], clean: str) -> None:
    folder, addresses, _ = served(RealismQuestion(name="q", design=Design(raters=2, trials=4)))
    with ExitStack() as stack:
        Walker(clients(stack, addresses), folder).walk()
        halfway = Walker(clients(stack, addresses), folder)
        halfway.walk(most=5)
    engine = create_engine(clean)
    held = {}
    with engine.begin() as connection:
        tables = [name for name in inspect(connection).get_table_names() if name != "alembic_version"]
        rows_of = {name: connection.execute(text(f"select * from {name}")).mappings().all() for name in tables}
        connection.execute(text("drop schema public cascade"))
        connection.execute(text("create schema public"))
        migrate(connection, REVISIONS[0])
        connection.execute(text("drop table alembic_version"))  # as it was before versions were noted
        before = MetaData()
        before.reflect(connection)
        for table in before.sorted_tables:
            held[table.name] = [{c: row[c] for c in table.columns.keys()} for row in rows_of[table.name]]  # noqa: SIM118
            if held[table.name]:
                connection.execute(table.insert(), held[table.name])
    assert held["responses"]
    assert load(folder, clean) == f"database: brought to version {REVISIONS[-1]}"
    with engine.connect() as connection:
        settings = {"compare_type": True, "include_name": lambda name, *_: name != "alembic_version"}
        assert compare_metadata(MigrationContext.configure(connection, opts=settings), metadata) == []
        for name, rows_before in held.items():
            after = connection.execute(text(f"select * from {name}")).mappings().all()
            rows_after = (
                [{column: row[column] for column in rows_before[0]} for row in after] if rows_before else []
            )
            assert sorted(rows_after, key=repr) == sorted(rows_before, key=repr)
    engine.dispose()
    app = create_app(folder, clean)
    with listening(app) as address:
        cookie = {"cookie": f"beholder={halfway.cookie}"}
        state = httpx.get(f"{address}/api/state", headers=cookie).json()
        path, body = halfway.next(state)
        assert httpx.post(f"{address}/api/{path}", json=body, headers=cookie).status_code == 200
    app.state.service.database.engine.dispose()


def test_all_processes_go_by_the_clock_of_the_database(
    served: Callable[..., Any], clean: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wall = time.time
    monkeypatch.setattr(time, "time", lambda: wall() + 3600)  # the machines of servers may be wrong
    _, _, services = served(RealismQuestion(name="q", design=Design(raters=1, trials=2)))
    ((moment,),) = rows(clean, "select extract(epoch from clock_timestamp())")
    for service in services:
        assert service.now() == pytest.approx(float(moment), abs=2)


def test_a_database_that_is_gone_is_said_so(study_folder: StudyFolder, clean: str) -> None:
    folder = study_folder(RealismQuestion(name="q", design=Design(raters=1, trials=2)))
    load(folder, clean)
    app = create_app(folder, clean)
    with listening(app) as address:
        service = app.state.service
        service.database.engine.dispose()
        service.database = Database(clean.rsplit(":", 1)[0] + ":1/postgres")  # nobody listens there
        reply = httpx.post(f"{address}/api/enter", json={"parameters": {}, "path": "/"}, timeout=30)
        assert (reply.status_code, reply.json()["detail"]["code"]) == (503, "no-database")
        assert reply.headers["retry-after"] == "1"


def test_an_account_and_its_end_are_known_to_all_processes(served: Callable[..., Any], clean: str) -> None:
    _, addresses, services = served(RealismQuestion(name="q", design=Design(raters=2, trials=4)))
    with services[0].database.writing() as connection:
        add_account(connection, "anna", "manage", "a long enough password")
        add_account(connection, "vera", "view", "a long enough password")
    with ExitStack() as stack:
        first, second = clients(stack, addresses)

        def sign_in(name: str) -> dict[str, str]:
            first.cookies.clear()
            reply = first.post("/researcher", data={"name": name, "password": "a long enough password"})
            assert reply.status_code == 303
            return {"cookie": f"beholder_researcher={first.cookies['beholder_researcher']}"}

        anna, vera = sign_in("anna"), sign_in("vera")
        assert second.get("/researcher/api/overview", headers=vera).json()["you"]["role"] == "view"
        with services[0].database.writing() as connection:
            remove_account(connection, "vera")
        assert second.get("/researcher/api/overview", headers=vera).status_code == 401
        assert second.get("/researcher/api/overview", headers=anna).status_code == 200
        token = rotate_token(clean)
        assert second.get("/researcher/api/overview", headers=anna).status_code == 401
        assert second.get("/researcher", params={"token": token}).status_code == 303


def test_control_characters_of_a_researcher_are_refused(served: Callable[..., Any], clean: str) -> None:
    _, addresses, _ = served(RealismQuestion(name="q", design=Design(raters=2, trials=4)))
    token = rows(clean, "select value from secrets where name = 'researcher'")[0][0]
    with ExitStack() as stack:
        client = clients(stack, addresses)[0]
        client.get("/researcher", params={"token": token})
        statuses = send_controls(client, "\0")
    assert {request: status for request, status in statuses.items() if not 400 <= status < 500} == {}


def test_all_processes_go_by_the_new_key_of_pseudonyms(served: Callable[..., Any], clean: str) -> None:
    _, addresses, _ = served(RealismQuestion(name="q", design=Design(raters=4, trials=4)))
    entry = {"parameters": {"PROLIFIC_PID": "5e8f1a"}, "path": "/"}
    with ExitStack() as stack:
        first, second = clients(stack, addresses)
        assert first.post("/api/enter", json=entry).status_code == 200
        before = find_rater(clean, "prolific", "5e8f1a")
        assert forget_identities(clean).identities == 1
        for client in (first, second):
            client.cookies.clear()
            assert client.post("/api/enter", json=entry).status_code == 200
    after = find_rater(clean, "prolific", "5e8f1a")
    assert after != before
    assert {row[0] for row in rows(clean, "select person from persons")} == {before, after}


def test_two_server_processes_share_one_filling_of_the_images(study_folder: StudyFolder, clean: str) -> None:
    folder = study_folder(RealismQuestion(name="q", design=Design(raters=8, trials=6)))
    command = [sys.executable, "-m", "beholder", "collect", str(folder), "--port", str(free_port())]
    command += ["--database", clean, "--processes", "2"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{command[6]}", timeout=60) as client:
            wait_until(lambda: answers(client), 120)
            codes: list[int] = []
            for _ in range(4):  # a connection each, so that either process gets some
                with httpx.Client(base_url=client.base_url, timeout=60) as rater:
                    for token in begun(rater):
                        while not codes or codes[-1] == 503:
                            codes.append(rater.get(f"/api/image/{token}").status_code)
                        codes.append(rater.get(f"/api/image/{token}").status_code)
            assert set(codes) <= {200, 503}
            assert codes.count(200) >= 16
        assert len(list((folder / "cache").glob("*.webp"))) == 60
        assert list((folder / "cache").glob(".*.tmp")) == []
    finally:
        server.terminate()
        server.communicate(timeout=120)


def answers(client: httpx.Client) -> bool:
    """Whether the server does."""
    try:
        return client.get("/api/health").status_code == 200
    except httpx.TransportError:
        return False
