"""Answers beside their trials."""

from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from beholder.judgements.joined import ANSWER_TEXT, answered_trials
from beholder.study.kinds.kind import AspectAnswer
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "answer",
    [
        AspectAnswer("x", choice="left"),
        AspectAnswer("x", value=3.0),
        AspectAnswer("x", value=0.0),
        AspectAnswer("x", value=62.5),
        AspectAnswer("x", value=0.1),
        AspectAnswer("x", value=100.0),
        AspectAnswer("x", ranking=(2, 1, 3)),
    ],
    ids=lambda answer: answer.text,
)
def test_an_answer_reads_as_its_kind_writes_it(answer: AspectAnswer) -> None:
    ranking = None if answer.ranking is None else list(answer.ranking)
    row = {"choice": answer.choice, "value": answer.value, "ranking": ranking}
    schema: dict[str, pl.DataType] = {"choice": pl.String(), "value": pl.Float64(), "ranking": pl.List(pl.Int64)}
    assert pl.DataFrame([row], schema=schema).select(ANSWER_TEXT).item() == answer.text


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Two trials of question q; ann, bob, cat and dan answered, dan without consent; cat's first was spoiled."""
    store = Store(tmp_path)
    image: dict[str, object] = {
        "image": "i",
        "path": "i",
        "generator": "g",
        "real": False,
        "gold": False,
        "width": 1,
        "height": 1,
    }
    trials: list[dict[str, object]] = [
        {"trial": f"t{n}", "question": "q", "kind": "realism", "slot": 0, "position": n, "block": 0, "role": role}
        | {"images": ["i"], "expected": "generated", "propensity": 1.0}
        for n, role in enumerate(("test", "gold"))
    ]
    sessions: list[dict[str, object]] = [
        {
            "session": f"s-{who}",
            "rater": who,
            "question": "q",
            "started": NOON,
            "simulated": False,
            "status": "no-consent" if who == "dan" else "complete",
        }
        for who in ("ann", "bob", "cat", "dan")
    ]
    answers: list[dict[str, object]] = [
        {"trial": trial, "session": f"s-{who}", "rater": who, "question": "q", "aspect": "realism"}
        | {"attempt": attempt, "choice": choice, "seconds": 1.0, "valid": valid, "answered": NOON}
        for who, trial, attempt, choice, valid in (
            ("bob", "t0", 1, "real", True),
            ("bob", "t1", 1, "generated", True),
            ("ann", "t0", 1, "generated", True),
            ("cat", "t0", 1, "real", False),
            ("cat", "t0", 2, "generated", True),
            ("dan", "t0", 1, "real", True),
        )
    ]
    rows: dict[str, list[dict[str, object]]] = {
        "prompts": [],
        "images": [image | {"sha256": "x"}],
        "trials": trials,
        "sessions": sessions,
        "answers": answers,
    }
    store.write({n: TABLES[n].frame(r) for n, r in rows.items()}, Provenance("test", {}, 0, {}))
    return store


def test_valid_answers_in_their_order_and_nobody_who_did_not_consent(store: Store) -> None:
    joined = answered_trials(store)
    assert joined.select("rater", "trial", "role", "answer_text", "expected").rows() == [
        ("bob", "t0", "test", "real", "generated"),
        ("bob", "t1", "gold", "generated", "generated"),
        ("ann", "t0", "test", "generated", "generated"),
        ("cat", "t0", "test", "generated", "generated"),
    ]
