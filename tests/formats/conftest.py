"""A small study of every kind with simulated answers, as frames."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.study import Study
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store

Tables = dict[str, pl.DataFrame]
BEGAN = datetime(2026, 1, 31, 12, tzinfo=UTC)


def study_of(*questions: AnyQuestion) -> Study:
    return Study(name="small", title="Small", questions=questions)


class Making:
    """Rows of the tables, put together a judgment at a time."""

    def __init__(self) -> None:
        self.rows: dict[str, list[dict[str, object]]] = {
            name: [] for name in ("prompts", "images", "trials", "sessions", "answers", "marks")
        }

    def image(
        self, image: str, generator: str, *, prompt: str | None = None, size: tuple[int, int] = (8, 8)
    ) -> None:
        self.rows["images"].append(
            {
                "image": image,
                "path": f"images/{image}.png",
                "generator": generator,
                "real": generator == "real",
                "gold": False,
                "prompt": prompt,
                "width": size[0],
                "height": size[1],
                "sha256": image,
            }
        )

    def prompt(self, prompt: str, text: str) -> None:
        self.rows["prompts"].append({"prompt": prompt, "text": text})

    def session(self, rater: str, question: str, *, status: str = "complete") -> None:
        self.rows["sessions"].append(
            {
                "session": f"s-{rater}-{question}",
                "rater": rater,
                "question": question,
                "slot": len(self.rows["sessions"]),
                "status": status,
                "started": BEGAN + timedelta(minutes=len(self.rows["sessions"])),
                "simulated": False,
            }
        )

    def judged(
        self,
        rater: str,
        question: AnyQuestion,
        images: list[str],
        responses: dict[str, dict[str, object]],
        *,
        prompt: str | None = None,
        expected: str | None = None,
        seconds: float = 1.5,
        role: str = "test",
        valid: bool = True,
        marks: list[dict[str, object]] | None = None,
    ) -> None:
        number = len(self.rows["trials"])
        trial, session = f"t{number:04d}", f"s-{rater}-{question.name}"
        self.rows["trials"].append(
            {
                "trial": trial,
                "question": question.name,
                "kind": question.kind,
                "slot": 0,
                "position": number,
                "block": 0,
                "role": role,
                "images": images,
                "prompt": prompt,
                "expected": expected,
                "propensity": 1.0,
            }
        )
        common = {"trial": trial, "session": session, "rater": rater, "question": question.name, "attempt": 1}
        common |= {"seconds": seconds, "valid": valid, "answered": BEGAN + timedelta(hours=1, seconds=number)}
        self.rows["answers"] += [common | {"aspect": aspect} | answer for aspect, answer in responses.items()]
        self.rows["marks"] += [
            {"trial": trial, "session": session, "number": n} | mark for n, mark in enumerate(marks or [])
        ]

    def tables(self) -> Tables:
        return {name: TABLES[name].frame(rows) for name, rows in self.rows.items()}


@pytest.fixture
def making() -> Making:
    return Making()


@pytest.fixture
def sound(tmp_path: Path) -> Callable[[Tables], None]:
    """Whether tables pass all checks, references among them."""

    def check(tables: Tables) -> None:
        Store(tmp_path / "sound").write(tables, Provenance("new", {}, 0, {}))

    return check
