"""Fitting the numbers of a protocol to the images there are, so that its trials can be drawn.

Published studies had hundreds of images. Where there are fewer, a session gets fewer trials, and what goes with
them (training, qualification, repeated trials, checks, blocks) shrinks in proportion. Where every item is to get
an exact number of answers, raters and trials are chosen that make it come out. Numbers that a user chose are never
changed: if they do not fit, drawing the trials says why.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from beholder.design.draw import too_few_images
from beholder.design.items import Pools, generated_items, largest_row
from beholder.study.kinds.catalogue import AnyQuestion, kind_of
from beholder.study.question import Design

Numbers = Mapping[str, int | None]
"""Numbers of a design by the name of the setting."""

LEAST_QUALIFICATION = 20
"""Fewer images would admit raters by chance: ten of each class at 65 %."""

LEAST_RATERS, LEAST_TRIALS = 12, 10
"""What raters and trials are not fitted below, where the images allow it."""

BLOCK_TRIALS = 10
"""A block has at least so many trials."""

FITTED = (
    *("raters", "trials", "raters_per_item", "training", "qualification", "repeats"),
    *("gold_every", "attention_every", "blocks"),
)
"""The settings that are fitted, besides the images of a row."""

IMAGES = "images"
"""The setting of the kinds that show several images of one prompt."""


@dataclass(frozen=True, slots=True)
class Change:
    """A number that was fitted to the images; ``None`` stands for none."""

    setting: str
    published: int | None
    fitted: int | None

    def __str__(self) -> str:
        return f"{self.setting} {_shown(self.fitted)} (published: {_shown(self.published)})"


def fit_question(question: AnyQuestion, pools: Pools, chosen: Numbers) -> tuple[AnyQuestion, tuple[Change, ...]]:
    """Return the question with its numbers fitted to the images, and what was changed.

    ``question`` has the published numbers, ``chosen`` those that replace them whatever the images are. Numbers
    that contradict each other raise Pydantic's error.
    """
    published = question.design
    fitted = _with_row(question, chosen[IMAGES] if IMAGES in chosen else _fitted_row(question, pools))
    by_user = {name: value for name, value in chosen.items() if name != IMAGES}
    numbers = dict(by_user)
    if pools.generated:
        if kind_of(fitted).traits.shows_real:
            numbers |= _fit_to_real_and_generated(fitted, pools, by_user)
        else:
            numbers |= _fit_to_items(published, _count_items(fitted, pools), by_user)
    numbers |= _fit_checks(published, int(numbers.get("trials") or published.trials), by_user)
    design = Design.model_validate({**published.model_dump(), **numbers})
    fitted = fitted.model_copy(update={"design": design})
    return fitted, tuple(_changes(question, fitted, chosen))


def _fitted_row(question: AnyQuestion, pools: Pools) -> int | None:
    """Return how many images of one prompt a trial shows: as published, or as many as the prompts have."""
    if kind_of(question).traits.items != "rows":
        return None
    return largest_row(pools, kind_of(question).shows(question))


def _with_row(question: AnyQuestion, images: int | None) -> AnyQuestion:
    if images is None or images == kind_of(question).shows(question):
        return question
    return type(question).model_validate({**question.model_dump(), IMAGES: images})


def _count_items(question: AnyQuestion, pools: Pools) -> int:
    return len(generated_items(question, pools, np.random.default_rng(0)))


def _fit_to_real_and_generated(question: AnyQuestion, pools: Pools, chosen: Numbers) -> dict[str, int | None]:
    """Return trials, training and qualification such that no rater sees an image twice.

    All three shrink together; a qualification of too few images is left out.
    """

    def fits(numbers: Numbers) -> bool:
        design = question.design.model_copy(update={**chosen, **numbers})
        return not too_few_images(question.model_copy(update={"design": design}), pools)

    published = question.design
    with_qualification = _largest(fits, lambda factor: _scaled(published, chosen, factor))
    qualification = None if with_qualification is None else with_qualification["qualification"]
    if qualification or not published.qualification or "qualification" in chosen:
        return with_qualification or {}
    without = {**chosen, "qualification": 0}
    return (_largest(fits, lambda factor: _scaled(published, without, factor)) or {}) | {"qualification": 0}


def _largest(
    fits: Callable[[Numbers], bool], scaled: Callable[[float], dict[str, int | None]]
) -> dict[str, int | None] | None:
    """Return the largest numbers that fit, by bisection over the factor they are scaled by."""
    steps = 2000
    if not fits(scaled(1 / steps)):
        return None
    low, high = 1, steps + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(scaled(middle / steps)) else (low, middle)
    return scaled(low / steps)


def _scaled(published: Design, chosen: Numbers, factor: float) -> dict[str, int | None]:
    """Return trials, training and qualification times a factor, even so that half of them can be real."""
    qualification = _even(published.qualification * factor)
    enough = qualification >= min(LEAST_QUALIFICATION, published.qualification)
    scaled: dict[str, int | None] = {
        "trials": max(_even(published.trials * factor), min(published.trials, 2)),
        "training": _even(published.training * factor),
        "qualification": qualification if enough else 0,
    }
    return scaled | {name: value for name, value in chosen.items() if name in scaled}


def _even(number: float) -> int:
    return 2 * math.floor(number / 2 + 1e-9)


def _fit_to_items(published: Design, items: int, chosen: Numbers) -> dict[str, int | None]:
    """Return raters, trials and answers per item such that no rater judges an item twice.

    The published number of answers per item is kept where it can be; then there are enough raters, enough trials,
    as many answers as possible, and as many raters as possible, in this order.
    """
    most = published.trials if items == 0 else min(published.trials, items)
    most = int(chosen.get("trials") or most)
    per_item = chosen.get("raters_per_item", published.raters_per_item)
    if per_item is None:
        return {"trials": most}
    raters = [int(chosen["raters"] or 0)] if "raters" in chosen else range(1, published.raters + 1)
    trials = [most] if "trials" in chosen else range(1, most + 1)
    other_counts = [] if "raters_per_item" in chosen else range(1, max(raters) + 1)

    def merit(numbers: tuple[int, int, int]) -> tuple[int, bool, bool, int, int]:
        r, t, k = numbers
        return -abs(k - per_item), r >= min(LEAST_RATERS, max(raters)), t >= min(LEAST_TRIALS, most), r * t, r

    for counts in ([per_item], other_counts):
        every = ((r, t, k) for r in raters for t in trials for k in counts)
        best = max((choice for choice in every if _comes_out(*choice, items)), key=merit, default=None)
        if best is not None:
            return {"raters": best[0], "trials": best[1], "raters_per_item": best[2]}
    return {}


def _comes_out(raters: int, trials: int, per_item: int, items: int) -> bool:
    """Say whether each of at most so many items gets exactly its number of answers."""
    answers = raters * trials
    return raters >= per_item and answers % per_item == 0 and trials <= answers // per_item <= items


def _fit_checks(published: Design, trials: int, chosen: Numbers) -> dict[str, int | None]:
    """Return repeated trials, checks and blocks for a session of so many trials."""
    if trials >= published.trials:
        return {}
    numbers: dict[str, int | None] = {
        "repeats": math.ceil(published.repeats * trials / published.trials),
        "blocks": min(published.blocks, max(trials // BLOCK_TRIALS, 1)),
    }
    for name in ("gold_every", "attention_every"):
        every = getattr(published, name)
        if every is not None and every > trials:
            numbers[name] = trials if trials >= 2 else None
    return {name: value for name, value in numbers.items() if name not in chosen}


def _changes(question: AnyQuestion, fitted: AnyQuestion, chosen: Numbers) -> Iterator[Change]:
    if kind_of(question).traits.items == "rows" and IMAGES not in chosen:
        before, after = kind_of(question).shows(question), kind_of(fitted).shows(fitted)
        if before != after:
            yield Change(IMAGES, before, after)
    for name in FITTED:
        before, after = getattr(question.design, name), getattr(fitted.design, name)
        if name not in chosen and before != after:
            yield Change(name, before, after)


def _shown(number: int | None) -> str:
    return "none" if not number else f"{number:,}"
