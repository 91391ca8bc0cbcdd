"""Answers beside their trials."""

from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from beholder.judgements.joined import SAID, answered_trials
from beholder.study.kinds.kind import Said
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "said",
    [
        Said("x", choice="left"),
        Said("x", value=3.0),
        Said("x", value=0.0),
        Said("x", value=62.5),
        Said("x", value=0.1),
        Said("x", value=100.0),
        Said("x", ranking=(2, 1, 3)),
    ],
    ids=lambda said: said.text,
)
def test_an_answer_reads_as_its_kind_writes_it(said: Said) -> None:
    ranking = None if said.ranking is None else list(said.ranking)
    row = {"choice": said.choice, "value": said.value, "ranking": ranking}
    schema: dict[str, pl.DataType] = {"choice": pl.String(), "value": pl.Float64(), "ranking": pl.List(pl.Int64)}
    assert pl.DataFrame([row], schema=schema).select(SAID).item() == said.text


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
    found = answered_trials(store)
    assert found.select("rater", "trial", "role", "said", "expected").rows() == [
        ("bob", "t0", "test", "real", "generated"),
        ("bob", "t1", "gold", "generated", "generated"),
        ("ann", "t0", "test", "generated", "generated"),
        ("cat", "t0", "test", "generated", "generated"),
    ]
