"""Who may come in by an id of a platform, and what an id alone can do: little."""

import json
import logging
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from fastapi import FastAPI, Response
from pydantic import ValidationError

from beholder.collect.session.admission import SIMULATED
from beholder.collect.session.arrival import Proofs, panel_signature, warnings_of
from beholder.collect.session.completion import CODE_LETTERS, personal_code, session_of_code
from beholder.collect.session.identity import opaque
from beholder.collect.session.prolific import (
    A_DAY,
    A_WEEK,
    BETWEEN_FETCHES,
    LARGEST_KEYS,
    ProlificTokens,
    fetch_keys,
    parsed_keys,
)
from beholder.collect.simulate.rehearsal import listening
from beholder.errors import RefusedError, StudyError
from beholder.study.collecting import Collecting
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.kinds.timed_realism import TimedRealismQuestion
from beholder.study.question import Design

Json = dict[str, Any]
Serve = Callable[..., Any]

PANEL_KEY = "a key of the panel that nobody knows"
PROLIFIC = {
    "open_link": False,
    "platforms": ["prolific"],
    "prolific_keys": "https://keys.example/jwks.json",
    "prolific_audience": "study.example",
    "prolific_workspace": "w-1",
}


def realism(name: str = "realism", **design: object) -> RealismQuestion:
    return RealismQuestion(name=name, design=Design.model_validate({"raters": 3, "trials": 4} | design))


class Signer:
    """Prolific's side: a private key, its public half, and signed links."""

    def __init__(self, kid: str = "k-1") -> None:
        self.kid, self.private = kid, rsa.generate_private_key(public_exponent=65537, key_size=2048)

    def jwk(self) -> Json:
        public: Json = jwt.algorithms.RSAAlgorithm.to_jwk(self.private.public_key(), as_dict=True)
        return public | {"kid": self.kid, "alg": "RS256", "use": "sig"}

    def jwks(self) -> str:
        return json.dumps({"keys": [self.jwk()]})

    def claims(self, pid: str = "p-1", **changes: object) -> Json:
        payload = {"PROLIFIC_PID": pid, "STUDY_ID": "st-1", "SESSION_ID": "se-1", "workspace_id": "w-1"}
        return {"exp": int(time.time()) + 300, "aud": "study.example", "prolific": payload} | changes

    def token(self, pid: str = "p-1", **changes: object) -> str:
        return jwt.encode(self.claims(pid, **changes), self.private, "RS256", headers={"kid": self.kid})


@pytest.fixture(scope="module")
def signer() -> Signer:
    return Signer()


@pytest.fixture
def served_to_prolific(serve: Serve, signer: Signer) -> Any:  # noqa: ANN401
    """A closed study for people from Prolific, whose keys are fetched from memory."""
    served = serve(realism(raters=40), collect=PROLIFIC, limited=False)
    served.service.proofs.prolific = tokens(served.folder, signer.jwks)
    return served


def tokens(folder: Path, content: Callable[[], str], clock: Callable[[], float] = time.time) -> ProlificTokens:
    return ProlificTokens(folder, Collecting.model_validate(PROLIFIC), fetch=lambda _: content(), clock=clock)


class TestClosedStudy:
    def test_no_invented_id_comes_in(self, serve: Serve) -> None:
        served = serve(realism(), collect={"open_link": False, "panel_parameter": "ID"}, limited=False)
        client = served.client()
        codes = []
        for number in range(1000):
            name = ("PROLIFIC_PID", "workerId", "ID")[number % 3]
            parameters = {name: f"{number:024x}", "SESSION_ID": "s", "assignmentId": "a"}
            body = {"parameters": parameters, "path": "/", "language": "en"}
            codes.append(client.post("/api/enter", json=body).status_code)
        assert codes == [403] * 1000
        assert served.count("persons") == served.count("sessions") == served.count("identities") == 0

    def test_no_invented_id_comes_in_where_links_are_signed(self, served_to_prolific: Any) -> None:  # noqa: ANN401
        stranger = Signer()  # has a key of the same name, but not Prolific's
        for number in range(100):
            forged = stranger.token(f"{number:024x}")
            for parameters in ({"PROLIFIC_PID": f"{number:024x}"}, {"prolific_token": forged}):
                refused = served_to_prolific.visitor().enter(**parameters)
                assert (refused.status_code, refused.json()["detail"]["code"]) == (403, "not-signed")
        assert served_to_prolific.count("persons") == 0

    def test_a_signed_link_comes_in_by_what_was_signed(
        self,
        served_to_prolific: Any,  # noqa: ANN401
        signer: Signer,
    ) -> None:
        visitor = served_to_prolific.visitor().begin(prolific_token=signer.token("p-1"))
        assert served_to_prolific.rows("select platform, identity from identities") == [("prolific", "p-1")]
        again = served_to_prolific.visitor()
        assert again.enter(prolific_token=signer.token("p-1"), PROLIFIC_PID="p-1").status_code == 200
        assert again.trial["trial"] == visitor.trial["trial"]
        assert again.post("withdraw", delete=True).status_code == 200  # the signature proves who it is
        other = served_to_prolific.visitor().enter(prolific_token=signer.token("p-1"), PROLIFIC_PID="p-2")
        assert other.json()["detail"]["code"] == "not-signed"
        assert not any(
            signer.token("p-1")[:40] in str(row) for row in served_to_prolific.rows("select * from sessions")
        )

    def test_who_is_inside_stays_when_the_signature_runs_out(
        self,
        served_to_prolific: Any,  # noqa: ANN401
        signer: Signer,
    ) -> None:
        visitor = served_to_prolific.visitor().begin(prolific_token=signer.token("p-1"))
        late = signer.token("p-1", exp=int(time.time()) - 3600)
        assert visitor.enter(prolific_token=late).status_code == 200
        assert visitor.enter(PROLIFIC_PID="p-1").status_code == 200
        for parameters in ({"prolific_token": signer.token("p-2", exp=int(time.time()) - 3600)}, {}):
            assert visitor.enter(**parameters).status_code == 403
        assert served_to_prolific.visitor().enter(prolific_token=late).json()["detail"]["code"] == "expired"

    def test_a_panels_signature(self, serve: Serve) -> None:
        settings = {"open_link": False, "panel_parameter": "ID"}
        served = serve(realism(), collect=settings)
        (served.folder / "panel.key").write_text(PANEL_KEY + "\n")
        signing = Collecting.model_validate(
            settings | {"platforms": ["panel"], "panel_key_file": "panel.key", "panel_signature": "sig"}
        )
        served.service.study = served.service.study.model_copy(update={"collect": signing})
        served.service.proofs = Proofs(served.folder, signing)
        signature = panel_signature(PANEL_KEY.encode(), "x-1")
        for bad in ({}, {"sig": ""}, {"sig": signature[:-1]}, {"sig": panel_signature(b"another key", "x-1")}):
            assert served.visitor().enter(ID="x-1", **bad).json()["detail"]["code"] == "not-signed"
        assert served.visitor().enter(ID="x-2", sig=signature).status_code == 403
        assert served.visitor().enter(ID="x-1", sig=signature.upper()).status_code == 200
        elsewhere = served.visitor()
        elsewhere.enter(ID="x-1", sig=signature)
        assert elsewhere.post("withdraw", delete=True).status_code == 200

    def test_simulated_raters_rehearse_a_closed_study(self, serve: Serve) -> None:
        served = serve(realism(), collect={"open_link": False})
        proof = opaque(served.service.catalogue.secret("token"), SIMULATED)
        parameters = {"PROLIFIC_PID": "p", SIMULATED: proof}
        assert served.visitor().enter(**parameters | {SIMULATED: "guess"}).status_code == 403
        assert served.visitor().enter(**parameters).status_code == 200
        assert served.rows("select simulated from persons") == [(1,)]

    def test_an_excluded_rater_cannot_enter(self, serve: Serve) -> None:
        served = serve(realism())
        visitor = served.visitor()
        link = visitor.enter(PROLIFIC_PID="p", SESSION_ID="s").json()["resume"]
        visitor.walk("trial")
        with served.service.database.writing() as connection:
            connection.exec_driver_sql("update persons set excluded = true")
        for client in (visitor, served.visitor()):
            assert client.enter(PROLIFIC_PID="p", SESSION_ID="s").json()["detail"]["code"] == "excluded"
            assert client.enter(link).json()["detail"]["code"] == "excluded"
        assert visitor.enter().json()["detail"]["code"] == "excluded"

    def test_a_stale_cookie_opens_no_closed_study(self, serve: Serve) -> None:
        served = serve(realism())
        visitor = served.visitor().begin()
        closed = Collecting(open_link=False)
        served.service.study = served.service.study.model_copy(update={"collect": closed})
        assert visitor.enter("/q/realism").json()["detail"]["code"] == "no-entry"
        assert visitor.enter(PROLIFIC_PID="x").json()["detail"]["code"] == "no-entry"
        assert visitor.answer().status_code == 200  # who is inside goes on


class TestTokens:
    @pytest.mark.parametrize(
        "changes",
        [
            {"aud": "evil.example"},
            {"aud": ["evil.example", "study.example.evil"]},
            {"aud": None},
            {"prolific": {"PROLIFIC_PID": "p-1"}},
            {"prolific": {"PROLIFIC_PID": "p-1", "workspace_id": "w-2"}},
            {"prolific": "p-1"},
            {"prolific": None},
            {"exp": "soon"},
            {"exp": True},
            {"nbf": int(time.time()) + 3600},
        ],
    )
    def test_what_is_signed_for_others_is_refused(self, tmp_path: Path, signer: Signer, changes: Json) -> None:
        with pytest.raises(RefusedError, match=r"Prolific|signed") as refused:
            tokens(tmp_path, signer.jwks).read(signer.token(**changes))
        assert (refused.value.status, refused.value.code) == (403, "not-signed")

    def test_tricks_with_the_algorithm_are_refused(self, tmp_path: Path, signer: Signer) -> None:
        header = {"kid": signer.kid}
        forged = [
            jwt.encode(signer.claims(), None, "none", headers=header),  # type: ignore[arg-type]
            jwt.encode(signer.claims(), signer.jwk()["n"], "HS256", headers=header),
            jwt.encode(signer.claims(), signer.private, "RS512", headers=header),
            jwt.encode(signer.claims(), signer.private, "PS256", headers=header),
            jwt.encode(signer.claims(), signer.private, "RS256"),
            jwt.encode(signer.claims(), signer.private, "RS256", headers={"kid": "../../k-1"}),
            jwt.encode(signer.claims(), Signer().private, "RS256", headers=header | {"jwk": Signer().jwk()}),
            jwt.encode(
                signer.claims(), Signer().private, "RS256", headers=header | {"jku": "https://evil.example"}
            ),
            signer.token().rpartition(".")[0] + ".",
            signer.token()[:-4] + "AAAA",
            "",
            "...",
            "a.b.c",
            "é",
        ]
        for token in forged:
            with pytest.raises(RefusedError):
                tokens(tmp_path, signer.jwks).read(token)

    @pytest.mark.parametrize("audience", ["study.example", "https://study.example", "https://study.example/"])
    def test_the_audience_is_the_domain(self, tmp_path: Path, signer: Signer, audience: str) -> None:
        link = tokens(tmp_path, signer.jwks).read(signer.token(aud=audience))
        assert (link.parameters["PROLIFIC_PID"], link.expired) == ("p-1", False)
        settings = Collecting.model_validate(PROLIFIC | {"prolific_audience": audience, "prolific_study": "st-2"})
        with pytest.raises(RefusedError, match="STUDY_ID"):
            ProlificTokens(tmp_path, settings, fetch=lambda _: signer.jwks()).read(signer.token())

    def test_keys_from_a_file(self, tmp_path: Path, signer: Signer) -> None:
        settings = Collecting.model_validate(PROLIFIC | {"prolific_keys": "keys.json"})
        path = tmp_path / "keys.json"
        for content in (None, "", "{}", "[]", '{"keys": []}', '{"keys": [1]}'):
            if content is not None:
                path.write_text(content)
            with pytest.raises(StudyError, match=r"keys\.json"):
                ProlificTokens(tmp_path, settings)
        path.write_text(signer.jwks())
        assert ProlificTokens(tmp_path, settings).read(signer.token("p-9")).parameters["PROLIFIC_PID"] == "p-9"

    def test_keys_are_fetched_once_a_day_and_for_a_new_name(self, tmp_path: Path, signer: Signer) -> None:
        now, published, fetched = [time.time()], [signer], []
        later = Signer("k-2")

        def content() -> str:
            fetched.append(now[0])
            if not published:
                raise OSError("down")
            return json.dumps({"keys": [publisher.jwk() for publisher in published]})

        checking = tokens(tmp_path, content, clock=lambda: now[0])
        for _ in range(3):
            checking.read(signer.token())
        assert len(fetched) == 1
        for number in range(50):  # invented names do not make the server ask again and again
            with pytest.raises(RefusedError, match="no key"):
                checking.read(Signer.token(later, str(number)))
        assert len(fetched) == 1
        now[0] += BETWEEN_FETCHES + 1
        published.append(later)
        checking.read(later.token())
        assert len(fetched) == 2
        now[0] += A_DAY + 1
        published.clear()
        for _ in range(3):  # down: the keys of before serve on
            assert checking.read(later.token()).parameters["PROLIFIC_PID"] == "p-1"
        assert len(fetched) == 3
        with pytest.raises(RefusedError) as refused:  # perhaps a new key: nobody is told that the link is forged
            checking.read(Signer("k-3").token())
        assert refused.value.status == 503
        now[0] += A_WEEK
        with pytest.raises(RefusedError) as refused:
            checking.read(later.token())
        assert (refused.value.status, refused.value.code) == (503, "no-keys")

    def test_a_fetch_has_limits(self, signer: Signer) -> None:
        app = FastAPI()
        app.get("/keys")(lambda: Response(signer.jwks()))
        app.get("/moved")(lambda: Response(status_code=302, headers={"location": "/keys"}))
        app.get("/large")(lambda: Response(b" " * (LARGEST_KEYS + 1)))
        app.get("/broken")(lambda: Response(status_code=500))
        with listening(app) as address:
            assert list(parsed_keys(fetch_keys(f"{address}/keys"))) == [signer.kid]
            for path in ("/moved", "/large", "/broken", "/absent"):
                with pytest.raises(OSError, match=r"."):
                    fetch_keys(address + path)
        for nowhere in (address, "https://[", "https://"):
            with pytest.raises(OSError, match=r"."):
                fetch_keys(nowhere)

    def test_a_fetch_that_fails_is_503_and_holds_nobody_up(self, serve: Serve, signer: Signer) -> None:
        served = serve(realism(), collect=PROLIFIC)

        def down() -> str:
            raise OSError("no route to host")

        served.service.proofs.prolific = tokens(served.folder, down)
        reply = served.visitor().enter(prolific_token=signer.token())
        assert (reply.status_code, reply.json()["detail"]["code"]) == (503, "no-keys")
        assert served.count("persons") == 0

    def test_the_server_starts_without_cryptography(self) -> None:
        late = ("jwt", "cryptography", "httpx")
        code = f"import sys, beholder.collect.server.application; print([x for x in {late} if x in sys.modules])"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "[]"


class TestSettings:
    @pytest.mark.parametrize(
        ("settings", "advice"),
        [
            ({"platforms": ["prolific"]}, "prolific_keys"),
            ({"platforms": ["mturk"]}, "unsigned_ids = true"),
            ({"platforms": ["panel"], "panel_parameter": "ID"}, "panel_key_file"),
            ({"platforms": ["panel"], "unsigned_ids": True}, "panel_parameter"),
            (PROLIFIC | {"prolific_audience": ""}, "prolific_audience"),
            (PROLIFIC | {"prolific_workspace": ""}, "prolific_workspace"),
            (PROLIFIC | {"prolific_keys": "http://keys.example/jwks.json"}, "https"),
        ],
    )
    def test_a_closed_study_needs_proofs(self, settings: Json, advice: str) -> None:
        with pytest.raises(ValidationError, match=advice):
            Collecting.model_validate({"open_link": False} | settings)

    def test_all_faults_at_once(self) -> None:
        with pytest.raises(ValidationError) as raised:
            Collecting.model_validate({"open_link": False, "platforms": ["prolific", "mturk", "panel"]})
        for advice in ("prolific_keys", "mturk", "panel_parameter", "panel_key_file"):
            assert advice in str(raised.value)

    def test_who_is_admitted_by_default(self) -> None:
        for platform in ("prolific", "mturk", "panel"):
            assert Collecting().admits(platform)
            assert not Collecting(open_link=False).admits(platform)
        assert not Collecting(platforms=("mturk",)).admits("prolific")

    def test_unsigned_ids_must_be_wanted_and_are_warned_about(
        self, serve: Serve, caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.WARNING):
            served = serve(realism(), collect={"open_link": False, "platforms": ["mturk"], "unsigned_ids": True})
        assert "mturk are accepted without a proof" in caplog.text
        assert served.visitor().enter(workerId="A", assignmentId="a").status_code == 200
        assert served.visitor().enter(PROLIFIC_PID="p").json()["detail"]["code"] == "no-entry"
        assert warnings_of(Collecting()) == []

    def test_the_panels_key_must_be_there(self, tmp_path: Path) -> None:
        settings = Collecting(panel_parameter="ID", panel_key_file="panel.key")
        with pytest.raises(StudyError, match="cannot be read"):
            Proofs(tmp_path, settings)
        (tmp_path / "panel.key").write_text("short")
        with pytest.raises(StudyError, match="5 bytes"):
            Proofs(tmp_path, settings)


class TestGuest:
    """Someone who knows an id, and nothing else."""

    def test_an_id_alone_deletes_nothing_and_ends_nothing(self, serve: Serve) -> None:
        served = serve(realism(), collect={"panel_parameter": "who"})
        for parameters in (
            {"PROLIFIC_PID": "p", "SESSION_ID": "s"},
            {"workerId": "A", "assignmentId": "a"},
            {"who": "x"},
        ):
            owner = served.visitor().begin(**parameters)
            owner.answer()
            before = served.counts()
            name = next(iter(parameters))
            for more in ({}, {"SESSION_ID": "guess", "assignmentId": "guess"}):
                guest = served.visitor()
                reply = guest.enter(**{name: parameters[name]}, **more)
                assert reply.status_code == 200
                assert "resume" not in reply.json()
                assert reply.json()["guest"] is True
                for delete in (True, False):
                    refused = guest.post("withdraw", delete=delete)
                    assert (refused.status_code, refused.json()["detail"]["code"]) == (403, "other-device")
            assert served.counts() == before | {"events": before["events"] + 1}  # noted once
            assert owner.get("state").json()["progress"]["done"] == 1
            assert "guest" not in owner.state
            assert owner.answer().status_code == 200
            assert owner.post("withdraw", delete=True).status_code == 200

    def test_a_guest_may_go_on_so_that_nobody_is_stranded(self, serve: Serve) -> None:
        served = serve(realism(), collect={"codes": {"complete": "C"}})
        served.visitor().begin(PROLIFIC_PID="p", SESSION_ID="s").answer()
        guest = served.visitor()
        guest.enter(PROLIFIC_PID="p")
        assert guest.get("state").json()["guest"] is True
        assert guest.get(f"image/{guest.trial['images'][0]['token']}").status_code == 200
        guest.walk()
        assert guest.state["done"]["code"] == "C"  # for who did the last of the work
        served.service.database.engine.dispose()
        for client in (guest, served.visitor()):  # but not for who comes for it later
            done = client.enter(PROLIFIC_PID="p").json()["done"]
            assert done["outcome"] == "complete"
            assert (done["code"], done["personal_code"], done["redirect"]) == (None, None, None)

    def test_a_guest_neither_declines_nor_fails_the_check(self, serve: Serve) -> None:
        served = serve(TimedRealismQuestion(name="timed", design=Design(raters=3, trials=4)))
        owner, guest = served.visitor(), served.visitor()
        owner.enter(PROLIFIC_PID="p")
        guest.enter(PROLIFIC_PID="p")
        assert guest.consent(agreed=False).json()["detail"]["code"] == "other-device"
        owner.consent()
        slow = {"screen_width": 1, "screen_height": 1, "viewport_width": 1, "viewport_height": 1}
        slow |= {"pixel_ratio": 1, "zoom": 1, "frame_ms": 1000, "touch": False}
        assert guest.post("check", **slow).json()["detail"]["code"] == "other-device"
        assert owner.get("state").json()["step"] == "check"
        assert served.rows("select status from sessions") == [("running",)]

    def test_a_guest_gives_no_session_up_by_skipping(self, serve: Serve) -> None:
        served = serve(realism())
        owner = served.visitor().begin(PROLIFIC_PID="p", SESSION_ID="s")
        guest = served.visitor()
        guest.enter(PROLIFIC_PID="p")
        replies: list[Any] = []
        while guest.state["step"] == "trial" and len(replies) < 50:
            trial = guest.trial
            skip = {"trial": trial["trial"], "attempt": trial["attempt"], "reason": "other", "end": True}
            replies.append(guest.post("skip", **skip))
            if replies[-1].status_code != 200:
                break
        assert (replies[-1].status_code, replies[-1].json()["detail"]["code"]) == (403, "other-device")
        assert owner.get("state").json()["step"] == "trial"
        assert served.rows("select status from sessions") == [("running",)]

    def test_a_guest_gives_no_session_up_by_spoiling(self, serve: Serve) -> None:
        served = serve(realism())
        owner = served.visitor().begin(PROLIFIC_PID="p", SESSION_ID="s")
        guest = served.visitor()
        guest.enter(PROLIFIC_PID="p")
        for _ in range(400):
            if guest.answer(spoiled=True, spoiled_reason="blurred").status_code != 200:
                break
        assert guest.replies[-1].json()["detail"]["code"] == "other-device"
        assert owner.get("state").json()["step"] == "trial"

    def test_a_session_of_another_question_gives_no_hold_on_the_first(self, serve: Serve) -> None:
        served = serve(realism("one"), realism("two"))
        owner = served.visitor().begin("/q/one", PROLIFIC_PID="p", SESSION_ID="s")
        guest = served.visitor()
        guest.begin("/q/two", PROLIFIC_PID="p", SESSION_ID="guess")  # the id is only a label: a session of its own
        for parameters in ({"PROLIFIC_PID": "p"}, {"PROLIFIC_PID": "p", "SESSION_ID": "guess"}, {}):
            guest.enter("/q/one", **parameters)
            assert guest.post("withdraw", delete=True).status_code == 403
            guest.enter("/q/two", PROLIFIC_PID="p", SESSION_ID="guess")
        assert owner.get("state").json()["step"] == "trial"

    def test_the_page_says_where_one_can_withdraw(self, serve: Serve, chromium: Any) -> None:  # noqa: ANN401
        served = serve(realism())
        owner = served.visitor().begin(PROLIFIC_PID="p")
        context = chromium.new_context(locale="en-GB")
        page = context.new_page()
        page.goto(f"{served.address}/?PROLIFIC_PID=p")
        page.get_by_role("button", name="Withdraw").click()
        page.get_by_role("dialog").get_by_label("Also delete all my answers").check()
        page.get_by_role("dialog").get_by_role("button", name="Withdraw").click()
        page.wait_for_selector("text=This session began on another device")
        for _ in range(50):  # and the trials go on: no key counts before the image has been there for a while
            page.keyboard.press("f")
            page.wait_for_timeout(100)
            if served.count("responses"):
                break
        assert served.count("responses") > 0
        owner.get("state")
        owner.walk()
        page.reload()
        page.wait_for_selector("text=its code is shown there")
        assert owner.state["done"]["personal_code"] not in page.content()
        context.close()

    def test_the_same_proof_is_the_same_rater_on_any_device(self, serve: Serve) -> None:
        served = serve(realism())
        for parameters in ({"PROLIFIC_PID": "p", "SESSION_ID": "s"}, {"workerId": "A", "assignmentId": "a"}):
            served.visitor().begin(**parameters)
            elsewhere = served.visitor()
            assert "resume" in elsewhere.enter(**parameters).json()
            assert elsewhere.post("withdraw", delete=True).status_code == 200

    def test_the_saved_link_makes_an_owner_of_a_guest(self, serve: Serve) -> None:
        served = serve(realism())
        link = served.visitor().enter(PROLIFIC_PID="p").json()["resume"]
        elsewhere = served.visitor()
        elsewhere.enter(PROLIFIC_PID="p")
        assert elsewhere.post("withdraw").status_code == 403
        elsewhere.enter(link)
        assert elsewhere.post("withdraw").status_code == 200

    def test_thirty_at_once_are_one_session(self, serve: Serve) -> None:
        served = serve(realism(raters=30))
        visitors = [served.visitor() for _ in range(30)]
        with ThreadPoolExecutor(30) as pool:
            replies = list(pool.map(lambda v: v.enter(PROLIFIC_PID="same"), visitors))
        assert [reply.status_code for reply in replies] == [200] * 30
        assert served.count("sessions") == served.count("persons") == 1
        assert sum("resume" in reply.json() for reply in replies) == 1  # who came first


class TestCodes:
    def test_a_code_is_of_one_session_and_outcome(self) -> None:
        ended = [(f"s-{number}", outcome) for number in range(500) for outcome in ("complete", "returned")]
        codes = {personal_code("key", session, outcome) for session, outcome in ended}
        assert len(codes) == len(ended)
        assert {len(each) for each in codes} == {11}
        assert set("".join(codes)) <= {*CODE_LETTERS, "-"}
        assert not set("0O1I") & set(CODE_LETTERS)
        code = personal_code("key", "s-7", "complete")
        assert session_of_code("key", f" {code.lower().replace('-', ' ')} ", ended) == "s-7"
        assert session_of_code("key", personal_code("key", "s-7", "complete"), [("s-7", "returned")]) is None
        assert session_of_code("another", code, ended) is None
        for invented in ("", "-", "AAAAA-AAAAA", code[:-1], code + "2"):
            assert session_of_code("key", invented, ended) is None

    def test_the_researcher_checks_a_claimed_code(self, serve: Serve) -> None:
        served = serve(realism(), collect={"codes": {"complete": "C"}})
        first = served.visitor().begin(PROLIFIC_PID="p-1").walk().state["done"]
        second = served.visitor().begin(PROLIFIC_PID="p-2").walk().state["done"]
        running = served.visitor().begin(PROLIFIC_PID="p-3")
        assert first["code"] == second["code"] == "C"
        assert first["personal_code"] != second["personal_code"]
        researcher = served.client(follow_redirects=True)
        researcher.get("/researcher", params={"token": served.service.catalogue.secret("researcher")})
        rows = researcher.get("/researcher/api/raters").json()["rows"]
        assert sorted(str(row["code"]) for row in rows) == sorted(
            ["None", first["personal_code"], second["personal_code"]]
        )
        for done, identity in ((first, "p-1"), (second, "p-2")):
            page = researcher.get("/researcher/api/raters", params={"code": done["personal_code"].lower()}).json()
            assert page["total"] == 1
            (person,) = served.rows(f"select person from identities where identity = '{identity}'")[0]
            assert page["rows"][0]["rater"] == person
        assert researcher.get("/researcher/api/raters", params={"code": "22222-22222"}).json()["total"] == 0
        assert running.state["step"] == "trial"
