"""The researcher's overview: slots, cells, conduct, comments, results, exports."""

import io
import zipfile
from pathlib import Path
from typing import Any

import httpx
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from tests.collect.conftest import Serve, Served

from beholder.cli.main import main
from beholder.collect.exchange.export import collected_tables, export
from beholder.collect.researcher.exports import write_export
from beholder.formats.catalogue import WRITABLE
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.ranking import RankingQuestion
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Design, Screening

Json = dict[str, Any]
PAIR = PairQuestion(
    name="pair", design=Design(raters=3, trials=6, attention_every=3), screening=Screening(min_seconds=2)
)
ORDER = RankingQuestion(name="order", images=3, design=Design(raters=1, trials=2))


def sign_in(served: Served) -> httpx.Client:
    client: httpx.Client = served.client(follow_redirects=True)
    token = served.rows("select value from secrets where name = 'researcher'")[0][0]
    client.get("/researcher", params={"token": token})
    client.headers["X-Beholder-CSRF"] = client.get("/researcher/api/overview").json()["csrf"]
    return client


def ask(client: httpx.Client, path: str) -> Json:
    reply = client.get(f"/researcher/api/{path}", timeout=240)
    assert reply.status_code == 200, reply.text
    body: Json = reply.json()
    return body


def test_slots_answers_and_sessions(serve: Serve) -> None:
    served = serve(PAIR, ORDER, collect={"lease_minutes": 5})
    served.visitor().begin("/q/pair").walk()
    second = served.visitor().begin("/q/pair")
    second.answer(spoiled=True, spoiled_reason="blurred")
    second.post(
        "skip", trial=second.trial["trial"], attempt=second.trial["attempt"], reason="broken", comment="no"
    )
    second.answer()
    served.visitor().enter("/q/order")
    pair, order = ask(sign_in(served), "overview")["questions"]
    assert pair["slots"] == {"done": 1, "running": 1, "free": 1}
    assert pair["answers"] == {"valid": 9, "spoiled": 1}  # 6 tests and 2 checks, and 1
    assert pair["skips"] == 1
    assert pair["sessions"] == {"complete": 1, "running": 1}
    assert order["slots"] == {"done": 0, "running": 1, "free": 0}
    served.move_clock(301)
    assert ask(sign_in(served), "overview")["questions"][0]["slots"] == {"done": 1, "running": 0, "free": 2}


def test_cells_are_counted_by_generators(serve: Serve) -> None:
    served = serve(PAIR, ORDER, RealismQuestion(name="real", design=Design(raters=2, trials=4)))
    served.visitor().begin("/q/pair").walk()
    served.visitor().begin("/q/order").walk()
    pair, order, real = ask(sign_in(served), "overview")["questions"]
    drawn = pl.read_parquet(served.folder / "tables" / "trials.parquet").filter(pl.col("role") == "test")
    makers = drawn.with_columns(
        made=pl.col("images").list.eval(pl.element().str.split("/").list.first()).list.sort()
    )
    expected = dict(
        makers.filter(pl.col("question") == "pair").group_by(pl.col("made").list.join(" × ")).len().iter_rows()
    )
    assert {cell["cell"]: cell["planned"] for cell in pair["cells"]} == expected
    assert sum(cell["collected"] for cell in pair["cells"]) == 6
    assert {cell["cell"]: (cell["collected"], cell["planned"]) for cell in order["cells"]} == dict.fromkeys(
        ("nimbus", "quasar", "zephyr"), (2, 2)
    )
    assert {cell["cell"]: cell["planned"] for cell in real["cells"]}["real"] == 4
    assert all(cell["collected"] == 0 for cell in real["cells"])


def test_conduct_of_raters(serve: Serve) -> None:
    """8 answers 10 s apart after 10 s: 80 s; then one after 10 minutes, of which 60 s count: 140 s in all."""
    served = serve(PAIR, pay={"base": 0.28, "minimum_hourly": 12.0})
    visitor = served.visitor().begin("/q/pair", PROLIFIC_PID="anna")
    for number in range(8):
        served.move_clock(600 if number == 7 else 10)
        visitor.answer(seconds=1.0)
    visitor.walk()
    (row,) = ask(sign_in(served), "raters")["rows"]
    assert row["rater"].startswith("r-")
    assert (row["platform"], row["status"], row["question"]) == ("prolific", "complete", "pair")
    assert (row["answers"], row["planned"], row["spoiled"]) == (8, 8, 0)
    assert (row["median_seconds"], row["same_share"], row["attention_share"]) == (1.0, 1.0, 1.0)
    assert row["gold_share"] is None
    assert row["frame_hz"] == pytest.approx(59.9, abs=0.1)
    assert row["active_seconds"] == pytest.approx(7 * 10 + 60, abs=2)
    assert row["hourly"] == pytest.approx(0.28 / 130 * 3600, rel=0.02)
    assert row["flags"] == ["fast", "under the minimum wage"]
    assert "anna" not in ask(sign_in(served), "raters").__repr__()


def test_checks_and_flags(serve: Serve) -> None:
    design = Design(raters=1, trials=8, gold_every=4, qualification=4, attention_every=4)
    screening = Screening(min_gold=0.6, max_same_share=0.9, max_attention_failures=0)
    served = serve(RealismQuestion(name="q", design=design, screening=screening))
    visitor = served.visitor().begin()
    while visitor.state["step"] == "trial":
        visitor.choose("real")
    (row,) = ask(sign_in(served), "raters")["rows"]
    roles = dict(served.rows("select trial, role from trials"))
    right = served.rows("select trial, right from responses")
    gold = [answer for trial, answer in right if roles[trial] == "gold"]
    attention = [answer for trial, answer in right if roles[trial] == "attention"]
    assert row["gold_share"] == sum(gold) / len(gold)
    assert row["attention_share"] == sum(attention) / len(attention)
    assert row["qualification_share"] == 0.0
    assert row["same_share"] == 1.0
    expected_flags = ["same answer"]
    expected_flags += ["gold failed"] if sum(gold) / len(gold) < 0.6 else []
    expected_flags += ["attention failed"] if 0 in attention else []
    assert [flag for flag in row["flags"] if flag != "under the minimum wage"] == expected_flags


def test_raters_come_in_pages_and_by_question(serve: Serve) -> None:
    served = serve(PAIR, ORDER)
    for path in ("/q/pair", "/q/order", "/q/pair"):
        served.visitor().enter(path)
    client = sign_in(served)
    assert ask(client, "raters")["total"] == 3
    page = ask(client, "raters?offset=1&limit=1")
    assert (page["offset"], len(page["rows"])) == (1, 1)
    pairs = ask(client, "raters?question=pair")
    assert (pairs["total"], {row["question"] for row in pairs["rows"]}) == (2, {"pair"})
    assert client.get("/researcher/api/raters?limit=0").status_code == 422


def test_comments_are_shown_with_skips(serve: Serve) -> None:
    served = serve(PAIR)
    visitor = served.visitor().begin("/q/pair")
    visitor.post("skip", trial=visitor.trial["trial"], attempt=1, reason="disturbing", comment="a wound")
    visitor.walk()
    rows = ask(sign_in(served), "comments")["rows"]
    assert [(row.get("clear"), row.get("skipped"), row["text"]) for row in rows] == [
        (4, None, "fine"),
        (None, "disturbing", "a wound"),
    ]


def test_comments_are_counted_that_say_something(serve: Serve) -> None:
    served = serve(PAIR)
    for comment in ("", "fine"):
        visitor = served.visitor().begin("/q/pair").walk("debrief")
        visitor.post("debrief", clear=4, fair=None, comment=comment)
    client = sign_in(served)
    assert ask(client, "overview")["comments"] == 1
    assert len(ask(client, "comments")["rows"]) == 2  # both rated the task


def test_formats_are_offered_that_the_study_can_be_written_in(serve: Serve) -> None:
    client = sign_in(serve(PAIR))
    assert ask(client, "overview")["formats"] == ["parquet", "csv", "hpd", "pickapic", "jspsych", "datasets"]


def test_results_say_what_can_be_said(serve: Serve) -> None:
    """A question that has no answers, or no method yet, says why; it does not stand in the way of the others."""
    served = serve(PAIR.model_copy(update={"screening": Screening()}), ORDER)
    for choice in ("left", "right"):
        visitor = served.visitor().begin("/q/pair")
        while visitor.state["step"] == "trial":
            visitor.choose(visitor.trial["instruction"] or choice)
        visitor.walk()
    client = sign_in(served)
    results = ask(client, "results")
    assert results["responses"] == 16
    assert "valid however often you look" in results["note"]
    boards = {(board["question"], board.get("method")): board for board in results["boards"]}
    live, fixed = boards["pair", "win-rate"], boards["pair", "bradley-terry"]
    assert {row["generator"] for row in live["rows"]} == {"zephyr", "quasar", "nimbus"}
    assert (live["anytime"], fixed["anytime"]) == (True, False)
    assert all(row["low"] <= row["rating"] <= row["high"] and row["raters"] == 2 for row in live["rows"])
    assert all(row["separated_from"] == [] for row in live["rows"])  # two raters separate nothing
    assert "fixed in advance" in fixed["note"]
    assert "separated_from" not in fixed["rows"][0]
    assert boards["order", None]["rows"] == []
    assert boards["order", None]["why"]
    assert ask(client, "results") == results
    assert not (served.folder / "tables" / "answers.parquet").exists()


def test_an_export_is_the_database_row_for_row(serve: Serve) -> None:
    served = serve(PAIR)
    served.visitor().begin("/q/pair").walk()
    served.visitor().begin("/q/pair").answer()
    reply = sign_in(served).get("/researcher/api/export/parquet", timeout=240)
    assert reply.headers["content-type"] == "application/zip"
    assert 'filename="test-parquet.zip"' in reply.headers["content-disposition"]
    archive = zipfile.ZipFile(io.BytesIO(reply.content))
    for name, frame in collected_tables(served.url).items():
        assert_frame_equal(pl.read_parquet(archive.read(f"tables/{name}.parquet")), frame)
    answers = pl.read_parquet(archive.read("tables/answers.parquet"))
    rows = served.rows("select trial, session, attempt, seconds from responses")
    assert sorted(answers.select("trial", "session", "attempt", "seconds").iter_rows()) == sorted(rows)


def test_a_format_that_does_not_fit_says_why(serve: Serve) -> None:
    served = serve(PAIR)
    client = sign_in(served)
    reply = client.get("/researcher/api/export/layer6", timeout=240)
    assert reply.status_code == 409
    assert "no question of kind realism" in reply.json()["detail"]["message"]
    assert client.get("/researcher/api/export/nothing").status_code == 404


@pytest.mark.parametrize("name", ["csv", "hpd", "jspsych"])
def test_other_formats_from_the_command_line(serve: Serve, name: str, tmp_path: Path) -> None:
    served = serve(PAIR)
    served.visitor().begin("/q/pair").walk()
    assert main(["export", str(served.folder), "--format", name, "--out", str(tmp_path / "out")]) == 0
    assert main(["export", str(served.folder), "--format", name, "--out", str(tmp_path / "out.zip")]) == 0
    files = {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()}
    archive = zipfile.ZipFile(tmp_path / "out.zip")
    assert {entry: archive.read(entry) for entry in archive.namelist()} == files


def test_without_a_server_the_tables_are_exported(serve: Serve, tmp_path: Path) -> None:
    served = serve(PAIR)
    served.visitor().begin("/q/pair").walk()
    export(served.folder, served.url)
    expected = collected_tables(served.url)["answers"]
    written = write_export(served.folder, None, "parquet", tmp_path)
    assert_frame_equal(pl.read_parquet(tmp_path / "tables" / "answers.parquet"), expected)
    assert len(written.files) == 8


def test_the_command_says_what_it_needs(serve: Serve, capsys: pytest.CaptureFixture[str]) -> None:
    served = serve(PAIR)
    assert main(["export", str(served.folder)]) == 2
    assert "--format and --out are needed" in capsys.readouterr().err
    assert main(["export"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in WRITABLE)
    out = str(served.folder / "x")
    assert main(["export", str(served.folder), "--format", "richhf", "--out", out]) == 2
    assert "no question of kind rich-feedback" in capsys.readouterr().err
