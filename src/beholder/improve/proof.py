"""The blind comparison of images after an improvement with those before: which pairs, and what raters say.

One pair per prompt, so that prompts are a sample; only pairs that differ are asked about. Where an improvement has
several steps, the image before the first is compared with the one after the last.
"""

import csv
import filecmp
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.errors import StageError, UserError
from beholder.improve.gains import Row
from beholder.improve.improvement import Improvement
from beholder.improve.truth import read_truth
from beholder.stats.comparisons.net_preference import NetPreference, net_preference, powered_net_preference
from beholder.tables.store import Store

BEFORE, AFTER = "before", "after"
"""What the two generators of the comparison are called; raters never see it."""

MANIFEST = "pairs.csv"
ALL_CHANGES = "changed images after against before"
COMPARISONS = {
    "filter": "the best of several, and repaired, against the first",
    "repair": "repaired against as they were",
    "guide": "guided against plainly sampled",
    "words": "sampled again by misaligned keywords against as they were",
    "tune": "by the tuned generator against by its base",
}
"""Method of the first change of a pair -> what is compared, where an improvement has pairs of several kinds."""
FEWEST = 5
"""Pairs with which a comparison begins to have an interval."""


@dataclass(frozen=True, slots=True)
class ProofPair:
    """Two images of one prompt, and the gain between them by a scorer."""

    prompt: str
    before: str
    after: str
    gain: float | None
    """By the held-out scorer, or by the one that chose where there is none."""
    method: str = ""
    """Of the first change."""


def proof_pairs(improvement: Improvement, rng: np.random.Generator) -> list[ProofPair]:
    """Return one pair per prompt, of images that the improvement changed, in random order."""
    changes = improvement.store.read("changes").filter(
        pl.col("kept") & pl.col("before").is_not_null() & pl.col("after").is_not_null()
    )
    rows = changes.to_dicts()
    following = {row["before"]: row for row in rows if row["before"] != row["after"]}
    continued = {row["after"] for row in rows}
    by_prompt: dict[str, list[ProofPair]] = {}
    for row in rows:
        if row["before"] in continued and row["before"] in following:
            continue  # a later step of an image that is followed from its first
        last, gain = row, _gain(row)
        while last["after"] in following and following[last["after"]] is not last:
            last = following[last["after"]]
            more = _gain(last)
            gain = None if gain is None or more is None else gain + more
        if _differ(improvement, row["before"], last["after"]):
            pair = ProofPair(str(row["prompt"]), row["before"], last["after"], gain, row["method"])
            by_prompt.setdefault(pair.prompt, []).append(pair)
    pairs = [group[int(rng.integers(len(group)))] for group in by_prompt.values()]
    return [pairs[place] for place in rng.permutation(len(pairs)).tolist()]


def _differ(improvement: Improvement, before: str, after: str) -> bool:
    """Whether two images are not the same file, nor copies of one: the first of several can be the best."""
    if before == after:
        return False
    first, second = (improvement.study / path for path in (before, after))
    return not (first.is_file() and second.is_file() and filecmp.cmp(first, second, shallow=False))


def count_pairs(improvement: Improvement) -> int:
    """Return of how many prompts the improvement changed images."""
    return len(proof_pairs(improvement, np.random.default_rng(0)))


def _gain(row: Row) -> float | None:
    for measure in ("held_out", "own"):
        before, after = row[f"{measure}_before"], row[f"{measure}_after"]
        if isinstance(before, float) and isinstance(after, float):
            return after - before
    return None


def write_pairs(improvement: Improvement, pairs: Sequence[ProofPair], folder: Path) -> Path:
    """Write the manifest of the comparison, from which its study is made."""
    if len(pairs) < FEWEST:
        raise UserError(
            f"{improvement.name} changed images of {len(pairs)} prompts; a comparison needs at least {FEWEST}"
        )
    path = folder / MANIFEST
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["image", "path", "generator", "prompt"])
        for number, pair in enumerate(pairs):
            for name, place in ((BEFORE, pair.before), (AFTER, pair.after)):
                source = (improvement.study / place).resolve()
                writer.writerow([f"{name}/{number:04d}", source, name, pair.prompt])
    return path


def pair_truths(improvement: Improvement, pairs: Sequence[ProofPair]) -> dict[str, dict[str, float]]:
    """Return the ground truth of the images of the comparison by their ids; an error where it is not known."""
    truth = read_truth(improvement)
    by_image = {
        f"{name}/{number:04d}": truth.get(place)
        for number, pair in enumerate(pairs)
        for name, place in ((BEFORE, pair.before), (AFTER, pair.after))
    }
    unknown_images = [image for image, scores in by_image.items() if scores is None]
    if unknown_images:
        raise UserError(
            f"{improvement.name}: simulated raters need the ground truth of the images, which only the synthetic "
            f"world knows; {len(unknown_images)} of {len(by_image)} have none. Ask people: leave --simulate out"
        )
    return {image: scores for image, scores in by_image.items() if scores is not None}


def read_votes(folder: Path) -> pl.DataFrame:
    """Return the used answers of the comparison: rater, prompt, and from 2 (after is much better) to −2."""
    store = Store(folder)
    if not store.has("judgements"):
        raise StageError(f"{folder} has no judgements yet: beholder collect {folder}, then beholder improve proof")
    generator = store.read("images").select("image", "generator", "prompt")
    votes = (
        store.read("judgements")
        .filter(pl.col("used") & (pl.col("value_kind") == "graded-vote"))
        .join(generator, on="image", how="inner", maintain_order="left")
    )
    sign = pl.when(pl.col("generator") == AFTER).then(1).otherwise(-1)
    return votes.select("rater", "prompt", answer=(pl.col("value") * sign).cast(pl.Int64))


def preference_rows(
    improvement: Improvement, votes: pl.DataFrame, pairs: Sequence[ProofPair], folder: Path, *, level: float
) -> list[Row]:
    """Return the rows of the table ``proofs``: by raters alone and, where scores help, by raters and scores."""
    if votes.is_empty():
        raise StageError(f"{folder}: no answer is used; screening excluded every rater, or nobody answered")
    texts = dict(Store(folder).read("prompts").select("prompt", "text").iter_rows())
    raters, prompts = (
        votes[column].rank("dense").to_numpy().astype(np.int64) - 1 for column in ("rater", "prompt")
    )
    answers = votes["answer"].to_numpy()
    estimates = [net_preference(answers, raters, prompts, level=level)]
    gains = {pair.prompt: pair.gain for pair in pairs}
    judged = [gains.get(texts[prompt]) for prompt in votes["prompt"]]
    judged_texts = {texts[prompt] for prompt in votes["prompt"].unique()}
    further = [g for text, g in gains.items() if text not in judged_texts and g is not None]
    complete = [gain for gain in judged if gain is not None]
    if len(complete) == len(judged) and len(further) >= 2 and len(set(complete)) > 1:
        estimates.append(powered_net_preference(answers, raters, prompts, complete, further, level=level))
    simulated = bool(Store(folder).read("sessions")["simulated"].all())
    kinds = {pair.prompt: pair.method for pair in pairs}
    of_votes = np.array([kinds.get(texts[prompt], "") for prompt in votes["prompt"]])
    compared = [(ALL_CHANGES, preference) for preference in estimates]
    for kind in dict.fromkeys(of_votes.tolist()) if len(set(of_votes.tolist())) > 1 else ():
        of_kind = of_votes == kind
        if len(np.unique(prompts[of_kind])) >= FEWEST and kind in COMPARISONS:
            part = net_preference(answers[of_kind], _dense(raters[of_kind]), _dense(prompts[of_kind]), level=level)
            compared.append((COMPARISONS[kind], part))
    return [_row(improvement, kind, part, folder, simulated=simulated) for kind, part in compared]


def _dense(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return numbers from 0 without gaps."""
    return np.unique(numbers, return_inverse=True)[1].astype(np.int64)


def _row(
    improvement: Improvement, comparison: str, preference: NetPreference, folder: Path, *, simulated: bool
) -> Row:
    net = preference.net
    names = ("much_better", "better", "same", "worse", "much_worse")
    return {
        "comparison": comparison,
        "method": net.method,
        "study": improvement.relative(folder),
        **dict(zip(names, preference.counts, strict=True)),
        "net": net.value,
        "low": None if np.isnan(net.low) else net.low,
        "high": None if np.isnan(net.high) else net.high,
        "level": net.level,
        "raters": net.raters,
        "prompts": net.items or 0,
        "simulated": simulated,
    }
