"""Drawing the trials of one question: items for every slot, checks among them, in an order."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from beholder.design.checks import add_checks, check_images, gold_pairs
from beholder.design.deal import alternating_shuffle, deal
from beholder.design.items import DrawnTrial, Item, Pools, generated_items, single_item
from beholder.design.sides import counterbalance
from beholder.errors import StudyError
from beholder.study.kinds.catalogue import KINDS, AnyQuestion, kind_of
from beholder.study.kinds.traits import ItemType


def draw_question(question: AnyQuestion, pools: Pools, rng: np.random.Generator) -> list[list[DrawnTrial]]:
    """Return the trials of every slot of the question, in order."""
    _require(question, pools)
    tests = DRAW_TRIALS[kind_of(question).traits.items](question, pools, rng)
    blocks = question.design.blocks
    return [add_checks(question, pools, _shuffled_in_blocks(hand, blocks, rng), rng) for hand in tests]


def _require(question: AnyQuestion, pools: Pools) -> None:
    """Raise an error with all reasons why the images do not suffice."""
    faults = [] if pools.generated else ["no generated images; add some with --generated NAME=DIR"]
    if kind_of(question).traits.shows_real:
        faults += too_few_images(question, pools)
    elif question.design.between:
        kinds = _listed(kind.name for kind in KINDS.values() if kind.traits.shows_real)
        faults.append(f"between = true is for the kinds that show real images: {kinds}")
    faults += _checks_without_answer(question, pools)
    if faults:
        raise StudyError(
            f"question '{question.name}'", faults, advice="Add images, or change the design in study.toml."
        )


def too_few_images(question: AnyQuestion, pools: Pools) -> list[str]:
    """List what is lacking for no rater to see an image twice, in the test or in checks that share its images."""
    design, faults = question.design, []
    image_count = design.trials * kind_of(question).shows(question)
    reals = round(image_count * design.real_share)
    fakes = image_count - reals
    checks = [
        design.training,
        design.qualification,
        design.trials // design.gold_every if design.gold_every else 0,
    ]
    check_reals, check_fakes = check_images(pools)
    real_checks = sum(count - count // 2 for count in checks) if check_reals is pools.real else 0
    fake_checks = sum(count // 2 for count in checks) if check_fakes is pools.generated else 0
    if len(pools.real) < reals + real_checks:
        faults.append(f"{len(pools.real)} real images, but each rater sees {reals} in the test{_and(real_checks)}")
    if len(pools.generated) < fakes + fake_checks:
        faults.append(
            f"{len(pools.generated)} generated images, but each rater sees {fakes} in the test{_and(fake_checks)}"
        )
    if design.between:
        for name in pools.generators:
            count = sum(1 for image in pools.generated if image.generator == name)
            if count < fakes:
                faults.append(f"{count} images of {name}, but each rater sees {fakes}, none twice")
        if design.raters < len(pools.generators):
            faults.append(
                f"{design.raters} raters for {len(pools.generators)} generators, but each rater judges one"
            )
    return faults


def _and(checks: int) -> str:
    return f" and {checks} in training, qualification and gold trials, none twice" if checks else ", none twice"


def _checks_without_answer(question: AnyQuestion, pools: Pools) -> list[str]:
    """List the checks that need a known answer where there is none."""
    design = question.design
    if not (design.gold_every or design.qualification or design.training):
        return []
    gold = kind_of(question).traits.gold
    if gold is None:
        kinds = _listed(kind.name for kind in KINDS.values() if kind.traits.gold is not None)
        return [f"gold, qualification and training trials need a known answer: the kinds {kinds} have one"]
    if gold == "known-bad" and not gold_pairs(pools):
        return [
            "gold, qualification and training pairs need gold images (--gold NAME=DIR) "
            "with the prompts of other images"
        ]
    return []


def _listed(names: Iterable[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _real_and_generated(question: AnyQuestion, pools: Pools, rng: np.random.Generator) -> list[list[DrawnTrial]]:
    """Draw single images: real ones from one pool, generated ones by generator where each rater sees one."""
    design = question.design
    reals = round(design.trials * design.real_share)
    fakes = design.trials - reals
    real_hands = _hands(question, [single_item(i) for i in pools.real], design.raters, reals, None, rng)
    slots_of: list[tuple[list[Item], list[int]]]
    if design.between:
        turn = [slot % len(pools.generators) for slot in range(design.raters)]
        slots_of = [
            (
                [single_item(i) for i in pools.generated if i.generator == name],
                [s for s, t in enumerate(turn) if t == g],
            )
            for g, name in enumerate(pools.generators)
        ]
    else:
        slots_of = [([single_item(i) for i in pools.generated], list(range(design.raters)))]
    tests: list[list[DrawnTrial]] = [[] for _ in range(design.raters)]
    for items, slots in slots_of:
        k = design.raters_per_item
        for slot, hand in zip(slots, _hands(question, items, len(slots), fakes, k, rng), strict=True):
            tests[slot] = _evenly(real_hands[slot], hand, rng)
    return tests


def _judged(question: AnyQuestion, pools: Pools, rng: np.random.Generator) -> list[list[DrawnTrial]]:
    """Images, pairs or rows of generated images, sides counterbalanced."""
    design = question.design
    items = list(generated_items(question, pools, rng))
    if len(items) < design.trials:
        raise StudyError(
            f"question '{question.name}'",
            [f"{len(items)} items to judge, but each rater judges {design.trials} without repetition"],
            advice=_advice_on_items(question),
        )
    hands = _hands(question, items, design.raters, design.trials, design.raters_per_item, rng)
    return counterbalance(hands, rng)


def _advice_on_items(question: AnyQuestion) -> str:
    images = kind_of(question).shows(question)
    if images > 1:
        return f"An item is {images} images of one prompt: add prompts or generators, or lower trials."
    return "Add images, or lower trials in study.toml."


def _sweeps(question: AnyQuestion, pools: Pools, rng: np.random.Generator) -> list[list[DrawnTrial]]:
    """Draw series of single images, real and generated in their proportions, each series in random order."""
    length = kind_of(question).shows(question)
    image_count = question.design.trials * length
    flat = replace_trials(question, image_count)
    tests: list[list[DrawnTrial]] = []
    for hand in _real_and_generated(flat, pools, rng):
        series = [hand[i : i + length] for i in range(0, image_count, length)]
        tests.append([_series(part, rng) for part in series])
    return tests


def _series(part: list[DrawnTrial], rng: np.random.Generator) -> DrawnTrial:
    images = tuple(part[int(i)].item.images[0] for i in rng.permutation(len(part)))
    return DrawnTrial(Item(images, "all"), "test", part[0].propensity)


def replace_trials(question: AnyQuestion, trials: int) -> AnyQuestion:
    """Return the same question with another number of trials per rater."""
    design = question.design.model_copy(update={"trials": trials})
    return question.model_copy(update={"design": design})


def _hands(
    question: AnyQuestion,
    items: Sequence[Item],
    slots: int,
    each: int,
    per_item: int | None,
    rng: np.random.Generator,
) -> list[list[DrawnTrial]]:
    """Deal items; with ``per_item``, from just so many that each gets exactly that number of answers."""
    if each == 0 or slots == 0:
        return [[] for _ in range(slots)]
    numbers = {name: number for number, name in enumerate(sorted({item.stratum for item in items}))}
    strata = np.asarray([numbers[item.stratum] for item in items], dtype=np.int64)
    if per_item:
        chosen = alternating_shuffle(strata, rng)[: _distinct_items(question, len(items), slots, each, per_item)]
        items, strata = [items[int(i)] for i in chosen], strata[chosen]
    propensity = each / len(items)
    return [
        [DrawnTrial(items[int(i)], "test", propensity) for i in hand] for hand in deal(strata, slots, each, rng)
    ]


def _distinct_items(question: AnyQuestion, items: int, slots: int, each: int, per_item: int) -> int:
    """Return how many items ``slots × each`` trials need at ``per_item`` answers per item."""
    needed, left_over = divmod(slots * each, per_item)
    whose = f"{slots} raters × {each} generated images" if kind_of(question).traits.shows_real else ""
    trials = whose or f"{slots} raters × {each} trials"
    faults = []
    if left_over:
        faults.append(f"{trials} is not a multiple of raters_per_item ({per_item})")
    elif slots < per_item:
        faults.append(f"{trials} at {per_item} answers per item, but a rater judges an item once")
    elif needed > items:
        faults.append(f"{trials} at {per_item} answers per item need {needed} items; there are {items}")
    if faults:
        raise StudyError(
            f"question '{question.name}'",
            faults,
            advice="Change raters, trials or raters_per_item, or leave it out to use all items evenly.",
        )
    return needed


def _evenly(real: list[DrawnTrial], generated: list[DrawnTrial], rng: np.random.Generator) -> list[DrawnTrial]:
    """Mix both so that every block gets its proportion of each."""
    both = real + generated
    kinds = np.asarray([0] * len(real) + [1] * len(generated), dtype=np.int64)
    return [both[int(i)] for i in alternating_shuffle(kinds, rng)]


def _shuffled_in_blocks(hand: list[DrawnTrial], blocks: int, rng: np.random.Generator) -> list[DrawnTrial]:
    """Cut the hand into blocks, each in random order: nothing can be predicted from what came before."""
    edges = [round(len(hand) * b / blocks) for b in range(blocks + 1)]
    shuffled: list[DrawnTrial] = []
    for block, (start, end) in enumerate(pairwise(edges)):
        part = hand[start:end]
        shuffled += [replace(part[int(i)], block=block) for i in rng.permutation(len(part))]
    return shuffled


DRAW_TRIALS: dict[ItemType, Callable[[AnyQuestion, Pools, np.random.Generator], list[list[DrawnTrial]]]] = {
    "real-and-generated": _real_and_generated,
    "series": _sweeps,
    "generated": _judged,
    "pairs": _judged,
    "rows": _judged,
}
"""How the test trials of all slots are drawn, by what a trial shows."""
