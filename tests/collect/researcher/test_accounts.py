"""Accounts of researchers: passwords, roles, cookies that end, and whose name acts have."""

import json
import threading
import time
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import httpx
import pytest
from tests.collect.conftest import Serve, Served
from tests.collect.researcher.test_access import DEEDS, READ, token_of

from beholder.cli.main import main
from beholder.collect.researcher import access, passwords
from beholder.collect.researcher.accounts import add_account, change_password, list_accounts, remove_account
from beholder.collect.researcher.passwords import check_password, hash_password, is_password, new_password
from beholder.collect.researcher.sign_in_attempts import (
    ACCOUNT,
    ACCOUNT_FROM_ADDRESS,
    ADDRESS,
    KEYS_KEPT,
    Attempts,
)
from beholder.collect.researcher.sign_in_link import is_loopback, researcher_address
from beholder.collect.routes import signing_in
from beholder.errors import UserError
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Design

PASSWORD = "a long enough password"
FULL_COST = passwords.LOG2_N
SECRET = "prolific-anna-5f3c"


@pytest.fixture(autouse=True)
def _cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passwords that cost little."""
    monkeypatch.setattr(passwords, "LOG2_N", 4)


@pytest.fixture
def served(serve: Serve) -> Served:
    served = serve(RealismQuestion(name="q", design=Design(raters=2, trials=4)))
    with served.service.database.writing() as connection:
        add_account(connection, "anna", "manage", PASSWORD)
        add_account(connection, "vera", "view", PASSWORD)
    return served


def sign_in(served: Served, name: str, password: str = PASSWORD) -> httpx.Client:
    client = served.client()
    reply = client.post("/researcher", data={"name": name, "password": password})
    assert (reply.status_code, reply.headers["location"]) == (303, "/researcher")
    client.headers["X-Beholder-CSRF"] = client.get("/researcher/api/overview").json()["csrf"]
    return client


def is_signed_in(client: httpx.Client) -> bool:
    return client.get("/researcher/api/overview").status_code == 200


class TestPasswords:
    def test_a_hash_holds_its_cost_and_a_salt_of_its_own(self) -> None:
        first, second = hash_password(PASSWORD), hash_password(PASSWORD)
        assert first != second
        assert first.startswith("scrypt$4$8$3$")
        assert is_password(PASSWORD, first)
        assert is_password(PASSWORD, second)
        assert not is_password(PASSWORD + "x", first)
        assert PASSWORD not in first

    def test_an_older_cost_is_still_checked(self, monkeypatch: pytest.MonkeyPatch) -> None:
        before = hash_password(PASSWORD)
        monkeypatch.setattr(passwords, "LOG2_N", 5)
        assert is_password(PASSWORD, before)
        assert hash_password(PASSWORD).startswith("scrypt$5$")

    def test_without_an_account_no_password_is_right(self) -> None:
        assert not is_password(PASSWORD, None)
        assert not is_password("", None)

    def test_an_unknown_name_takes_as_long_as_a_wrong_password(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(passwords, "LOG2_N", FULL_COST)
        held = hash_password(PASSWORD)

        def seconds(password_hash: str | None) -> float:
            took = []
            for _ in range(3):
                began = time.thread_time()
                is_password("wrong password", password_hash)
                took.append(time.thread_time() - began)
            return min(took)

        unknown, wrong = seconds(None), seconds(held)
        assert unknown > 0.02  # a real cost, whatever the machine
        assert abs(unknown - wrong) < 0.5 * wrong

    def test_new_passwords_differ_and_are_taken(self) -> None:
        passwords_made = {new_password() for _ in range(100)}
        assert len(passwords_made) == 100
        for password in passwords_made:
            check_password(password)
            assert len(password) == 23

    @pytest.mark.parametrize("password", ["", "short", "x" * 201, "with a \0 inside it", "a line\nand another"])
    def test_others_are_refused(self, password: str) -> None:
        with pytest.raises(UserError):
            check_password(password)


class TestAttempts:
    def test_five_at_once_then_one_in_ten_seconds(self) -> None:
        now = [0.0]
        attempts = Attempts(clock=lambda: now[0])
        waits = [attempts.take("anna", "1.1.1.1", familiar=False) for _ in range(7)]
        assert waits[: ACCOUNT_FROM_ADDRESS.tries] == [0.0] * 5
        assert waits[5:] == [10.0, 10.0]
        assert attempts.take("anna", "2.2.2.2", familiar=False) == 0  # an honest owner elsewhere
        now[0] = 10.0
        assert attempts.take("anna", "1.1.1.1", familiar=False) == 0

    def test_a_right_password_does_not_count(self) -> None:
        attempts = Attempts(clock=lambda: 0.0)
        for _ in range(200):
            assert attempts.take("anna", "1.1.1.1", familiar=False) == 0
            attempts.give_back("anna", "1.1.1.1", familiar=False)

    def test_an_address_cannot_try_all_names(self) -> None:
        attempts = Attempts(clock=lambda: 0.0)
        waits = [attempts.take(f"name{number}", "1.1.1.1", familiar=False) for number in range(40)]
        assert waits.count(0.0) == ADDRESS.tries
        assert max(waits) <= ADDRESS.seconds

    def test_all_addresses_together_cannot_guess_fast_nor_lock_the_owner_out(self) -> None:
        attempts = Attempts(clock=lambda: 0.0)
        waits = [attempts.take("anna", f"1.1.{n // 256}.{n % 256}", familiar=False) for n in range(500)]
        assert waits.count(0.0) == ACCOUNT.tries
        assert attempts.take("anna", "9.9.9.9", familiar=True) == 0

    def test_memory_is_bounded(self) -> None:
        attempts = Attempts(clock=lambda: 0.0)
        for number in range(KEYS_KEPT):
            attempts.take(f"name{number}", str(number), familiar=False)
        assert len(attempts._left) == KEYS_KEPT


class TestSigningIn:
    def test_by_name_and_password(self, served: Served) -> None:
        client = served.client()
        reply = client.post("/researcher", data={"name": " Anna ", "password": PASSWORD})
        assert reply.status_code == 303
        cookie = next(line for line in reply.headers.get_list("set-cookie") if "beholder_researcher=" in line)
        for part in ("HttpOnly", "SameSite=strict", "Path=/researcher"):
            assert part in cookie
        assert client.get("/researcher").status_code == 200
        assert client.get("/researcher/api/overview").json()["you"] == {
            "name": "anna",
            "role": "manage",
            "may_change": True,
        }
        held = client.cookies["beholder_researcher"]
        assert held not in str(served.rows("select * from logins"))  # only its hash

    @pytest.mark.parametrize(
        "fields",
        [
            {"name": "anna", "password": "wrong"},
            {"name": "anna", "password": ""},
            {"name": "nobody", "password": PASSWORD},
            {"name": "link", "password": PASSWORD},
            {"name": "an\0na", "password": PASSWORD},
            {"name": "anna", "password": PASSWORD + "\0"},
            {"name": "anna' or '1'='1", "password": PASSWORD},
            {"name": "anna", "password": "x" * 3000},
            {"name": "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"), "password": "ä"},
            {"password": PASSWORD},
            {},
        ],
    )
    def test_all_else_gets_the_same_refusal(self, served: Served, fields: dict[str, str]) -> None:
        reply = served.client().post("/researcher", data=fields)
        assert reply.status_code == 403
        assert 'data-case="password">' in reply.text
        assert "set-cookie" not in reply.headers
        assert served.count("logins") == 0

    def test_wrong_passwords_are_slowed_down(self, served: Served) -> None:
        client = served.client()
        replies = [client.post("/researcher", data={"name": "anna", "password": "wrong"}) for _ in range(7)]
        assert [reply.status_code for reply in replies] == [403] * 5 + [429] * 2
        assert 1 <= int(replies[-1].headers["retry-after"]) <= 10
        assert 'data-case="often">' in replies[-1].text
        right = client.post("/researcher", data={"name": "anna", "password": PASSWORD})
        assert right.status_code == 429  # nothing is told about it before the time is over
        sign_in(served, "vera")  # another account from the same address is free

    def test_another_site_cannot_sign_somebody_in(self, served: Served) -> None:
        headers = {"Sec-Fetch-Site": "cross-site"}
        data = {"name": "anna", "password": PASSWORD}
        assert served.client().post("/researcher", data=data, headers=headers).status_code == 403
        assert served.count("logins") == 0

    def test_passwords_are_checked_beside_the_event_loop(
        self, served: Served, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        begun, go = threading.Event(), threading.Event()

        def slow(*_: object, **__: object) -> None:
            begun.set()
            go.wait(20)

        monkeypatch.setattr(access, "sign_in_by_password", slow)
        client, replies = served.client(), list[int]()
        data = {"name": "anna", "password": PASSWORD}
        thread = threading.Thread(target=lambda: replies.append(client.post("/researcher", data=data).status_code))
        thread.start()
        assert begun.wait(10)
        try:
            assert served.client().get("/api/health", timeout=5).status_code == 200
        finally:
            go.set()
            thread.join()
        assert replies == [403]

    def test_too_many_at_once_are_put_off(self, served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(signing_in, "WAITING", 0)
        reply = served.client().post("/researcher", data={"name": "anna", "password": PASSWORD})
        assert (reply.status_code, reply.headers["retry-after"]) == (503, "1")


class TestCookies:
    def test_signing_out_ends_this_cookie_alone(self, served: Served) -> None:
        here, there = sign_in(served, "anna"), sign_in(served, "anna")
        stolen = here.cookies["beholder_researcher"]
        assert here.post("/researcher/api/sign-out", json={}, headers={"X-Beholder-CSRF": "x"}).status_code == 403
        reply = here.post("/researcher/api/sign-out", json={})
        assert reply.status_code == 200
        assert "beholder_researcher" not in here.cookies
        here.cookies.set("beholder_researcher", stolen, path="/researcher")
        assert not is_signed_in(here)
        assert is_signed_in(there)

    def test_they_end_with_the_account_and_with_a_new_password(self, served: Served) -> None:
        anna, vera = sign_in(served, "anna"), sign_in(served, "vera")
        with served.service.database.writing() as connection:
            change_password(connection, "anna", "another long password")
        assert not is_signed_in(anna)
        assert is_signed_in(vera)
        assert is_signed_in(sign_in(served, "anna", "another long password"))
        with served.service.database.writing() as connection:
            remove_account(connection, "vera")
        assert not is_signed_in(vera)
        assert vera.get("/researcher").status_code == 401

    def test_a_password_changed_while_it_is_checked_gives_no_cookie(
        self, served: Served, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        database = served.service.database

        def checked(password: str, password_hash: str | None) -> bool:
            with database.writing() as connection:
                change_password(connection, "anna", "another long password")
            return passwords.is_password(password, password_hash)

        monkeypatch.setattr(access, "is_password", checked)
        assert access.sign_in_by_password(database, "anna", PASSWORD, now=1.0) is None
        assert served.count("logins") == 0

    def test_they_expire(self, served: Served) -> None:
        anna = sign_in(served, "anna")
        served.move_clock(access.DAYS * 86_400 - 60)
        assert is_signed_in(anna)
        served.move_clock(61)
        assert not is_signed_in(anna)
        sign_in(served, "vera")
        assert served.count("logins") == 1  # what has expired is deleted


class TestRoles:
    @pytest.mark.parametrize("deed", DEEDS)
    def test_view_changes_nothing(self, served: Served, deed: str) -> None:
        vera, before = sign_in(served, "vera"), served.counts()
        reply = vera.post(f"/researcher/api/{deed}", json=DEEDS[deed])
        assert (reply.status_code, reply.json()["detail"]["code"]) == (403, "view-only")
        assert served.counts() == before

    def test_view_sees_everything_and_nobodys_identity(self, served: Served) -> None:
        served.visitor().begin(PROLIFIC_PID=SECRET).walk()
        vera = sign_in(served, "vera")
        for path in (*READ, "export/parquet", "export/jspsych"):
            reply = vera.get(f"/researcher/api/{path}", timeout=300)  # children start slowly on a busy machine
            assert reply.status_code == 200, path
            content = reply.content
            if path.startswith("export/"):
                with ZipFile(BytesIO(content)) as archive:
                    content = b"".join(archive.read(name) for name in archive.namelist())
            assert SECRET.encode() not in content, path
        assert vera.get("/researcher/preview/q").status_code == 200
        entered = vera.post("/researcher/preview/api/enter", json={"parameters": {}, "path": "/"})
        assert entered.status_code == 200

    def test_acts_are_written_under_the_name_of_the_account(self, served: Served) -> None:
        anna = sign_in(served, "anna")
        assert anna.post("/researcher/api/pause", json={"reason": "lunch"}).status_code == 200
        assert anna.post("/researcher/api/extend", json={"question": "q", "slots": 1}).status_code == 200
        link = served.client(follow_redirects=True)
        link.get("/researcher", params={"token": token_of(served)})
        csrf = link.get("/researcher/api/overview").json()["csrf"]
        link.post("/researcher/api/resume", json={}, headers={"X-Beholder-CSRF": csrf})
        log = anna.get("/researcher/api/overview").json()["log"]
        acts = [(entry["kind"], entry["detail"]["who"]) for entry in log]
        assert acts[:3] == [("resume", "link"), ("extend", "anna"), ("pause", "anna")]
        assert ("account-added", "command line") in acts


class TestTheLink:
    @pytest.mark.parametrize(
        "headers",
        [
            {"X-Forwarded-For": "203.0.113.9"},
            {"X-Forwarded-For": "127.0.0.1"},
            {"Forwarded": "for=127.0.0.1"},
            {"X-Real-IP": "127.0.0.1"},
            {"X-Forwarded-Proto": "https"},
            {"Via": "1.1 proxy"},
            {"Host": "study.example.org"},
        ],
    )
    def test_it_signs_in_on_the_server_alone(self, served: Served, headers: dict[str, str]) -> None:
        token = token_of(served)
        remote = served.client(headers=headers)
        for reply in (
            remote.get("/researcher", params={"token": token}),
            remote.post("/researcher", data={"token": token}),
        ):
            assert reply.status_code == 403
            assert 'data-case="link">' in reply.text
            assert 'id="by-link" hidden' in reply.text
            assert "set-cookie" not in reply.headers
        near = served.client()
        near.get("/researcher", params={"token": token})
        assert is_signed_in(near)
        remote.cookies.set("beholder_researcher", near.cookies["beholder_researcher"], path="/researcher")
        assert remote.get("/researcher/api/overview").status_code == 401
        accounts = remote.post("/researcher", data={"name": "anna", "password": PASSWORD})
        assert accounts.status_code == 303

    def test_which_addresses_are_the_servers_own(self) -> None:
        for host in ("127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1", "localhost"):
            assert is_loopback(host), host
        for host in ("", "10.0.0.1", "0.0.0.0", "::", "::ffff:10.0.0.1", "127.0.0.1.example.org", "study"):
            assert not is_loopback(host), host

    def test_it_is_printed_for_this_machine_alone(self, served: Served) -> None:
        folder, url, token = served.folder, served.url, token_of(served)
        for host in ("127.0.0.1", "[::1]", "localhost"):
            assert (
                researcher_address(folder, url, f"http://{host}:8000")
                == f"http://{host}:8000/researcher?token={token}"
            )
        elsewhere = researcher_address(folder, url, "http://192.0.2.7:8000")
        assert elsewhere == f"http://192.0.2.7:8000/researcher (2 accounts: `beholder researchers {folder}`)"
        with served.service.database.writing() as connection:
            remove_account(connection, "anna")
            remove_account(connection, "vera")
        none = researcher_address(folder, url, "http://192.0.2.7:8000")
        assert f"(no account yet: `beholder researchers {folder} --add NAME --role manage`)" in none
        assert token not in elsewhere + none

    def test_rotating_replaces_it_and_ends_all_cookies(
        self, served: Served, capsys: pytest.CaptureFixture[str]
    ) -> None:
        before = token_of(served)
        link, anna = served.client(), sign_in(served, "anna")
        link.get("/researcher", params={"token": before})
        assert is_signed_in(link)
        assert main(["collect", str(served.folder), "--rotate-token", "--port", "8123"]) == 0
        after = token_of(served)
        assert after != before
        assert f"http://127.0.0.1:8123/researcher?token={after}" in capsys.readouterr().out
        assert not is_signed_in(link)
        assert not is_signed_in(anna)
        assert link.get("/researcher", params={"token": before}).status_code == 403
        assert link.get("/researcher", params={"token": after}).status_code == 303
        assert served.client().get("/researcher/preview/q").status_code == 401
        assert link.get("/researcher/preview/q").status_code == 200


class TestTheCommand:
    def test_from_adding_to_removing(self, served: Served, capsys: pytest.CaptureFixture[str]) -> None:
        folder = str(served.folder)
        assert main(["researchers", folder, "--add", "berta", "--role", "view"]) == 0
        out = capsys.readouterr().out
        password = out.split("password: ")[1].splitlines()[0]
        berta = sign_in(served, "berta", password)
        assert main(["researchers", folder, "--json"]) == 0
        listed = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
        assert (listed["berta"]["role"], listed["berta"]["signed_in"]) == ("view", 1)
        assert password not in str(listed)
        assert main(["researchers", folder, "--password", "berta", "--json"]) == 0
        renewed = json.loads(capsys.readouterr().out)["password"]
        assert not is_signed_in(berta)
        sign_in(served, "berta", renewed)
        assert main(["researchers", folder, "--remove", "berta"]) == 0
        assert main(["researchers", folder]) == 0
        assert "berta" not in capsys.readouterr().out.split("ended")[1]

    def test_a_password_from_stdin_or_a_prompt_is_not_printed(
        self, served: Served, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        source = tmp_path / "password"
        source.write_text("chosen by myself\n", encoding="utf-8")
        with source.open(encoding="utf-8") as file:
            monkeypatch.setattr("sys.stdin", file)
            arguments = ["--add", "berta", "--role", "manage", "--password-stdin"]
            assert main(["researchers", str(served.folder), *arguments]) == 0
        assert "chosen" not in capsys.readouterr().out
        sign_in(served, "berta", "chosen by myself")
        monkeypatch.setattr("click.prompt", lambda *_, **__: "typed by myself")
        assert main(["researchers", str(served.folder), "--password", "berta", "--prompt"]) == 0
        assert "typed" not in capsys.readouterr().out
        sign_in(served, "berta", "typed by myself")

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--add", "berta"], "belong together"),
            (["--role", "view"], "belong together"),
            (["--add", "anna", "--role", "view"], "there is an account 'anna' already"),
            (["--add", "link", "--role", "view"], "is reserved"),
            (["--add", "Über Mut", "--role", "view"], "lower-case letters"),
            (["--add", "-x", "--role", "view"], "lower-case letters"),
            (["--add", "a\nb", "--role", "view"], "lower-case letters"),
            (["--remove", "nobody"], "there is no account 'nobody'; known: anna, vera"),
            (["--password", "nobody"], "there is no account 'nobody'"),
            (["--remove", "anna", "--password", "anna"], "name one"),
            (["--prompt"], "belong to"),
        ],
    )
    def test_wrong_usage(
        self, served: Served, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["researchers", str(served.folder), *arguments]) == 2
        assert message in capsys.readouterr().err
        with served.service.database.reading() as connection:
            assert [account.name for account in list_accounts(connection, now=0.0)] == ["anna", "vera"]

    def test_a_folder_without_a_study_is_refused(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["researchers", str(tmp_path)]) == 2
        assert "is no study" in capsys.readouterr().err
        assert list(tmp_path.iterdir()) == []
