"""What the answers to each question come to, read once: conduct, judgements, and judgements by item.

A large study is read in parts, each with all answers of some raters. Held in memory are then a row per rater and
some 30 bytes per judgement; the judgements themselves wait in files until it is known whose are used.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from beholder.consolidate.conduct import conduct_rows
from beholder.consolidate.items import Ids, JudgedItems, by_aspect, compacted, together
from beholder.consolidate.possible import faults_of_answers, impossible
from beholder.judgements.answered_parts import answered_parts
from beholder.judgements.coding import judgements_of
from beholder.judgements.joined import skipped_trials
from beholder.study.kinds.catalogue import AnyQuestion, kind_of
from beholder.tables.parts import Gathered, Parts
from beholder.tables.store import Store


@dataclass(slots=True)
class Scratch:
    """A folder for files in between; it is removed at the end."""

    folder: Path

    @staticmethod
    @contextmanager
    def new() -> "Iterator[Scratch]":
        """Make the folder where the system has its temporary files."""
        with tempfile.TemporaryDirectory(prefix="beholder-") as name:
            yield Scratch(Path(name))

    def room(self, name: str) -> Path:
        """Make and return an empty folder inside."""
        room = self.folder / name
        room.mkdir()
        return room

    def gathered(self, name: str, rows_held: int, sound: frozenset[str] = frozenset()) -> Gathered:
        """Return a table without rows yet, whose files lie here."""
        return Gathered(self.room(name), rows_held, sound)


def read_answers(
    store: Store, questions: Sequence[AnyQuestion], scratch: Scratch, rows_held: int
) -> dict[str, "QuestionAnswers"]:
    """Read all answers that count, once, and return what they come to by the name of the question."""
    by_question = {
        question.name: QuestionAnswers(
            question,
            skipped_trials(store, question.name),
            scratch.gathered(f"question-{number}", rows_held),
        )
        for number, question in enumerate(questions)
    }
    marks, ids = store.read_or_empty("marks"), None
    if store.rows("answers") > rows_held:
        ids = Ids.of(store.read("sessions")["rater"], store.read("images")["image"])
    for part in answered_parts(store, scratch.room("answered"), rows_held):
        for name, own in by_question.items():
            answered = part.filter(pl.col("question") == name) if len(questions) > 1 else part
            if not answered.is_empty():
                own.read(answered, marks, ids)
    return by_question


@dataclass(slots=True)
class QuestionAnswers:
    """What is known of the answers to one question, part by part."""

    question: AnyQuestion
    skipped: pl.DataFrame
    spilled: Gathered
    counted: int = 0
    """Answers read."""
    _faulty: list[pl.DataFrame] = field(default_factory=list)
    _conduct: list[pl.DataFrame] = field(default_factory=list)
    _items: list[list[JudgedItems]] = field(default_factory=list)
    _tests: list[pl.DataFrame] = field(default_factory=list)
    _nothing: pl.DataFrame = field(default_factory=pl.DataFrame)

    def read(self, answered: pl.DataFrame, marks: pl.DataFrame, ids: Ids | None) -> None:
        """Take in a part of the answers; ``ids`` of raters and images, where there are several parts."""
        self.counted += answered.height
        self._nothing = answered.clear()
        self._faulty.append(impossible(self.question, answered))
        if not all(faulty.is_empty() for faulty in self._faulty):
            return
        skipped = self.skipped.join(answered.select("rater"), on="rater", how="semi", maintain_order="left")
        self._conduct.append(conduct_rows(self.question, answered, skipped))
        tests = answered.filter(pl.col("role") == "test")
        judgements = judgements_of(self.question, tests, marks)
        judged = list(by_aspect(self.question, judgements))
        self._items.append([compacted(aspect, ids) for aspect in judged] if ids else judged)
        self.spilled.add(judgements)
        kind = kind_of(self.question)
        if kind.adaptive(self.question) is not None or kind.marked(self.question) is not None:
            self._tests.append(tests)

    def faults(self) -> list[str]:
        """Return the faults of all answers."""
        return faults_of_answers(self.question, pl.concat(self._faulty)) if self._faulty else []

    def conduct(self) -> pl.DataFrame:
        """Return the conduct of every rater who answered or skipped, in the order of their ids."""
        answered = pl.concat(self._conduct)
        silent = self.skipped.join(answered, on="rater", how="anti", maintain_order="left")
        if silent.is_empty():
            return answered.sort("rater")
        return pl.concat([answered, conduct_rows(self.question, self._nothing, silent)]).sort("rater")

    def judged(self) -> list[JudgedItems]:
        """Return the judgements by aspect; those of the parts are given up."""
        judged = together(self._items) if len(self._items) > 1 else self._items[0]
        self._items.clear()
        return judged

    def judgements(self) -> Iterator[pl.DataFrame]:
        """Yield the judgements, part by part."""
        table = self.spilled.table(pl.DataFrame())
        yield from (table if isinstance(table, Parts) else [table])

    def tests(self) -> pl.DataFrame:
        """Return the answers to test trials, of kinds of questions that need them whole."""
        return pl.concat(self._tests) if self._tests else pl.DataFrame()
