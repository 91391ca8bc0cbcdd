"""The trials that check raters: training, qualification, gold, attention and repeated ones."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from beholder.design.items import DrawnTrial, Image, Item, Pools, single_item
from beholder.study.kinds.catalogue import AnyQuestion, kind_of
from beholder.study.kinds.traits import Gold


def add_checks(
    question: AnyQuestion, pools: Pools, tests: list[DrawnTrial], rng: np.random.Generator
) -> list[DrawnTrial]:
    """Put training and qualification first, and gold, attention and repeated trials among the blocks."""
    design = question.design
    used = {image for drawn in tests for image in drawn.item.images}
    lead = _with_known_answer(question, pools, design.training, "training", used, rng)
    used |= {image for drawn in lead for image in drawn.item.images}
    lead += _with_known_answer(question, pools, design.qualification, "qualification", used, rng)
    used |= {image for drawn in lead for image in drawn.item.images}
    trials = list(lead)
    gold = iter(
        _with_known_answer(question, pools, len(tests) // (design.gold_every or len(tests) + 1), "gold", used, rng)
    )
    repeat_at = _repeat_positions(len(tests), design.repeats, rng)
    gold_rng, attention_rng = rng.spawn(2)  # separate streams, so that other draws do not depend on them
    gold_after = _one_per_window(len(tests), design.gold_every, gold_rng)
    attention_after = _one_per_window(len(tests), design.attention_every, attention_rng)
    for number, drawn in enumerate(tests):
        block = drawn.block
        trials.append(drawn)
        if number in attention_after:
            expected = kind_of(question).instruct(question, rng)
            trials.append(DrawnTrial(replace(drawn.item, expected=expected), "attention", 1.0, block=block))
        if number in gold_after:
            trials += [replace(g, block=block) for g in (next(gold, None),) if g]
        for earlier in repeat_at.get(number, ()):
            item = tests[earlier].item
            flipped = replace(item, images=item.images[::-1] if len(item.images) == 2 else item.images)
            trials.append(DrawnTrial(flipped, "repeat", 1.0, repeats=earlier, block=block))
    return trials


def _one_per_window(tests: int, every: int | None, rng: np.random.Generator) -> set[int]:
    """Return after which test trials a check comes: one drawn from each full window of ``every``.

    A position that is the same for all raters would give away which trials are checks.
    """
    if not every:
        return set()
    return {start + int(rng.integers(every)) for start in range(0, tests - every + 1, every)}


def _repeat_positions(tests: int, repeats: int, rng: np.random.Generator) -> dict[int, list[int]]:
    """Return after which test trial each repeated one comes: those of the first half come in the second."""
    positions: dict[int, list[int]] = {}
    earlier = rng.permutation(max(tests // 2, 1))[:repeats]
    rest = rng.choice(np.arange(tests // 2, tests), size=max(repeats - len(earlier), 0), replace=False)
    later = rng.integers(tests // 2, tests, size=len(earlier))
    for first, after in zip(earlier, later, strict=True):
        positions.setdefault(int(after), []).append(int(first))
    for first in rest:
        positions.setdefault(tests - 1, []).append(int(first))
    return positions


def _with_known_answer(
    question: AnyQuestion, pools: Pools, count: int, role: str, used: set[str], rng: np.random.Generator
) -> list[DrawnTrial]:
    """Return trials with a known answer whose images the slot does not show otherwise."""
    gold = kind_of(question).traits.gold
    if count == 0 or gold is None:
        return []
    return KNOWN_ITEMS[gold](pools, count, role, used, rng)


def _beside_known_bad(
    pools: Pools, count: int, role: str, used: set[str], rng: np.random.Generator
) -> list[DrawnTrial]:
    """Return pairs with a gold image, known to be bad."""
    pairs = [pair for pair in gold_pairs(pools) if not used & set(pair.images)] or gold_pairs(pools)
    chosen = [pairs[int(i)] for i in rng.choice(len(pairs), size=count, replace=len(pairs) < count)]
    return [DrawnTrial(_with_random_sides(pair, rng), role, 1.0) for pair in chosen]


def _real_or_generated(
    pools: Pools, count: int, role: str, used: set[str], rng: np.random.Generator
) -> list[DrawnTrial]:
    """Return real and generated images, half of each."""
    real, generated = check_images(pools)
    reals = _fresh(real, used, count - count // 2, rng)
    fakes = _fresh(generated, used, count // 2, rng)
    both = [DrawnTrial(single_item(i), role, 1.0) for i in (*reals, *fakes)]
    return [both[int(i)] for i in rng.permutation(len(both))]


def check_images(pools: Pools) -> tuple[tuple[Image, ...], tuple[Image, ...]]:
    """Return the real and the generated images for checks: the gold ones or, without any, those of the test."""
    real = tuple(image for image in pools.gold if image.real)
    generated = tuple(image for image in pools.gold if not image.real)
    return real or pools.real, generated or pools.generated


def _fresh(images: Sequence[Image], used: set[str], count: int, rng: np.random.Generator) -> list[Image]:
    """Return ``count`` images not yet used by the slot; where they run out, some come again."""
    fresh = [image for image in images if image.image not in used] or list(images)
    chosen = rng.choice(len(fresh), size=count, replace=len(fresh) < count)
    return [fresh[int(i)] for i in chosen]


def gold_pairs(pools: Pools) -> list[Item]:
    """Pair each generated gold image, known to be bad, with other images of its prompt: the other is expected."""
    others: dict[str | None, list[Image]] = defaultdict(list)
    for image in pools.generated + pools.real:
        others[image.prompt].append(image)
    return [
        Item((other.image, gold.image), "gold", gold.prompt, "left")
        for gold in pools.gold
        if gold.prompt is not None and not gold.real
        for other in others[gold.prompt]
    ]


def _with_random_sides(pair: Item, rng: np.random.Generator) -> Item:
    """Draw the sides of the gold pair."""
    if rng.random() < 0.5:
        return pair
    return replace(pair, images=pair.images[::-1], expected="right")


KNOWN_ITEMS: dict[Gold, Callable[[Pools, int, str, set[str], np.random.Generator], list[DrawnTrial]]] = {
    "real-or-generated": _real_or_generated,
    "known-bad": _beside_known_bad,
}
"""Trials whose right answer is known, by where it comes from."""
