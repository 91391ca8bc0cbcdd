"""An arena from the first vote to the board: blind, each vote once and on the disk, capped, a study in the end."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import text, update
from tests.collect.arena.generator_sections import add_generators

from beholder.arena.suspicion import FIRST_PROBE, PROBED
from beholder.collect.arena import ballots as ballot_rules
from beholder.collect.arena import service as services
from beholder.collect.arena.application import create_arena
from beholder.collect.arena.catalogue import load_images, retire
from beholder.collect.arena.export import export_arena
from beholder.collect.arena.schema import arena_url, ballots, open_arena
from beholder.collect.live.moderation import decide, moderation_queue
from beholder.consolidate.stage import run as consolidate
from beholder.errors import StageError, StudyError
from beholder.rank.stage import run as rank
from beholder.study.kinds.pair import PairQuestion
from beholder.tables.store import Store

Json = dict[str, Any]


class Arena:
    """A served arena and its voters; time passes as the test says."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.url = folder, arena_url(folder)
        self.serve()

    def serve(self, *, own_prompts: bool = False) -> None:
        """Create the application; what it draws is the same in every run of a test."""
        self.app = create_arena(self.folder, self.url, own_prompts=own_prompts, rng=np.random.default_rng(5))
        self.service = self.app.state.service

    def voter(self) -> "Voter":
        return Voter(self)

    def rows(self, query: str) -> list[Any]:
        with open_arena(self.url).reading() as connection:
            return list(connection.execute(text(query)).all())

    def earlier(self) -> None:
        """All pairs were served a minute before."""
        with self.service.database.writing() as connection:
            connection.execute(update(ballots).values(served=ballots.c.served - 60))


class Voter:
    def __init__(self, arena: Arena) -> None:
        self.arena = arena
        self.client = TestClient(arena.app, base_url="http://arena")
        reply = self.client.post("/api/enter", json={"language": "en", "agreed": True})
        assert reply.status_code == 200
        self.state: Json = reply.json()

    def send(self, **changes: object) -> Any:  # noqa: ANN401 - the client's own
        body = {"ballot": self.state["ballot"], "key": token_hex(16), "outcome": "left", "seconds": 3.0} | changes
        return self.client.post("/api/answer", json=body)

    def vote(self, outcome: str = "left") -> Json:
        self.arena.earlier()
        reply = self.send(outcome=outcome)
        assert reply.status_code == 200, reply.text
        content: Json = reply.json()
        self.state = content["state"]
        return content


@pytest.fixture
def arena(painted_study: Callable[..., Path]) -> Iterator[Arena]:
    served = Arena(painted_study(PairQuestion(name="preference"), seed=2, draws=200))
    yield served
    served.service.database.engine.dispose()


def test_nothing_names_an_entry_before_the_vote(arena: Arena) -> None:
    names = {str(row.entry) for row in arena.rows("select entry from entries")}
    files = {Path(p.path).name for p in arena.service.images.pictures.values()} | set(
        arena.service.images.pictures
    )
    voter = arena.voter()
    for _ in range(4):
        before = voter.client.get("/api/state").text
        assert not any(word in before for word in names | files)
        headers = voter.client.get(f"/api/image/{voter.state['images'][0]['token']}").headers
        assert not any(word in str(headers) for word in names | files)
        revealed = voter.vote()["revealed"]
        assert {revealed["left"], revealed["right"]} <= names


def test_an_image_is_served_to_its_voter_alone(arena: Arena) -> None:
    one, other = arena.voter(), arena.voter()
    tokens = [image["token"] for image in one.state["images"]]
    assert len(set(tokens)) == 2
    assert one.client.get(f"/api/image/{tokens[0]}").headers["content-type"] == "image/webp"
    assert other.client.get(f"/api/image/{tokens[0]}").status_code == 404
    assert TestClient(arena.app).get(f"/api/image/{tokens[0]}").status_code == 401
    for _ in range(2):
        one.vote()
    assert one.client.get(f"/api/image/{tokens[0]}").status_code == 404  # two pairs later


def test_a_vote_is_taken_once_whatever_is_sent_again(arena: Arena) -> None:
    voter = arena.voter()
    arena.earlier()
    key, ballot = token_hex(16), voter.state["ballot"]
    first = voter.send(key=key)
    again = voter.send(key=key)
    assert (first.status_code, again.status_code) == (200, 200)
    assert first.json() == again.json()
    assert voter.send(outcome="right").status_code == 409  # another key
    voter.state = first.json()["state"]
    arena.earlier()
    assert voter.send(key=key).status_code == 409  # a used key on another pair
    assert arena.rows("select ballot, outcome from votes") == [(ballot, "left")]
    assert arena.rows("select votes from voters") == [(1,)]


def test_a_vote_is_on_the_disk_when_it_is_acknowledged(arena: Arena) -> None:
    voter = arena.voter()
    voter.vote("both-bad")
    other = open_arena(arena.url)  # a connection of its own
    with other.reading() as connection:
        assert connection.execute(text("select outcome from votes")).all() == [("both-bad",)]


def test_pairs_of_others_strangers_and_the_hasty_are_refused(arena: Arena) -> None:
    one, other = arena.voter(), arena.voter()
    assert one.send(ballot=other.state["ballot"]).status_code == 404
    assert one.send().status_code == 429  # in no time
    assert one.send(outcome="neither").status_code == 422
    assert TestClient(arena.app).get("/api/state").status_code == 401
    assert TestClient(arena.app).post("/api/enter", json={"agreed": False}).status_code == 403
    assert arena.rows("select * from votes") == []


def test_a_voter_who_comes_back_has_the_same_pair(arena: Arena) -> None:
    voter = arena.voter()
    assert voter.client.get("/api/state").json()["ballot"] == voter.state["ballot"]
    assert voter.client.post("/api/enter", json={"agreed": True}).json()["ballot"] == voter.state["ballot"]
    assert arena.rows("select count(*) from voters") == [(1,)]


def test_votes_of_one_voter_are_capped(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ballot_rules, "CAP", 3)
    voter = arena.voter()
    for _ in range(3):
        voter.vote()
    assert voter.state["step"] == "capped"
    assert voter.client.get("/api/state").json()["step"] == "capped"


def test_every_pair_is_logged_with_its_propensity(arena: Arena) -> None:
    voter = arena.voter()
    for _ in range(12):
        voter.vote()
    count = len(arena.service.draw.entries)
    least = 0.5 / (count * (count - 1) / 2)
    for row in arena.rows("select propensity, is_check, entries, first, second from ballots"):
        assert row.entries == count
        assert row.is_check or row.propensity >= least - 1e-12
        assert bool(row.is_check) == (row.first == row.second)


def test_the_board_and_ones_own_after_thirty_votes(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ballot_rules, "CHECK_SHARE", 0.0)
    best = arena.service.draw.entries[0]
    for _ in range(3):
        voter = arena.voter()
        for _ in range(30):
            pair = arena.rows(f"select first, second from ballots where ballot = '{voter.state['ballot']}'")[0]
            voter.vote("left" if pair.first == best else "right" if pair.second == best else "tie")
        arena.service.renew()
    board = voter.client.get("/api/board").json()
    rows = {row["entry"]: row for row in board["entries"]}
    assert board["votes"] == 90
    assert board["voters"] == 3
    assert rows[best]["rating"] == max(row["rating"] for row in rows.values())
    assert rows[best]["weighted"] == 1.0
    assert all(row["low"] <= row["rate"] <= row["high"] for row in rows.values() if row["rate"] is not None)
    assert rows[best]["styled"] is not None
    assert all(row["entry"] not in row["better_than"] for row in rows.values())
    assert rows[board["entries"][-1]["entry"]]["better_than"] is not rows[best]["better_than"]
    assert sum(row["exposure"] for row in rows.values()) == pytest.approx(2)
    own = voter.client.get("/api/own").json()
    assert own["entries"][0]["entry"] == best
    assert arena.voter().client.get("/api/own").json()["entries"] is None
    assert "v-" not in voter.client.get("/api/board").text  # no voter is named


def test_retired_entries_are_shown_no_more_and_stay_on_the_board(arena: Arena) -> None:
    gone = arena.service.draw.entries[1]
    with arena.service.database.writing() as connection:
        retire(connection, gone, "replaced by a later version")
        with pytest.raises(StageError, match="retired already"):
            retire(connection, gone, "again")
        with pytest.raises(StageError, match="there is no entry 'nobody'"):
            retire(connection, "nobody", "")
    arena.service.renew()
    assert gone not in arena.service.draw.entries
    row = next(row for row in arena.service.board["entries"] if row["entry"] == gone)
    assert row["reason"] == "replaced by a later version"
    assert row["exposure"] == 0
    assert {"retired", "entered"} == {event["kind"] for event in arena.service.board["log"]}


def test_a_restart_goes_on_where_it_stopped(arena: Arena) -> None:
    voter = arena.voter()
    voter.vote()
    again = Arena(arena.folder)
    cookie = voter.client.cookies["beholder"]
    later = TestClient(again.app, base_url="http://arena", cookies={"beholder": cookie})
    assert later.get("/api/state").json()["ballot"] == voter.state["ballot"]
    assert (
        again.service.board["votes"]
        + len(again.rows("select 1 from ballots b join votes v using (ballot) where is_check"))
        == 1
    )


def test_a_voter_to_one_side_is_flagged_for_the_researcher(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ballot_rules, "CHECK_SHARE", 0.0)
    voter = arena.voter()
    for _ in range(20):
        voter.vote("left")
    arena.service.renew()
    assert list(arena.service.flagged().values()) == [["one side"]]
    assert "1 voters stand out" in export_arena(arena.folder, arena.url)
    assert list(json.loads((arena.folder / "arena" / "flagged.json").read_text()).values()) == [["one side"]]


def test_votes_become_a_study_that_is_ranked_with_its_propensities(arena: Arena) -> None:
    rng = np.random.default_rng(4)
    for _ in range(4):
        voter = arena.voter()
        for _ in range(20):
            voter.vote(str(rng.choice(ballot_rules.OUTCOMES)))
    assert "80 votes of 4 voters" in export_arena(arena.folder, arena.url)
    place = arena.folder / "arena"
    consolidate(place)
    rank(place)
    store = Store(place)
    trials = store.read("trials")
    assert set(trials["role"]) <= {"attention", "test"}
    assert (trials.filter(trials["role"] == "test")["propensity"] < 1).all()
    assert len(store.read("answers")) == 80
    assert set(store.read("ratings")["generator"]) == set(arena.service.draw.entries)
    export_arena(arena.folder, arena.url)  # again, over the first


def test_services_are_renewed_only_by_news(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    called = []
    monkeypatch.setattr(services, "vote_table", lambda *_: called.append(1))
    arena.service.renew()
    assert called == []
    assert load_images(arena.folder).entries == arena.service.images.entries


def test_own_prompts_need_generators_that_can_make_images(arena: Arena) -> None:
    with pytest.raises(StudyError, match="has no \\[\\[generators"):
        create_arena(arena.folder, arena.url, own_prompts=True)


ASK = {"text": "three blue cats, in the snow, photo style"}


def serve_with_own_prompts(arena: Arena, *, own_prompts: bool = True) -> None:
    """Serve the arena again, with a generator for every entry."""
    add_generators(arena.folder, arena.service.images.entries)
    arena.service.database.engine.dispose()
    arena.serve(own_prompts=own_prompts)


def ask_and_wait(voter: Voter) -> None:
    """Ask for a pair on an own prompt, and wait until both images are made."""
    voter.state = voter.client.post("/api/own/prompt", json=ASK).json()["state"]
    for _ in range(600):
        if voter.state["step"] != "making":
            break
        time.sleep(0.05)
        voter.state = voter.client.get("/api/state").json()
    assert voter.state["step"] == "vote"
    assert voter.state["prompt"] == ASK["text"]


def test_a_pair_on_ones_own_prompt_counts_once_it_is_approved(arena: Arena) -> None:
    serve_with_own_prompts(arena)
    voter = arena.voter()
    assert voter.client.post("/api/own/prompt", json=ASK).json()["refused"] == "not-agreed"
    voter.client.post("/api/own/agree")
    assert voter.client.post("/api/own/prompt", json={"text": "x"}).json()["refused"] == "length"
    ask_and_wait(voter)
    for image in voter.state["images"]:
        assert voter.client.get(f"/api/image/{image['token']}").headers["content-type"] == "image/webp"
    assert voter.vote("left")["revealed"]["check"] is False
    arena.service.renew()
    assert arena.service.board["votes"] == 0  # nobody has looked at it
    with arena.service.live.database.writing() as connection:
        decide(connection, [row["attempt"] for row in moderation_queue(connection)], "approved")
    voter.vote("left")
    arena.service.renew()
    of_own_prompt = [
        row.is_check for row in arena.rows("select prompt, is_check from ballots") if row.prompt == ASK["text"]
    ]
    assert of_own_prompt == [False]
    counted = arena.rows("select count(*) from votes v join ballots b using (ballot) where not b.is_check")
    assert arena.service.board["votes"] == counted[0][0]
    export_arena(arena.folder, arena.url)
    assert len(Store(arena.folder / "arena").read("answers")) == 1  # the study has no images of other prompts
    arena.service.live.close()


def test_writing_a_prompt_does_not_skip_the_open_pair(arena: Arena) -> None:
    serve_with_own_prompts(arena)
    voter = arena.voter()
    first = voter.state["ballot"]
    voter.client.post("/api/own/agree")
    for _ in range(2):  # two prompts in a row: the first pair is still the one that is owed
        ask_and_wait(voter)
        assert voter.state["ballot"] != first
        voter.vote("left")
        assert voter.state["ballot"] == first
    for image in voter.state["images"]:
        assert voter.client.get(f"/api/image/{image['token']}").status_code == 200
    voter.vote("right")
    owed = arena.rows("select count(*) from ballots b left join votes v using (ballot) where v.ballot is null")
    assert owed[0][0] == 1  # the next pair alone
    numbers = [row.number for row in arena.rows("select number from ballots order by number")]
    assert numbers == [0, 1, 2, 3]
    arena.service.live.close()


def test_an_arena_that_takes_no_more_prompts_goes_on_with_the_open_pair(arena: Arena) -> None:
    serve_with_own_prompts(arena)
    voter = arena.voter()
    first = voter.state["ballot"]
    voter.client.post("/api/own/agree")
    ask_and_wait(voter)
    arena.service.live.close()
    serve_with_own_prompts(arena, own_prompts=False)
    served_again = TestClient(arena.app, base_url="http://arena", cookies=voter.client.cookies)
    assert served_again.get("/api/state").json()["ballot"] == first


def test_a_suspect_is_probed_and_the_propensity_says_so(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ballot_rules, "CHECK_SHARE", 0.0)
    voter = arena.voter()
    who = arena.rows("select voter from voters")[0][0]
    images = arena.service.images
    prompt, by_entry = next(iter(images.by_prompt.items()))
    probe = (*list(by_entry)[:2], prompt)
    plain = arena.service.draw
    arena.service.draw = replace(plain, probes={who: [probe]})
    monkeypatch.setattr(arena.service, "renew", lambda: None)
    for _ in range(40):
        voter.vote("left")
    rows = arena.rows(
        "select number, prompt, first, second, is_check, even, propensity from ballots order by number"
    )
    early, late = rows[:FIRST_PROBE], rows[FIRST_PROBE:40]
    assert not any(row.is_check for row in early)
    probes = [row for row in late if row.is_check]
    assert 20 <= len(probes) <= 30  # nine tenths of 30
    assert all(
        {row.first, row.second} == set(probe[:2]) and row.prompt == prompt and not row.even for row in probes
    )
    by_pair = {
        frozenset(plain.entries[i] for i in pair): chance
        for pair, chance in zip(plain.plan.pairs, plain.plan.propensity, strict=True)
    }
    for row in late:
        if not row.is_check:
            assert row.propensity == pytest.approx(by_pair[frozenset((row.first, row.second))] * (1 - PROBED))
