"""A blind comparison of images after an improvement with those before, from its plan to its net preference."""

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from beholder.api.planning import plan
from beholder.collect.stage import run as collect_simulated
from beholder.consolidate.stage import run as consolidate
from beholder.design.new import make_study
from beholder.design.stage import run as design
from beholder.errors import UserError
from beholder.improve.gains import Row
from beholder.improve.improvement import Improvement
from beholder.improve.proof import ProofPair, pair_truths, preference_rows, proof_pairs, read_votes, write_pairs
from beholder.improve.record import record_improvement, settings_of
from beholder.simulate.views import TRUTH
from beholder.study.study import FILE_NAME, load_study
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import TRUTH_ROOM, Store

PROTOCOL = "side-by-side"
RATERS = (6, 10, 15, 20, 30, 45, 60)
"""Numbers of raters that are tried."""
POWER = 0.8
MOST_PAIRS = 100
"""Pairs that a rater judges, at most: a session of a quarter of an hour."""
STUDIES = 100
"""Simulated studies for each number of raters of the plan."""

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Proof:
    """What was asked, and what raters say; nothing yet where people have still to answer."""

    study: Path
    pairs: int
    raters: int
    trials: int
    rows: tuple[Row, ...] = ()


def prove(
    folder: Path,
    name: str,
    *,
    simulate: bool = False,
    pairs: int | None = None,
    raters: int | None = None,
    difference: float = 0.1,
    progress: Progress | None = None,
) -> Proof:
    """Make the blind comparison of an improvement, or evaluate it where it has answers.

    Args:
        folder: The study folder.
        name: The improvement.
        simulate: Let simulated raters answer; they see the ground truth of the synthetic world, through noise.
        pairs: Ask about at most so many pairs; scores say something about the others.
        raters: How many; by default as many as a plan needs to detect ``difference`` with a power of 80 %.
        difference: A preference of 50 % plus this is worth detecting.
        progress: Called as work proceeds.

    Returns:
        The folder of the comparison, and the net preference once there are answers.
    """
    improvement, say = Improvement(folder, name), progress or (lambda _part, _done, _all: None)
    study = load_study(folder)
    if not improvement.store.has("changes"):
        raise UserError(f"{improvement.folder} is no improvement: it has no table of changes")
    every = proof_pairs(improvement, np.random.default_rng([study.seed, 31]))
    proof = improvement.proof
    if not (proof / FILE_NAME).is_file():
        chosen = every[: min(pairs or len(every), MOST_PAIRS if pairs is None else len(every))]
        count = raters or _planned_raters(len(chosen), difference, say)
        _make(improvement, chosen, count, study.seed, simulate=simulate)
    question = load_study(proof).questions[0]
    pair_count = Store(proof).read("images").height // 2
    if simulate and not Store(proof).has("answers"):
        say("simulated raters", 0, question.design.raters)
        design(proof)
        collect_simulated(proof, people=question.design.raters)
    if not Store(proof).has("answers"):
        design(proof)
        return Proof(proof, pair_count, question.design.raters, question.design.trials)
    consolidate(proof)
    rows = preference_rows(improvement, read_votes(proof), every, proof, level=study.analysis.level)
    record_improvement(improvement, {"proofs": rows}, settings=settings_of(improvement), seed=study.seed)
    return Proof(proof, pair_count, question.design.raters, question.design.trials, tuple(rows))


def _planned_raters(pairs: int, difference: float, say: Progress) -> int:
    """Return the least number of raters with which the difference is detected, or the most that are tried."""
    power = plan(
        PROTOCOL,
        difference=difference,
        images=pairs,
        trials=min(pairs, MOST_PAIRS),
        raters=RATERS,
        studies=STUDIES,
        progress=lambda done, total: say("plan", done, total),
    )
    return next((point.raters for point in power.points if point.power.value >= POWER), RATERS[-1])


def _make(improvement: Improvement, pairs: list[ProofPair], raters: int, seed: int, *, simulate: bool) -> None:
    truths = pair_truths(improvement, pairs) if simulate else {}
    try:
        with tempfile.TemporaryDirectory(dir=improvement.folder) as scratch:
            manifest = write_pairs(improvement, pairs, Path(scratch))
            make_study(
                [PROTOCOL],
                improvement.proof,
                manifest=manifest,
                name=f"{improvement.name}-proof",
                title="Which image is better?",
                seed=seed,
                copy=True,
                raters=raters,
                trials=min(len(pairs), MOST_PAIRS),
            )
        if simulate:
            _write_truth(improvement.proof, truths, seed)
    except BaseException:
        shutil.rmtree(improvement.proof, ignore_errors=True)
        raise


def _write_truth(folder: Path, truths: dict[str, dict[str, float]], seed: int) -> None:
    """Write what simulated raters see."""
    rows: list[dict[str, object]] = [
        {"scorer": TRUTH, "aspect": aspect, "image": image, "score": score}
        for image, scores in truths.items()
        for aspect, score in scores.items()
    ]
    frames = {"scores": TABLES["scores"].frame(rows)}
    record = Provenance("simulate", {}, seed, {"images": Store(folder).hash("images")})
    Store(folder, TRUTH_ROOM).write(frames, record)
