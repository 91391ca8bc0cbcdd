"""Forgetting: what names a person, what they answered, and the receipt."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.collect.conftest import Serve, Served

from beholder.cli.main import main
from beholder.collect.exchange.export import collected_tables, export
from beholder.collect.exchange.forget import Receipt, find_rater, forget_rater
from beholder.collect.researcher import actions
from beholder.collect.session.identity import pseudonym
from beholder.consolidate.stage import run as consolidate
from beholder.study.kinds.pair import PairQuestion
from beholder.study.question import Design
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store

PAIR = PairQuestion(name="q", design=Design(raters=2, trials=6))
SECRET = "prolific-anna-5f3c"
OTHER = "prolific-bert-77aa"


@pytest.fixture
def served(serve: Serve) -> Served:
    """Two raters have answered everything; the tables are exported and consolidated."""
    served = serve(PAIR, collect={"redirect": "https://panel.example/?c={code}&s={SESSION_ID}"})
    for identity in (SECRET, OTHER):
        served.visitor().begin(PROLIFIC_PID=identity, SESSION_ID=f"session-of-{identity}").walk()
    export(served.folder, served.url)
    consolidate(served.folder)
    return served


def bytes_of(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file())


def test_no_address_of_a_rater_is_kept(served: Served) -> None:
    """Everyone came from this machine: neither its address nor a browser's id is in the database."""
    served.service.database.engine.dispose()
    content = bytes_of(served.folder)
    assert b"127.0.0.1" not in content
    assert SECRET.encode() in content


def test_a_rater_is_forgotten_altogether(served: Served) -> None:
    person = find_rater(served.url, "prolific", SECRET)
    other = find_rater(served.url, "prolific", OTHER)
    served.service.database.engine.dispose()
    receipt = forget_rater(served.folder, served.url, person, keep_answers=False)
    assert (receipt.identities, receipt.sessions, receipt.answers, receipt.slots_opened) == (1, 1, 6, 1)
    assert receipt.tables == ("judgements", "raters", "answers", "sessions")
    assert "labels" in receipt.stale
    for table in ("persons", "sessions", "identities"):
        assert [row[0] for row in served.rows(f"select person from {table}")] == [other]
    assert served.count("responses") == 6
    assert served.count("comments") == 1
    store = Store(served.folder)
    for name in ("sessions", "answers", "judgements", "raters"):
        assert store.read(name)["rater"].unique().to_list() == [other]
    store.read("marks")
    content = bytes_of(served.folder)
    assert SECRET.encode() not in content
    assert person.encode() not in content
    assert OTHER.encode() in content


def test_every_table_that_names_them_is_rewritten_and_all_that_rests_on_them_is_stale(served: Served) -> None:
    person, other = (find_rater(served.url, "prolific", identity) for identity in (SECRET, OTHER))
    store = Store(served.folder)
    session_of = dict(store.read("sessions").select("rater", "session").iter_rows())
    blocks = [
        {"question": "q", "rater": rater, "session": session_of[rater], "block": 0, "answers": 6, "reversals": 2}
        | {"right_share": 0.5, "modal_ms": 100.0, "floor_share": 0.0, "ceiling_share": 0.0, "converged": True}
        for rater in (person, other)
    ]
    store.write({"thresholds": TABLES["thresholds"].frame(blocks)}, Provenance("consolidate", {}, 0, {}))
    for name in ("training", "predictions", "label_errors"):
        store.write({name: TABLES[name].empty()}, Provenance("learn", {}, 0, {}))
    for name in ("scores", "correlations", "metric_separations"):
        store.write({name: TABLES[name].empty()}, Provenance("measure", {}, 0, {}))
    receipt = forget_rater(served.folder, served.url, person, keep_answers=False)
    assert receipt.tables == ("thresholds", "judgements", "raters", "answers", "sessions")
    assert store.read("thresholds")["rater"].to_list() == [other]
    assert person.encode() not in bytes_of(served.folder)
    assert receipt.stale == (
        *("raters", "judgements", "labels", "regions", "thresholds", "agreement"),
        *("training", "predictions", "label_errors"),
        *("correlations", "metric_separations"),  # scores rest on the images alone
    )


def test_their_place_is_taken_by_someone_else(served: Served) -> None:
    assert served.visitor().enter().status_code == 409
    forget_rater(served.folder, served.url, find_rater(served.url, "prolific", SECRET), keep_answers=False)
    served.visitor().begin().walk()
    answers = collected_tables(served.url)["answers"]
    assert (answers.height, answers["trial"].n_unique()) == (12, 12)
    consolidate(served.folder)


def test_someone_in_the_middle_is_forgotten_too(serve: Serve) -> None:
    served = serve(PAIR)
    visitor = served.visitor().begin(PROLIFIC_PID=SECRET)
    visitor.answer()
    forget_rater(served.folder, served.url, find_rater(served.url, "prolific", SECRET), keep_answers=False)
    assert visitor.get("state").status_code == 401
    assert served.rows("select count(*) from slots where session is null and not done")[0][0] == 2


def test_the_answers_may_be_kept(served: Served) -> None:
    person = find_rater(served.url, "prolific", SECRET)
    served.service.database.engine.dispose()
    before = collected_tables(served.url)["answers"]
    receipt = forget_rater(served.folder, served.url, person, keep_answers=True)
    assert (receipt.what, receipt.identities, receipt.answers, receipt.tables) == ("identity", 1, 0, ())
    assert collected_tables(served.url)["answers"].equals(before)
    assert SECRET.encode() not in bytes_of(served.folder)


def test_the_receipt_is_kept_and_can_be_checked(served: Served) -> None:
    person = find_rater(served.url, "prolific", SECRET)
    receipt = forget_rater(served.folder, served.url, person, keep_answers=False)
    kind, detail = served.rows("select kind, detail from events order by id desc limit 1")[0]
    assert kind == "forgotten"
    logged = json.loads(detail)
    assert logged["hash"] == receipt.hash
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in logged.items()
    }
    assert Receipt(**values).signed() == receipt
    assert person not in detail


def test_logged_actions_lose_the_name_of_the_rater(served: Served) -> None:
    person = find_rater(served.url, "prolific", SECRET)
    with served.service.database.writing() as connection:
        catalogue, study = served.service.catalogue, served.study
        actions.exclude(connection, catalogue, study, person, reason="wrote us a letter", now=1.0, who="anna")
    forget_rater(served.folder, served.url, person, keep_answers=False)
    details = [
        json.loads(row[0]) for row in served.rows("select detail from events where kind like 'researcher-%'")
    ]
    assert details == [{"who": "anna", "opened": 1}]


def test_the_command_line(served: Served, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(served.folder)
    assert main(["forget", folder, "--platform", "prolific", "--id", SECRET]) == 0
    out = capsys.readouterr().out
    assert "answers deleted     6" in out
    assert "to be made again: raters, judgements, labels, regions, thresholds, agreement by `beholder run`" in out
    assert main(["forget", folder, "--platform", "prolific", "--id", SECRET]) == 2
    assert "there is no rater r-" in capsys.readouterr().err
    rater = served.rows("select person from persons")[0][0]
    assert main(["forget", folder, "--rater", rater, "--keep-answers", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["identities"] == 1
    assert served.count("responses") == 6


def test_the_whole_map_can_be_emptied(served: Served, capsys: pytest.CaptureFixture[str]) -> None:
    served.service.database.engine.dispose()
    assert main(["forget", str(served.folder), "--all-identities"]) == 0
    assert "identities deleted  2" in capsys.readouterr().out
    assert served.count("identities") == 0
    content = bytes_of(served.folder)
    assert SECRET.encode() not in content
    assert OTHER.encode() not in content
    assert served.count("responses") == 12


def test_no_id_leads_to_a_pseudonym_afterwards(served: Served, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever has the database and the platform's list of ids cannot put the two together again."""
    before = find_rater(served.url, "prolific", SECRET)
    served.service.database.engine.dispose()
    assert main(["forget", str(served.folder), "--all-identities", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["what"] == "all identities and the key of pseudonyms"
    key = served.rows("select value from secrets where name = 'person'")[0][0]
    assert pseudonym(key, "prolific", SECRET) != before
    assert served.rows("select count(*) from sessions where proof_hash is not null") == [(0,)]
    assert main(["forget", str(served.folder), "--platform", "prolific", "--id", SECRET]) == 2
    err = capsys.readouterr().err
    assert "when all identities were forgotten" in err
    assert "--rater PSEUDONYM" in err
    assert main(["forget", str(served.folder), "--rater", before]) == 0


def test_a_running_server_goes_by_the_new_key(serve: Serve, capsys: pytest.CaptureFixture[str]) -> None:
    served = serve(PAIR)
    served.visitor().begin(PROLIFIC_PID=SECRET)
    before = served.rows("select person from persons")[0][0]
    assert main(["forget", str(served.folder), "--all-identities"]) == 0
    assert "whoever comes back is a new rater" in capsys.readouterr().out
    served.visitor().begin(PROLIFIC_PID=SECRET)
    persons = {row[0] for row in served.rows("select person from persons")}
    assert len(persons) == 2
    now = find_rater(served.url, "prolific", SECRET)  # who came since is found
    assert now != before
    assert now in persons


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name one"),
        (["--rater", "r-1", "--all-identities"], "name one"),
        (["--platform", "prolific"], "belong together"),
        (["--all-identities", "--keep-answers"], "keeps the answers anyway"),
    ],
)
def test_wrong_usage(
    tmp_path: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["forget", str(tmp_path), *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_folder_without_a_database_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["forget", str(tmp_path), "--rater", "r-1"]) == 2
    assert "has no collect.sqlite" in capsys.readouterr().err
