"""A small board with painted images: 5 entries × 24 prompts, two questions, three scorers, tags and costs."""

import hashlib
import shutil
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from beholder.board.stage import run as run_board
from beholder.report.board_site.stage import run as run_site
from beholder.simulate.world import Painted
from beholder.study.board import Board, Claim
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.study import FILE_NAME, Analysis, Study, dump_study
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store

Row = dict[str, object]

RECORD = Provenance("test", {}, 0, {})
MOMENT = datetime(2026, 11, 16, 9, 30, tzinfo=UTC)
RATERS = 12
SKILL = {"aurora": 0.9, "borealis": 0.75, "cirrus": 0.1, "dune": -0.4, "ember": -1.2}
SPEED = {"aurora": 4.0, "borealis": 1.5, "cirrus": 2.5, "dune": 0.8, "ember": 0.5}
"""Seconds for an image, at least."""
MARKUP = "</script><b>bold</b> & 'quoted'"
"""A prompt that would break a page which does not escape it."""


def build_board_study(folder: Path, painted: Sequence[Painted], images: Path, size: int) -> Path:
    """Write the tables of a study whose raters and scorers know the entries' skill, and its board."""
    shown = [p for p in painted if not p.real and not p.gold]
    texts = list(dict.fromkeys(p.prompt for p in shown))
    ids = {text: hashlib.sha256(text.encode()).hexdigest()[:12] for text in texts}
    final = {text: MARKUP if number == 3 else text for number, text in enumerate(texts)}
    style = {text: ("photo", "painting")[number % 2] for number, text in enumerate(texts)}
    study = Study(
        name="painters",
        title="Five painters",
        description="Which painter of the synthetic world do people like best, and at what cost?",
        seed=1,
        analysis=Analysis(draws=200),
        board=Board(
            fewest_prompts=10,
            claims=(
                Claim(kind="better", measure="opinion: quality", entry="aurora", other="cirrus"),
                Claim(kind="no-worse", measure="preference", entry="borealis", other="aurora", margin=0.8),
                Claim(kind="good-enough", measure="opinion: quality", entry="dune", threshold=3.5),
            ),
        ),
        questions=(
            RatingQuestion(name="opinion", text="How good is it?"),
            PairQuestion(name="preference", text="Which is better?"),
        ),
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE_NAME).write_text(dump_study(study), encoding="utf-8")
    rows: list[Row] = [
        {"image": p.image, "path": str(images / p.file), "generator": p.generator, "real": False, "gold": False}
        | {"prompt": ids[p.prompt], "style": style[p.prompt], "width": size, "height": size}
        | {"sha256": hashlib.sha256((images / p.file).read_bytes()).hexdigest()}
        for p in shown
    ]
    prompts: list[Row] = [{"prompt": ids[text], "text": final[text]} for text in texts]
    tables: dict[str, list[Row]] = {"images": rows, "prompts": prompts}
    tables |= _curated(prompts) | _generated(rows, final, ids) | _judged(rows) | {"scores": _scores(rows)}
    Store(folder).write({name: TABLES[name].frame(part) for name, part in tables.items()}, RECORD)
    run_board(folder)
    return folder


def _curated(prompts: list[Row]) -> dict[str, list[Row]]:
    candidates: list[Row] = [
        {"candidate": f"own/{n}", "prompt": p["prompt"], "text": p["text"], "original": p["text"], "set": "own"}
        | {"key": str(n), "origin": "set", "language": "en", "status": "chosen", "reason": "all"}
        for n, p in enumerate(prompts)
    ]
    number = len(prompts)
    return {
        "prompt_sets": [
            {"set": "own", "version": "1", "licence": "CC0-1.0", "source": "own.csv"}
            | {"prompts": number, "distinct": number}
        ],
        "prompt_candidates": candidates,
        "curated_prompts": [
            {"prompt": p["prompt"], "text": p["text"], "candidate": f"own/{n}", "held_out": n >= number // 2}
            for n, p in enumerate(prompts)
        ],
        "prompt_tags": [
            {"prompt": p["prompt"], "tag": tag, "label": "two", "evidence": "two", "start": 0, "end": 3}
            for n, p in enumerate(prompts)
            for tag, every in (("count", 2), ("colour", 1), ("negation", 8))
            if n % every == 0
        ],
    }


def _generated(images: list[Row], final: dict[str, str], ids: dict[str, str]) -> dict[str, list[Row]]:
    texts = {ids[text]: words for text, words in final.items()}
    generations: list[Row] = [
        {"generator": row["generator"], "prompt": row["prompt"], "sample": 0, "text": texts[str(row["prompt"])]}
        | {"style": row["style"], "sent": texts[str(row["prompt"])], "seed": 7, "width": 32, "height": 32}
        | {
            "rewritten": f"a detailed painting of {texts[str(row['prompt'])]}"
            if row["generator"] == "dune"
            else None
        }
        | {"status": "done", "path": "x.png", "sha256": "0", "kind": "worker", "model": f"{row['generator']} 1.2"}
        | {"weights": "5f2c", "settings": '{"steps": 20}'}
        for row in images
    ]
    costs: list[Row] = [
        {"generator": row["generator"], "prompt": row["prompt"], "sample": 0}
        | {"seconds": (SPEED[str(row["generator"])] + number % 5 / 10), "energy_wh": 0.02}
        | {"energy_method": "codecarbon, constant power", "cost": 0.01, "currency": "USD"}
        for number, row in enumerate(generations)
    ]
    return {"generations": generations, "generation_costs": costs}


def _judged(images: list[Row]) -> dict[str, list[Row]]:
    rng = np.random.default_rng(0)
    by_prompt: dict[str, dict[str, str]] = {}
    for row in images:
        by_prompt.setdefault(str(row["prompt"]), {})[str(row["generator"])] = str(row["image"])
    hard, lenient = rng.normal(size=len(by_prompt)) * 0.4, rng.normal(size=RATERS) * 0.3
    judgements: list[Row] = []
    for p, of_prompt in enumerate(by_prompt.values()):
        for r in range(RATERS):
            for aspect, weight in (("quality", 1.0), ("alignment", 0.5)):
                for name, image in of_prompt.items():
                    opinion = 3 + weight * SKILL[name] + hard[p] + lenient[r] + rng.normal() * 0.8
                    judgements.append(
                        _judgement(r, image, "opinion", aspect, float(np.clip(round(opinion), 1, 5)))
                    )
            first, second = rng.choice(list(of_prompt), 2, replace=False)
            wins = rng.random() < 1 / (1 + np.exp(SKILL[second] - SKILL[first]))
            other = of_prompt[second]
            judgements.append(_judgement(r, of_prompt[first], "preference", "preference", 2.0 * wins - 1, other))
    sessions = {str(row["session"]): row for row in judgements}
    return {
        "judgements": judgements,
        "sessions": [
            {"session": name, "rater": row["rater"], "question": row["question"], "status": "complete"}
            | {"started": MOMENT, "ended": MOMENT, "simulated": True}
            for name, row in sessions.items()
        ],
        "trials": [
            {"trial": trial, "question": row["question"], "kind": "rating", "slot": 0, "position": 0, "block": 0}
            | {"role": "test", "images": [row["image"]], "propensity": 1.0}
            for trial, row in {str(row["trial"]): row for row in judgements}.items()
        ],
    }


def _judgement(rater: int, image: str, question: str, aspect: str, value: float, other: str | None = None) -> Row:
    return {
        "question": question,
        "aspect": aspect,
        "rater": f"r{rater:02d}",
        "session": f"{question}-{rater:02d}",
        "trial": f"{question}/{rater}/{image}/{other}",
        "attempt": 1,
        "place": 0,
        "image": image,
        "other": other,
        "value": value,
        "value_kind": "rating" if other is None else "vote",
        "used": True,
    }


def _scores(images: list[Row]) -> list[Row]:
    rng = np.random.default_rng(1)
    return [
        {"scorer": scorer, "aspect": "quality", "image": row["image"], "better": better}
        | {"score": float(level + sign * SKILL[str(row["generator"])] * spread + rng.normal() * spread)}
        for scorer, level, sign, spread, better in (
            ("sharpness", 20.0, 1.0, 3.0, "higher"),
            ("blockiness", 0.4, 0.3, 0.05, "lower"),
            ("warmth", 120.0, 0.5, 15.0, None),
        )
        for row in images
    ]


@pytest.fixture(scope="session")
def board_study(small_world: Any, make_once: Any) -> Path:  # noqa: ANN401 - tests are no package to import types from
    """The study of the small board, which tests read and never change."""

    def fill(folder: Path) -> None:
        build_board_study(folder / "study", small_world.painted, small_world.folder / "images", 32)

    return Path(make_once("board-study", fill)) / "study"


@pytest.fixture(scope="session")
def site(board_study: Path, make_once: Any) -> Path:  # noqa: ANN401
    """The site of the small board."""
    return Path(make_once("board-site", lambda folder: run_site(board_study, folder / "public"))) / "public"


@pytest.fixture
def own_study(board_study: Path, tmp_path: Path) -> Callable[[], Path]:
    """A copy of the study, to be changed."""
    return lambda: Path(shutil.copytree(board_study, tmp_path / "own"))
