"""``beholder panel``: a study of simulated raters comes into a panel, and everybody has a say."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from beholder.cli.main import main

Run = Callable[..., Any]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of six simulated raters, who are paid too little, and an empty panel."""
    room = tmp_path_factory.mktemp("panel")
    rng = np.random.default_rng(0)
    for generator in ("a", "b"):
        for number in range(2):
            file = room / "in" / generator / f"{number}.png"
            file.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(rng.integers(0, 256, (6, 8, 3), dtype=np.uint8)).save(file)
            file.with_suffix(".txt").write_text(f"prompt {number}")
    images = [part for generator in "ab" for part in ("--generated", f"{generator}={room / 'in' / generator}")]
    assert main(["new", "hpd-pairs", str(room / "faces"), *images, "--raters", "6"]) == 0
    settings = room / "faces" / "study.toml"
    text = settings.read_text(encoding="utf-8").replace("accept_low = false", "accept_low = true\nbase = 0.01")
    settings.write_text(text, encoding="utf-8")
    assert main(["collect", str(room / "faces"), "--simulate", "6"]) == 0
    assert main(["panel", "new", str(room / "panel")]) == 0
    assert main(["panel", "add", str(room / "panel"), str(room / "faces"), "--researcher", "ada"]) == 0
    return room


@pytest.fixture
def panel(made: Path, tmp_path: Path) -> Path:
    """A panel of its own for a test, with the study."""
    return Path(shutil.copytree(made / "panel", tmp_path / "panel"))


def names(run: Run, panel: Path) -> list[str]:
    return [row["rater"] for row in json.loads(run("panel", "raters", panel, "--json").out)]


def test_a_panel_from_study_to_ledger(run: Run, panel: Path, made: Path) -> None:
    again = run("panel", "add", panel, made / "faces", "--researcher", "ada")
    assert "6 sessions of 6 raters, 0 new to the panel" in again.out
    assert "never paid" in again.out
    rows = json.loads(run("panel", "raters", panel, "--json").out)
    assert len(rows) == 6
    assert {row["simulated"] for row in rows} == {True}
    assert "per hour" in run("panel", "raters", panel).out
    (fair,) = json.loads(run("panel", "top-ups", panel, "faces", "--json").out)
    assert len(fair["top_ups"]) == 6
    early = run("panel", "approve", panel, "faces", "--by", "ada")
    assert (early.code, "raters may object" in early.err) == (2, True)
    approved = run("panel", "approve", panel, "faces", "--by", "ada", "--no-grace")
    total = sum(up["cents"] for up in fair["top_ups"])
    assert approved.out == f"6 payments approved by ada: {total / 100:.2f}\n"
    paid = run("panel", "pay", panel, "faces", "--platform", "prolific", "--list", "bank")
    assert (paid.code, "nothing is approved for raters of prolific" in paid.err) == (2, True)
    accounts = json.loads(run("panel", "ledger", panel, "--json").out)
    assert sum(row["cents"] for row in accounts) == 0
    assert {"currency": "USD", "account": "study:faces", "cents": -total} in accounts
    assert "balances" in run("panel", "ledger", panel).out
    assert "approved" in run("panel", "payments", panel).out


def test_everybody_has_a_say(run: Run, panel: Path) -> None:
    first, *others = names(run, panel)
    assert run("panel", "rate", panel, "faces", first, 3).code == 0
    rows = json.loads(run("panel", "raters", panel, "--researcher", "ada", "--json").out)
    assert {row["reputation"] for row in rows} == {3.0, 1.99}
    for rater in (first, *others):
        assert run("panel", "rate", panel, "faces", rater, 2, "--by-rater").code == 0
        flagged = run("panel", "flag", panel, "faces", rater, "pay too low")
        assert flagged.out == "faces: flagged\n"
    voice = json.loads(run("panel", "studies", panel, "--json").out)[0]
    assert (voice["ratings"], voice["mean_rating"], voice["flags"], voice["paused"]) == (6, 2.0, 6, False)
    opened = run("panel", "appeal", panel, "faces", first, "--reason", "too fast", "--statement", "I know these")
    assert "appeal 1 is open" in opened.out
    decided = run("panel", "decide", panel, 1, "accept", "--by", "ada", "--reason", "right")
    assert decided.out == "appeal 1: accepted by ada\n"
    assert run("panel", "decide", panel, 1, "reject", "--by", "ada", "--reason", "no").code == 2


def test_the_board_votes_in_the_open(run: Run, panel: Path) -> None:
    seats = [part for n in range(3) for part in ("--rater", f"r{n}", "--researcher", f"s{n}")]
    assert run("panel", "board", panel, *seats[:4], "--independent", "i").code == 2
    assert run("panel", "board", panel, *seats, "--independent", "i").code == 0
    assert (
        run("panel", "propose", panel, "Pay within a week", "--by", "r0").out == "proposal 1: Pay within a week\n"
    )
    for member in ("r0", "r1", "s0"):
        assert run("panel", "vote", panel, 1, "yes", "--by", member).out.endswith(": open\n")
    assert (
        run("panel", "vote", panel, 1, "yes", "--by", "i").out == "proposal 1: 4 yes, 0 no, 0 abstained: adopted\n"
    )
    late = run("panel", "vote", panel, 1, "no", "--by", "s1")
    assert (late.code, "proposal 1 is adopted" in late.err) == (2, True)
    kinds = [entry["kind"] for entry in json.loads(run("panel", "log", panel, "--json").out)]
    assert kinds == ["panel", "study added", "board", "proposal", *["vote"] * 4]
    assert "Pay within a week" in run("panel", "log", panel).out


def test_contact_opting_out_and_being_forgotten(run: Run, panel: Path, tmp_path: Path) -> None:
    rater = names(run, panel)[0]
    (tmp_path / "consent.txt").write_text("You may write to me.", encoding="utf-8")
    noted = run(
        "panel", "contact", panel, rater, "--address", "ada@example.org", "--consent", tmp_path / "consent.txt"
    )
    assert noted.code == 0
    assert b"ada@example.org" in _bytes(panel)
    assert run("panel", "opt-out", panel, rater).code == 0
    assert run("panel", "forget", panel, rater).code == 0
    assert b"ada@example.org" not in _bytes(panel)
    assert rater.encode() not in _bytes(panel)
    assert len(names(run, panel)) == 5
    assert run("panel", "forget", panel, rater).code == 2


def test_credit(run: Run, tmp_path: Path) -> None:
    people = "abcdef"
    lines = [
        f"{g},{r},{10 - abs(n - m)},software" for n, g in enumerate(people) for m, r in enumerate(people) if g != r
    ]
    file = tmp_path / "points.csv"
    file.write_text("\n".join(["giver,receiver,points,role", *lines, "a,b,500,", "b,a,500,"]), encoding="utf-8")
    shown = run("panel", "credit", file)
    assert shown.code == 0
    assert "Points exchanged in a ring were not counted: a, b" in shown.out
    assert "software" in shown.out
    rows = json.loads(run("panel", "credit", file, "--json").out)
    assert sum(row["proportion"] for row in rows) == pytest.approx(1)
    file.write_text("giver,receiver\na,b\n", encoding="utf-8")
    assert run("panel", "credit", file).code == 2


def test_what_is_no_panel(run: Run, tmp_path: Path) -> None:
    ran = run("panel", "raters", tmp_path)
    assert (ran.code, "is no panel: it has no panel.sqlite" in ran.err) == (2, True)
    assert list(tmp_path.iterdir()) == []
    run("panel", "new", tmp_path / "p")
    assert run("panel", "new", tmp_path / "p").code == 2


def _bytes(panel: Path) -> bytes:
    return b"".join(file.read_bytes() for file in panel.iterdir())


def test_a_study_is_opened_published_and_closed_on_the_command_line(run: Run, panel: Path, made: Path) -> None:
    opened = json.loads(run("panel", "open", panel, made / "faces", "--researcher", "ada", "--json").out)
    assert opened["study"] == "faces"
    links = json.loads(run("panel", "links", panel, "--new", "3", "--json").out)
    assert len(set(links)) == 3
    assert all(link.startswith("http://127.0.0.1:8000/i/") for link in links)
    rater = names(run, panel)[0]
    assert "/i/" in run("panel", "links", panel, "--rater", rater).out
    assert "name one" in run("panel", "links", panel).err
    assert "results published" in run("panel", "publish", panel, "faces", "--text", "People prefer a.").out
    wrong = run("panel", "publish", panel, "faces", "--text", "x", "--link", "javascript:alert(1)")
    assert (wrong.code, "https://" in wrong.err) == (2, True)
    assert "closed" in run("panel", "close", panel, "faces").out
    assert "no study 'nothing'" in run("panel", "close", panel, "nothing").err
    account = json.loads(run("panel", "account", panel, "ada", "--json").out)
    assert (account["role"], len(account["password"]) > 10) == ("manage", True)


def test_a_prototype_round_is_opened_and_stops_the_study_until_it_is_decided(
    run: Run, panel: Path, made: Path, tmp_path: Path
) -> None:
    study = Path(shutil.copytree(made / "faces", tmp_path / "tried"))
    opened = json.loads(run("panel", "open", panel, study, "--researcher", "ada", "--prototype", "--json").out)
    assert opened["study"] == "faces-prototype-1"
    refused = run("panel", "open", panel, study, "--researcher", "ada")
    assert (refused.code, "not decided yet" in refused.err) == (2, True)
    assert "not decided yet" in run("collect", study).err
    both = run("collect", study, "--prototype", "--simulate", "3")
    assert "real raters" in both.err
