"""From claims that raters made live to a blind study: approved ones only, each once, without the claim."""

import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from beholder.api.rounds.verification_study import make_round, moderate
from beholder.collect.live.makers import Made, Order
from beholder.collect.live.room import Allowance, LiveRoom
from beholder.collect.stage import run as simulate
from beholder.design.stage import run as design
from beholder.errors import UserError
from beholder.generators.checked import check_image
from beholder.simulate.painter_worker import POLICIES, paint_image
from beholder.study.kinds.write_prompt import WritePromptQuestion
from beholder.tables.store import Store
from beholder.workers.messages import ImageRequest

PROMPT = "three blue cats, in the snow, photo style"


def painted(order: Order) -> Made:
    request = ImageRequest(prompt=order.prompt, seed=order.seed, width=48, height=48)
    return Made("made", image=check_image(paint_image(request, POLICIES["ember"]).content, request))


@pytest.fixture
def claimed(painted_study: Callable[..., Path]) -> Path:
    """A study whose simulated raters claim; each of the first four claims has a result."""
    folder = painted_study(WritePromptQuestion(name="attack", target="ember"), seed=3, draws=200)
    design(folder)
    simulate(folder, people=6)
    claims = Store(folder).read("answers").filter(pl.col("choice") == "fails").head(4)
    assert claims.height == 4
    room = LiveRoom(folder, {"ember": painted})
    for trial, session in claims.select("trial", "session").iter_rows():
        room.agree(session)
        (name,) = room.ask(session, trial, PROMPT, ["ember"], Allowance(9, 9, 100))
        for _ in range(500):
            if room.result(session, name)["status"] == "made":
                break
            time.sleep(0.02)
    room.close()
    return folder


def test_only_approved_claims_are_verified_and_each_once(claimed: Path) -> None:
    waiting = [row["attempt"] for row in moderate(claimed, (), (), ())]
    assert len(waiting) == 4
    with pytest.raises(UserError, match="4 wait for a decision, 0 are hidden"):
        make_round(claimed)
    with pytest.raises(UserError, match="no such results: nobody"):
        moderate(claimed, ("nobody",), (), ())
    moderate(claimed, tuple(waiting[:2]), tuple(waiting[3:]), ())
    first = make_round(claimed, verifiers=5)
    assert (first.claims, first.waiting, first.hidden) == (2, 1, 1)
    listed = pl.read_csv(first.folder / "claims.csv")
    assert set(listed["image"]) == set(waiting[:2])
    assert set(listed["claimed"]) == {"no"}
    study = (first.folder / "study.toml").read_text(encoding="utf-8")
    assert not any(word in study for word in ("fails", "missing-object", "other-failure"))
    assert moderate(claimed, (waiting[2],), (), ("Nasty",)) == []
    assert make_round(claimed).claims == 1
    with pytest.raises(UserError, match="0 wait for a decision, 1 are hidden"):
        make_round(claimed)


def test_a_round_is_a_study_that_verifiers_answer(claimed: Path) -> None:
    moderate(claimed, tuple(row["attempt"] for row in moderate(claimed, (), (), ())), (), ())
    made = make_round(claimed, verifiers=3)
    design(made.folder)
    trials = Store(made.folder).read("trials")
    assert trials.group_by("images").len()["len"].to_list() == [3] * 4  # three verifiers each


def test_a_study_without_prompts_says_so(painted_study: Callable[..., Path]) -> None:
    folder = painted_study(WritePromptQuestion(name="attack", target="ember"), seed=3, draws=200)
    with pytest.raises(UserError, match="nobody has written a prompt"):
        make_round(folder)
