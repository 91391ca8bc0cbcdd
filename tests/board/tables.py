"""Tables of a study for tests of the board, written by hand."""

from datetime import UTC, datetime
from pathlib import Path

from beholder.study.board import Board
from beholder.study.study import FILE_NAME, dump_study, load_study
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store

RECORD = Provenance("test", {}, 0, {})
MOMENT = datetime(2026, 11, 17, tzinfo=UTC)


def judgement(
    rater: int, image: str, value: float, *, other: str | None = None, kind: str = "rating"
) -> dict[str, object]:
    return {
        "question": "opinion" if kind == "rating" else "preference",
        "aspect": "quality" if kind == "rating" else "preference",
        "rater": f"r{rater:02d}",
        "session": f"s{rater:02d}",
        "trial": f"{rater}/{image}/{other}",
        "attempt": 1,
        "place": 0,
        "image": image,
        "other": other,
        "value": value,
        "value_kind": kind,
        "used": True,
    }


def write(folder: Path, **tables: list[dict[str, object]]) -> None:
    """Write tables, and with judgements the trials and sessions that they refer to."""
    judged = tables.get("judgements", [])
    if judged:
        sessions = {str(row["session"]): row for row in judged}
        tables["sessions"] = [
            {"session": name, "rater": row["rater"], "question": row["question"], "status": "complete"}
            | {"started": MOMENT, "simulated": True}
            for name, row in sessions.items()
        ]
        tables["trials"] = [
            {"trial": row["trial"], "question": row["question"], "kind": "rating", "slot": 0, "position": 0}
            | {"block": 0, "role": "test", "images": [row["image"]], "propensity": 1.0}
            for row in judged
        ]
    Store(folder).write({name: TABLES[name].frame(rows) for name, rows in tables.items()}, RECORD)


def set_board(folder: Path, board: Board) -> None:
    study = load_study(folder).model_copy(update={"board": board})
    (folder / FILE_NAME).write_text(dump_study(study), encoding="utf-8")


def score(scorer: str, image: str, value: float, better: str = "higher") -> dict[str, object]:
    return {"scorer": scorer, "aspect": "quality", "image": image, "score": float(value), "better": better}


def generation(generator: str, prompt: str, **columns: object) -> dict[str, object]:
    text = f"prompt {prompt}"
    row: dict[str, object] = {"generator": generator, "prompt": prompt, "sample": 0, "text": text, "sent": text}
    return row | {"status": "done", "kind": "worker"} | columns
