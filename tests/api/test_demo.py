"""The demo: whether the loop recovers the ground truth, by hand; and the command from painting to the verdict."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from beholder.api.demo import DEMO, FEEDBACK_DEMO, Count, check_recovery, prepare_demo
from beholder.api.results import load_results
from beholder.cli.main import main
from beholder.cli.results import print_results
from beholder.cli.verdict import print_verdict
from beholder.collect.database.address import default_url
from beholder.collect.exchange.export import collected_tables
from beholder.collect.server import serve as serving
from beholder.errors import StudyError
from beholder.simulate.policies import GENERATORS
from beholder.simulate.raters import BAD, SUBTLE
from beholder.simulate.world import World
from beholder.study.kinds.pair import PairQuestion
from beholder.study.study import load_study
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import TRUTH_ROOM, Store

TINY = World(prompts=24, reals=60, size=32, seed=3)


def rows(method: str, ratings: dict[str, tuple[float, float, float]]) -> list[dict[str, object]]:
    """Rating, and its interval, of each generator."""
    common = {"question": "q", "aspect": "quality", "method": method, "slice": "all", "level": 0.95, "raters": 4}
    common |= {"rank_low": 1, "rank_high": 2, "answers": 9, "images": 3}
    return [
        common | {"generator": name, "rating": value, "low": low, "high": high}
        for name, (value, low, high) in ratings.items()
    ]


@pytest.fixture
def judged(bare_study: Callable[..., Path]) -> Path:
    """Two leaderboards, the second in another order than the truth; four raters, one of them wrongly excluded."""
    folder = bare_study(PairQuestion(name="q"))
    store, truth = Store(folder), Store(folder, TRUTH_ROOM)
    ratings = [
        *rows("bradley-terry", {"a": (1.0, 0.8, 1.2), "b": (0.5, 0.4, 0.6), "c": (0.1, 0.0, 0.2)}),
        *rows("mean-opinion", {"a": (4.0, 3.5, 4.5), "b": (4.2, 4.1, 4.3)}),
        *rows("real-error-rate", {"a": (0.0, -1.0, 1.0)}),  # no headline: it does not count
    ]
    true = [
        *rows("bradley-terry", {"a": (0.9, 0, 0), "b": (0.7, 0, 0), "c": (0.2, 0, 0)}),  # b lies outside
        *rows("mean-opinion", {"a": (4.4, 0, 0), "b": (4.1, 0, 0)}),
        *rows("real-error-rate", {"a": (9.0, 0, 0)}),
    ]
    store.write(
        {"ratings": TABLES["ratings"].frame(ratings), "separations": TABLES["separations"].empty()},
        Provenance("rank", {}, 0, {}),
    )
    habits = {"r1": "careful", "r2": BAD[0], "r3": SUBTLE[0], "r4": "careful"}
    raters = [
        {"question": "q", "rater": rater, "used": rater in ("r1", "r3"), "reasons": [habit], "answers": 9}
        for rater, habit in habits.items()
    ]
    store.write({"raters": TABLES["raters"].frame(raters)}, Provenance("consolidate", {}, 0, {}))
    truth.write(
        {"ratings": TABLES["ratings"].frame(true), "raters": TABLES["raters"].frame(raters)},
        Provenance("collect", {}, 0, {}),
    )
    return folder


def test_the_verdict_by_hand(judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    verdict = check_recovery(judged)
    assert verdict.order == Count(1, 2)
    assert verdict.covered == Count(4, 5)  # the ends count: c's .2 and b's 4.1
    assert verdict.excluded == {"bad": Count(1, 1), "subtly bad": Count(0, 1), "honest": Count(1, 2)}
    print_verdict(judged)
    assert capsys.readouterr().out.splitlines()[1:] == [
        "true order recovered by 1 of 2 leaderboards; 95 % confidence interval contains the ground truth in 4 of "
        "5 cells",
        "bad raters excluded: 1 of 1 sessions",
        "subtly bad raters excluded: 0 of 1 sessions",
        "honest raters excluded: 1 of 2 sessions",
    ]


def test_the_leaderboards_stand_beside_the_truth(judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    boards = load_results(judged).headlines
    assert {board.method for board in boards} == {"bradley-terry", "mean-opinion"}
    print_results(judged)
    printed = capsys.readouterr().out
    assert printed.index("a ") < printed.index("b ")
    for number in ("0.90", "0.70", "4.40"):  # of the truth
        assert number in printed


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """From painting to the verdict on a small world; the second time nothing is done again."""
    monkeypatch.setattr("beholder.cli.demo.World", lambda prompts, seed: World(min(prompts, 24), 60, 32, seed))
    monkeypatch.setattr("beholder.cli.demo.DEMO", replace(DEMO, protocols=("mos",), raters=15, bad=3))
    monkeypatch.setattr("beholder.simulate.expectation.HONEST_RATERS", 20)
    folder = tmp_path / "study"
    assert main(["demo", "--out", str(folder), "--seed", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("new: 204 images (24 aurora, 24 borealis, 24 cirrus, 24 dune, 24 ember, ")
    assert [line.partition(":")[0] for line in lines[1:6]] == [
        "design",
        "collect",
        "consolidate",
        "rank",
        "report",
    ]
    verdict = check_recovery(folder)
    first_words = f"true order recovered by {verdict.order.cases} of {verdict.order.total} leaderboards"
    assert any(line.startswith(first_words) for line in lines)
    assert verdict.covered.total == 10  # five generators by two aspects
    assert verdict.covered.cases >= 8
    assert verdict.excluded["bad"] == Count(3, 3)
    assert sum(part.total for part in verdict.excluded.values()) == 15
    assert (folder / "report.html").is_file()
    assert main(["demo", "--out", str(folder), "--seed", "3"]) == 0
    again = capsys.readouterr().out.splitlines()
    assert again[:5] == [f"{stage}: unchanged" for stage in ("design", "collect", "consolidate", "rank", "report")]
    assert again[5:-1] == lines[6:-1]
    assert main(["demo", "--out", str(folder), "--seed", "4"]) == 2
    assert "holds the study 'beholder-demo' with seed 3" in capsys.readouterr().err
    served: list[tuple[str, object]] = []
    monkeypatch.setattr(serving, "serve", lambda _, url, **how: served.append((url, how["rehearsal"])))
    for _ in range(2):  # the second time, from the same database
        assert main(["demo", "--out", str(folder), "--seed", "3", "--serve"]) == 0
    database = default_url(folder / "rehearsals" / "1")
    assert served == [(database, True)] * 2
    shown_sessions = collected_tables(database)["sessions"]
    assert shown_sessions["simulated"].all()
    assert shown_sessions.height == Store(folder).read("sessions").height == 15


def test_a_folder_with_another_study_is_left_alone(bare_study: Callable[..., Path]) -> None:
    folder = bare_study(PairQuestion(name="q"))
    before = sorted(path for path in folder.rglob("*"))
    with pytest.raises(StudyError, match="Choose another folder: beholder demo --out OTHER --seed 3"):
        prepare_demo(folder, TINY, None)
    assert sorted(path for path in folder.rglob("*")) == before


def test_the_demo_of_feedback_has_marks_to_train_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Three raters an image, also without those whom screening excludes."""
    prepare_demo(tmp_path / "study", TINY, None, FEEDBACK_DEMO)
    assert [question.kind for question in load_study(tmp_path / "study").questions] == ["rich-feedback"]
    images = FEEDBACK_DEMO.prompts * len(GENERATORS)
    used = (FEEDBACK_DEMO.raters - FEEDBACK_DEMO.bad) * (FEEDBACK_DEMO.trials or 0)
    assert images * 3 <= used
    assert main(["demo", "--feedback", "--benchmark", "--out", str(tmp_path / "other")]) == 2
    assert "--feedback" in capsys.readouterr().err
    assert not (tmp_path / "other").exists()
