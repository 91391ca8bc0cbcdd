import hashlib
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from PIL import Image
from tests.conftest import MakeOnce, SmallWorld

from beholder.collect.stage import run as run_simulated
from beholder.consolidate.stage import run as consolidate
from beholder.design.stage import run as design
from beholder.rank.stage import run as rank
from beholder.report.stage import run as report
from beholder.report.tables.leaderboard import Board, build_boards
from beholder.simulate import expectation
from beholder.simulate.world import write_ground_truth
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.kinds.sweep import SweepQuestion
from beholder.study.protocols.catalogue import PROTOCOLS
from beholder.study.question import Design
from beholder.study.study import FILE_NAME, Analysis, Study, dump_study
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import TRUTH_ROOM, Store

Row = dict[str, object]
MakeBoard = Callable[..., Board]

RECORD = Provenance("test", {}, 0, {})
MORNING = datetime(2025, 5, 1, 9, tzinfo=UTC)

BOARDS = (
    ("realism", "realism", "error-rate", 0.5, 0.4),
    ("preference", "preference", "bradley-terry", 1.0, 2.0),
    ("opinion", "quality", "mean-opinion", 4.5, 3.0),
    ("opinion", "alignment", "mean-opinion", 4.0, 2.0),
)
"""Question, aspect, method, the highest rating, and how far below it the lowest is."""


def rating_rows(
    question: str,
    aspect: str,
    method: str,
    rated: dict[str, float],
    *,
    slice_name: str = "all",
    width: float = 0.05,
) -> list[Row]:
    """Rows of ``ratings``; ranks follow the order of the ratings."""
    order = sorted(rated, key=lambda name: -rated[name])
    common: Row = {"question": question, "aspect": aspect, "method": method, "slice": slice_name}
    common |= {"level": 0.95, "answers": 1000, "images": 2, "raters": 10}
    return [
        common
        | {"generator": name, "rating": value, "low": value - width, "high": value + width}
        | {"naive_low": value - width / 2, "naive_high": value + width / 2}
        | {"rank_low": order.index(name) + 1, "rank_high": order.index(name) + 1}
        for name, value in rated.items()
    ]


def pair_rows(
    question: str,
    aspect: str,
    method: str,
    rated: Mapping[str, float],
    undecided: Mapping[tuple[str, str], int | None],
) -> list[Row]:
    """Rows of ``separations`` of every pair; those named as undecided, with the raters they still need."""
    order = sorted(rated, key=lambda name: -rated[name])
    common: Row = {"question": question, "aspect": aspect, "method": method, "slice": "all"}
    common |= {"low": 0.0, "high": 1.0, "p": 0.5, "p_adjusted": 0.5}
    return [
        common
        | {"generator": higher, "other": lower, "difference": rated[higher] - rated[lower]}
        | {"separated": (higher, lower) not in undecided, "more_raters": undecided.get((higher, lower))}
        for place, higher in enumerate(order)
        for lower in order[place + 1 :]
    ]


@pytest.fixture
def make_board() -> MakeBoard:
    """Make a board from ratings by name; ranks and pairs follow, but for the pairs named as undecided."""

    def make(
        rated: dict[str, float],
        *,
        aspect: str = "realism",
        question: str | None = None,
        method: str = "error-rate",
        ranks: dict[str, tuple[int, int]] | None = None,
        undecided: dict[tuple[str, str], int | None] | None = None,
        true_ratings: dict[str, float] | None = None,
    ) -> Board:
        question = question or aspect
        rows = rating_rows(question, aspect, method, rated)
        for row in rows:
            low, high = (ranks or {}).get(str(row["generator"]), (row["rank_low"], row["rank_high"]))
            row |= {"rank_low": low, "rank_high": high}
        truth = rating_rows(question, aspect, method, true_ratings) if true_ratings else []
        (board,) = build_boards(
            TABLES["ratings"].frame(rows),
            TABLES["separations"].frame(pair_rows(question, aspect, method, rated, undecided or {})),
            TABLES["ratings"].frame(truth),
        )
        return board

    return make


MakeStudy = Callable[..., Path]


@pytest.fixture(scope="session")
def make_study(tmp_path_factory: pytest.TempPathFactory) -> MakeStudy:
    """Make a study folder with all tables; two images for each generator, six raters for each question."""

    def make(
        generators: Sequence[str] = ("alpha", "beta", "gamma"),
        *,
        protocols: Sequence[str] = ("hype-infinity", "hpd-pairs", "mos"),
        answered: bool = True,
    ) -> Path:
        folder = tmp_path_factory.mktemp("study")
        questions = [question for name in protocols for question in PROTOCOLS[name].questions()]
        study = Study(name="small", title="Small & <b>plain</b>", seed=3, questions=tuple(questions))
        (folder / FILE_NAME).write_text(dump_study(study), encoding="utf-8")
        _write_images(folder, generators)
        if answered:
            _write_answers(folder, generators, [question.name for question in questions])
        return folder

    return make


def _write_images(folder: Path, generators: Sequence[str]) -> None:
    (folder / "images").mkdir()
    rows: list[Row] = []
    for number, generator in enumerate([*generators, "real"]):
        for which in range(2):
            file = f"images/{number}-{which}.png"
            Image.new("RGB", (24, 24), (40 * which + 60, 20 * (number % 10), 120)).save(folder / file)
            rows.append(
                {"image": f"{number}-{which}", "path": file, "generator": generator, "real": generator == "real"}
                | {"gold": False, "prompt": "p", "style": ("photo", "sketch")[which]}
                | {"width": 24, "height": 24, "sha256": "x"}
            )
    frames = {
        "prompts": TABLES["prompts"].frame([{"prompt": "p", "text": "a cat <i>& a dog</i>"}]),
        "images": TABLES["images"].frame(rows),
    }
    Store(folder).write(frames, RECORD)


def _write_answers(folder: Path, generators: Sequence[str], questions: Sequence[str]) -> None:
    """The tables after collecting: one rater in six is excluded, the last two generators are not separated."""
    boards = [board for board in BOARDS if board[0] in questions]
    ratings, separations = list[Row](), list[Row]()
    step = max(len(generators) - 1, 1)
    for question, aspect, method, top, fall in boards:
        rated = {name: top - fall * place / step for place, name in enumerate(generators)}
        close = {(generators[-2], generators[-1]): 36} if len(generators) > 1 else {}
        ratings += rating_rows(question, aspect, method, rated)
        for style in ("photo", "sketch"):
            ratings += rating_rows(question, aspect, method, rated, slice_name=style)
        separations += pair_rows(question, aspect, method, rated, close)
        if method == "error-rate":
            for part in ("fake-error-rate", "real-error-rate"):
                ratings += rating_rows(question, aspect, part, rated)
    numbered = [(question, f"rater-{n}", n) for question in questions for n in range(6)]
    raters: list[Row] = [
        {"question": question, "rater": rater, "used": n > 0, "answers": 100, "median_seconds": 1.0 + n / 4}
        | {"reasons": [] if n else ["fast: median 0.10 s, at least 0.3 s expected"], "agreement": 0.3 + n / 10}
        for question, rater, n in numbered
    ]
    sessions: list[Row] = [
        {"session": f"{question}-{rater}", "rater": rater, "question": question, "status": "complete"}
        | {"started": MORNING, "ended": MORNING, "simulated": True}
        for question, rater, _ in numbered
    ]
    agreement: list[Row] = [
        {"question": question, "aspect": aspect, "statistic": "krippendorff-alpha-nominal", "people": who}
        | {"value": value, "low": value - 0.1, "high": value + 0.1, "answers": 600, "items": 8, "raters": 6}
        for question, aspect, *_ in boards
        for who, value in (("all", 0.3), ("used", 0.5))
    ]
    frames = {
        "sessions": TABLES["sessions"].frame(sessions),
        "raters": TABLES["raters"].frame(raters),
        "labels": TABLES["labels"].frame(_labels(generators)),
        "agreement": TABLES["agreement"].frame(agreement),
        "ratings": TABLES["ratings"].frame(ratings),
        "separations": TABLES["separations"].frame(separations),
    }
    Store(folder).write(frames, RECORD)
    of_all_images = [row for row in ratings if row["slice"] == "all"]
    habits: list[Row] = [
        {"question": question, "rater": rater, "used": n > 0, "reasons": ["noisy" if n else "fast"], "answers": 0}
        for question, rater, n in numbered
    ]
    truth = {"ratings": TABLES["ratings"].frame(of_all_images), "raters": TABLES["raters"].frame(habits)}
    Store(folder, TRUTH_ROOM).write(truth, RECORD)


FEWER: dict[str, dict[str, object]] = {
    "hype-time": {"raters": 15, "trials": 16, "blocks": 2, "qualification": 0},
    "hpd-ranking": {"raters": 6, "trials": 6, "raters_per_item": None, "attention_every": None},
    "rich-feedback": {"raters": 10, "trials": 36, "attention_every": None, "raters_per_item": None},
    "side-by-side": {"raters": 8, "trials": 16, "repeats": 0, "attention_every": None},
}
"""The kinds that :func:`make_study` leaves out, with few raters and trials."""


@pytest.fixture(scope="session")
def every_kind(small_world: SmallWorld, make_once: MakeOnce) -> Path:
    """A study by all the other kinds, from its design to its report, answered by simulated raters."""
    return make_once("every-kind", lambda folder: _run_study(small_world, folder))


def _run_study(small_world: SmallWorld, folder: Path) -> None:
    study = Study(
        name="kinds", title="Every kind", seed=3, analysis=Analysis(draws=200), questions=tuple(_few_questions())
    )
    (folder / FILE_NAME).write_text(dump_study(study), encoding="utf-8")
    ids = {p.prompt: hashlib.sha256(p.prompt.encode()).hexdigest()[:12] for p in small_world.painted}
    images: list[Row] = [
        {"image": p.image, "path": str(small_world.folder / "images" / p.file), "generator": p.generator}
        | {"real": p.real, "gold": p.gold, "prompt": ids[p.prompt], "width": 32, "height": 32, "sha256": p.image}
        for p in small_world.painted
    ]
    prompts: list[Row] = [{"prompt": key, "text": text} for text, key in ids.items()]
    frames = {"prompts": TABLES["prompts"].frame(prompts), "images": TABLES["images"].frame(images)}
    Store(folder).write(frames, RECORD)
    write_ground_truth(Store(folder), small_world.world, list(small_world.painted))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(expectation, "HONEST_RATERS", 4)  # for speed: true ratings are compared elsewhere
        design(folder)
        run_simulated(folder, people=15, bad=2)
    consolidate(folder)
    rank(folder)
    report(folder)


def _few_questions() -> list[AnyQuestion]:
    questions: list[AnyQuestion] = [SweepQuestion(name="sweep", images=20, design=Design(raters=8, trials=3))]
    for protocol, fewer in FEWER.items():
        for question in PROTOCOLS[protocol].questions():
            changed: dict[str, object] = {"design": question.design.model_copy(update=fewer)}
            if protocol == "hpd-ranking":
                changed["images"] = 5
            questions.append(question.model_copy(update=changed))
    return questions


def _labels(generators: Sequence[str]) -> list[Row]:
    images = [(f"{number}-{which}", which) for number in range(len(generators) + 1) for which in range(2)]
    rows: list[Row] = []
    for question, aspect, method in (
        ("realism", "realism", "share"),
        ("opinion", "quality", "mean"),
        ("opinion", "alignment", "mean"),
    ):
        rows += [
            {"question": question, "aspect": aspect, "method": method, "image": image, "answers": 8, "raters": 8}
            | ({"value": 0.25 + which / 2} if method == "share" else {"value": 2.0 + which})
            | (
                {"low": 0.1 + which / 2, "high": 0.4 + which / 2}
                if method == "share"
                else {"low": 1.5, "high": 5.5}
            )
            for image, which in images
        ]
    rows += [
        {"question": "preference", "aspect": "preference", "method": "preference", "image": f"{number}-0"}
        | {"other": f"{number + 1}-0", "value": 0.75, "low": 0.4, "high": 0.9, "answers": 8, "raters": 8}
        for number in range(len(generators) - 1)
    ]
    return rows
