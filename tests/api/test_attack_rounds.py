"""From pairs that fooled a scorer to verified attacks: blind pairs, their verdicts, and rehearsed rounds."""

import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from beholder.api.rounds.claims import verify_study_claims
from beholder.api.rounds.rehearsal import rehearse_round
from beholder.api.rounds.training_rounds import read_attack_rounds
from beholder.api.rounds.verification_study import make_round, moderate
from beholder.collect.live.makers import Made, Order
from beholder.collect.live.room import Allowance, LiveRoom
from beholder.collect.stage import run as simulate
from beholder.design.stage import run as design
from beholder.errors import StudyError, UserError
from beholder.simulate.views import views_of
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.write_prompt import WritePromptQuestion
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store

TARGET = "models/small"
LIMITS = Allowance(9, 9, 100)


def prefers_the_picked(order: Order) -> Made:
    assert order.attempt
    return Made("made", scores=(0.2, 0.8))


@pytest.fixture
def attacked(painted_study: Callable[..., Path]) -> Path:
    """A study whose simulated raters claim that a scorer is fooled: it always scores the picked image higher."""
    question = WritePromptQuestion(name="attack", target=TARGET, fools="scorer")
    folder = painted_study(question, seed=3, draws=200)
    design(folder)
    simulate(folder, people=6)
    store = Store(folder)
    answers = store.read("answers").filter(pl.col("choice") == "fails")
    claims = answers.unique("rater", maintain_order=True).head(4)
    assert claims.height == 4
    shown = dict(store.read("trials").select("trial", "images").iter_rows())
    prompt_of = dict(store.read("images").select("image", "prompt").iter_rows())
    room = LiveRoom(folder, {TARGET: prefers_the_picked})
    for trial, session in claims.select("trial", "session").iter_rows():
        image = shown[trial][0]
        others = [name for name, prompt in prompt_of.items() if prompt == prompt_of[image] and name != image]
        room.agree(session)
        (name,) = room.ask(session, trial, "a prompt", [TARGET], LIMITS, picked=others[0])
        for _ in range(500):
            if room.result(session, name)["status"] == "made":
                break
            time.sleep(0.02)
    room.close()
    moderate(folder, tuple(row["attempt"] for row in moderate(folder, (), (), ())), (), ())
    return folder


def test_claims_about_a_scorer_become_blind_pairs(attacked: Path) -> None:
    made = make_round(attacked, verifiers=3)
    assert (made.claims, made.target, made.others) == (4, TARGET, 0)
    listed = pl.read_csv(made.folder / "claims.csv", infer_schema=False)
    assert set(listed["claimed"]) <= {"first", "second"}
    images = Store(made.folder).read("images")
    assert set(images["generator"]) == {"first", "second"}
    study = (made.folder / "study.toml").read_text(encoding="utf-8")
    assert not any(word in study for word in (TARGET, "fails", "other-failure"))
    design(made.folder)
    assert Store(made.folder).read("trials").height == 12  # three verifiers of four pairs
    with pytest.raises(StudyError, match="nobody has verified its claims yet"):
        read_attack_rounds(attacked)


def test_preferences_of_verifiers_decide_whichever_side_was_shown_first(
    attacked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_round(attacked)
    listed = pl.read_csv(made.folder / "claims.csv", infer_schema=False)
    rows = []
    for number, claim in enumerate(listed.iter_rows(named=True)):
        right = claim["claimed"] if number < 3 else {"first": "second", "second": "first"}[claim["claimed"]]
        for rater in range(5):  # all agree; every other one has the second image on the left
            sides = ("first", "second") if rater % 2 else ("second", "first")
            rows.append(
                {"question": "verify", "aspect": "preference", "rater": f"r{rater}", "session": f"s{rater}"}
                | {"trial": f"t{number}", "attempt": 1, "place": 0, "value_kind": "vote", "used": True}
                | {"image": f"{claim['image']}-{sides[0]}", "other": f"{claim['image']}-{sides[1]}"}
                | {"value": 1.0 if sides[0] == right else -1.0}
            )
    judged, read = TABLES["judgements"].frame(rows), Store.read
    monkeypatch.setattr(Store, "read", lambda self, name: judged if name == "judgements" else read(self, name))
    monkeypatch.setattr(Store, "has", lambda *_: True)
    verified = verify_study_claims(made.folder, made.folder / "claims.csv")
    assert verified.verdicts.standing == ("verified", "verified", "verified", "refuted")
    rounds = read_attack_rounds(attacked)
    assert len(rounds.attacks) == 3
    assert rounds.parent == "small"
    claim = listed.row(0, named=True)
    other = {"first": "second", "second": "first"}[claim["claimed"]]
    assert (rounds.attacks[0].better, rounds.attacks[0].worse) == (claim[claim["claimed"]], claim[other])


@pytest.fixture
def predicted(painted_study: Callable[..., Path]) -> Path:
    """A study of pairs with predictions of a model that is always wrong."""
    folder = painted_study(PairQuestion(name="preference"), seed=3, draws=200)
    store = Store(folder)
    views = views_of(store, seed=3)
    images = store.read("images").filter(~pl.col("real") & ~pl.col("gold"))["image"]
    rows = [
        {"model": "small", "fold": 0, "aspect": "preference", "image": image, "better": "higher"}
        | {"score": -views[image].quality["overall"], "held_out": True}
        for image in images
    ]
    store.write({"predictions": TABLES["predictions"].frame(rows)}, Provenance("learn", {}, 0, {}))
    return folder


def test_a_rehearsed_round_finds_what_a_model_gets_wrong(predicted: Path) -> None:
    made = rehearse_round(predicted, "small", attackers=9)
    rounds = read_attack_rounds(predicted, "1")
    (count,) = rounds.counts
    assert count.claims == made.claims > count.verified > count.claims / 3
    assert count.verified + count.refuted <= count.claims
    quality = {image: view.quality["overall"] for image, view in views_of(Store(predicted), seed=3).items()}
    right = [quality[attack.better] > quality[attack.worse] for attack in rounds.attacks]
    assert sum(right) >= 0.9 * len(right)
    people = {attack.attacker for attack in rounds.attacks}
    assert rounds.held_out < people
    prompt_of = dict(Store(predicted).read("images").select("image", "prompt").iter_rows())
    assert all(prompt_of[attack.better] == prompt_of[attack.worse] for attack in rounds.attacks)


def test_rounds_that_are_not_there_are_named(predicted: Path) -> None:
    with pytest.raises(UserError, match="there are no rounds yet"):
        read_attack_rounds(predicted)
    with pytest.raises(UserError, match="no held-out predictions of a model 'large'; found: small"):
        rehearse_round(predicted, "large")
    rehearse_round(predicted, "small", attackers=4)
    for spec, message in (
        ("1-3", "no round 2, 3; found: 1"),
        ("last", "expected all, a number"),
        ("2", "found: 1"),
    ):
        with pytest.raises(UserError, match=message):
            read_attack_rounds(predicted, spec)
