"""A rehearsed round: simulated attackers of a trained model, and simulated verifiers; no person is asked.

An attacker perceives the quality of images with some noise, and claims pairs of one prompt of which the model
prefers the worse. The model is asked by its held-out predictions, so nothing is loaded. Every third attacker does
not look, and claims either image of pairs at random.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import cast

import numpy as np
import polars as pl

from beholder.api.rounds.fresh_claims import CLAIMS, Claim
from beholder.api.rounds.verification_study import VERIFIERS, RoundOfClaims, next_round, write_pairs
from beholder.api.stages import load_stage
from beholder.errors import UserError
from beholder.rounds.pair_claims import PLACES, placed_name
from beholder.simulate.sight import View
from beholder.simulate.views import TRUTH, views_of
from beholder.study.study import Study, load_study
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import TRUTH_ROOM, Store
from beholder.tables.work import Outcome

EYE_NOISE = 0.05
"""Standard deviation of what an attacker perceives of the quality of an image, from 0 to 1."""

CLEAR = 0.1
"""Perceived difference in quality from which a pair is claimed."""

MOST = 8
"""Claims of one attacker in a round, at most one per prompt."""

BAD = 0.2
"""Proportion of the verifiers with bad habits."""


def rehearse_round(folder: Path, model: str, *, attackers: int = 20, verifiers: int = VERIFIERS) -> RoundOfClaims:
    """Make the next round by simulated attackers of a model, and let simulated raters verify it."""
    study, store = load_study(folder), Store(folder)
    sessions = store.read_or_empty("sessions")
    if not sessions.is_empty() and not sessions["simulated"].all():
        raise UserError(f"{folder} holds answers of real raters: rehearse rounds in a copy of the folder")
    attacked = _attacked(store, study, model)
    place = next_round(folder)
    claims = [
        claim
        for attacker in range(attackers)
        for claim in _attack(
            attacked, attacker, np.random.default_rng([study.seed, 30, int(place.name), attacker])
        )
    ]
    if not claims:
        place.rmdir()
        raise UserError(f"{attackers} simulated attackers found no pair of which {model} prefers the worse")
    write_pairs(place, folder, study, claims, verifiers)
    _write_truth(place, attacked.views)
    raters = load_study(place).questions[0].design.raters
    _stage("design")(place)
    _stage("collect")(place, people=raters, bad=round(BAD * raters))
    _stage("consolidate")(place)
    return RoundOfClaims(place, claims[0].target, len(claims), 0, 0, 0)


@dataclass(frozen=True, eq=False)
class _Attacked:
    """A model as its attackers meet it."""

    model: str
    by_prompt: Mapping[str, list[str]]
    """Text of a prompt -> its images."""
    views: Mapping[str, View]
    scores: Mapping[str, float]
    """Image -> its score, more being better."""


def _attacked(store: Store, study: Study, model: str) -> _Attacked:
    predictions = store.read_or_empty("predictions").filter("held_out")
    own = predictions.filter(pl.col("model") == model)
    if own.is_empty():
        there = ", ".join(sorted(set(predictions["model"]))) or "none"
        raise UserError(
            f"{store.folder}: no held-out predictions of a model '{model}'; found: {there}. Train it first: "
            f"beholder learn {store.folder} --recipe RECIPE"
        )
    sign = -1.0 if own["better"][0] == "lower" else 1.0
    scores = {image: sign * score for image, score in own.select("image", "score").iter_rows()}
    texts = dict(store.read_or_empty("prompts").select("prompt", "text").iter_rows())
    images = store.read("images").filter(pl.col("image").is_in(list(scores))).drop_nulls("prompt")
    by_prompt: dict[str, list[str]] = {}
    for image, prompt in images.select("image", "prompt").iter_rows():
        by_prompt.setdefault(texts.get(prompt, ""), []).append(image)
    several = {prompt: names for prompt, names in by_prompt.items() if len(names) > 1}
    return _Attacked(model, several, views_of(store, seed=study.seed), scores)


def _attack(attacked: _Attacked, attacker: int, rng: np.random.Generator) -> Iterator[Claim]:
    """The claims of one attacker, who keeps their name from round to round."""
    prompts, count = list(attacked.by_prompt), 0
    for number in rng.permutation(len(prompts)):
        prompt = prompts[int(number)]
        pairs = list(combinations(attacked.by_prompt[prompt], 2))
        first, second = pairs[int(rng.integers(len(pairs)))]
        lead = attacked.scores[first] - attacked.scores[second]
        gap = attacked.views[first].quality["overall"] - attacked.views[second].quality["overall"]
        perceived = gap + rng.normal(0, np.sqrt(2) * EYE_NOISE)
        fooled = abs(perceived) > CLEAR and lead * perceived < 0
        if lead == 0 or (attacker % 3 != 2 and not fooled):
            continue
        better, worse = (second, first) if lead > 0 else (first, second)
        yield Claim(
            attempt=rng.bytes(12).hex(),
            target=f"models/{attacked.model}",
            moderation="approved",
            rater=f"attacker-{attacker:02d}",
            tags="",
            text=prompt,
            path=None,
            sha256="",
            width=0,
            height=0,
            better=better,
            worse=worse,
        )
        count += 1
        if count == MOST:
            return


def _write_truth(place: Path, views: Mapping[str, View]) -> None:
    """The ground truth of the images, under the names that they have in the round."""
    rows = []
    for claim in pl.read_csv(place / CLAIMS, infer_schema=False).iter_rows(named=True):
        for where in PLACES:
            view, image = views[claim[where]], placed_name(claim["image"], where)
            values = {**view.quality, "detectability": view.detectability}
            rows += [
                {"scorer": TRUTH, "aspect": aspect, "image": image, "score": score}
                for aspect, score in values.items()
            ]
    record = Provenance("measure", {"rehearsal": True}, 0, {})
    Store(place, TRUTH_ROOM).write({"scores": TABLES["scores"].frame(rows)}, record)


def _stage(verb: str) -> Callable[..., Outcome]:
    return cast("Callable[..., Outcome]", load_stage(verb).run)
