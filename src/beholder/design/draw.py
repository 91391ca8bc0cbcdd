"""Drawing the trials of one question: items for every slot, checks among them, in an order."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from beholder.design.checks import gold_pairs, with_checks
from beholder.design.deal import alternating_shuffle, deal
from beholder.design.drawn import Drawn
from beholder.design.items import Item, Pools, generated_items, single, tells_real_from_generated
from beholder.design.sides import counterbalance
from beholder.errors import StudyError
from beholder.study.kinds.catalogue import KINDS, AnyQuestion
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.sweep import SweepQuestion


def draw_question(question: AnyQuestion, pools: Pools, rng: np.random.Generator) -> list[list[Drawn]]:
    """For every slot of the question its trials in order."""
    _require(question, pools)
    if isinstance(question, SweepQuestion):
        tests = _sweeps(question, pools, rng)
    elif tells_real_from_generated(question):
        tests = _real_and_generated(question, pools, rng)
    else:
        tests = _judged(question, pools, rng)
    blocks = question.design.blocks
    return [with_checks(question, pools, _shuffled_in_blocks(hand, blocks, rng), rng) for hand in tests]


def _require(question: AnyQuestion, pools: Pools) -> None:
    """All reasons why the images do not suffice, at once."""
    design, faults = question.design, []
    if not pools.generated:
        faults.append("no generated images; add some with --generated NAME=DIR")
    if tells_real_from_generated(question):
        shown = design.trials * KINDS[question.kind].shows(question)
        wanted_real = round(shown * design.real_share)
        checks = (design.qualification + design.training) // 2
        if len(pools.real) < wanted_real + checks:
            faults.append(
                f"{len(pools.real)} real images, but each person sees {wanted_real} in the test"
                + (f" and {checks} in training and qualification" if checks else "")
                + " without repetition"
            )
        wanted = shown - wanted_real
        groups = pools.generators if design.between else ("all generators together",)
        for group in groups:
            count = sum(1 for i in pools.generated if not design.between or i.generator == group)
            if count < wanted:
                faults.append(f"{count} images of {group}, but each person sees {wanted} without repetition")
    elif not isinstance(question, PairQuestion) and (design.gold_every or design.qualification or design.training):
        faults.append(
            "gold, qualification and training trials need a known answer: "
            "the kinds realism, timed-realism and pair have one"
        )
    if isinstance(question, PairQuestion) and (design.gold_every or design.training) and not gold_pairs(pools):
        faults.append("gold pairs need gold images (--gold NAME=DIR) with the prompts of other images")
    if faults:
        raise StudyError(
            f"question '{question.name}'", faults, advice="Add images, or lower trials or raters in study.toml."
        )


def _real_and_generated(question: AnyQuestion, pools: Pools, rng: np.random.Generator) -> list[list[Drawn]]:
    """Single images: the real ones from one pool, the generated ones by generator where people see one each."""
    design = question.design
    reals = round(design.trials * design.real_share)
    fakes = design.trials - reals
    real_hands = _hands([single(i) for i in pools.real], design.raters, reals, None, rng)
    slots_of: list[tuple[list[Item], list[int]]]
    if design.between:
        turn = [g % len(pools.generators) for g in range(design.raters)]
        slots_of = [
            (
                [single(i) for i in pools.generated if i.generator == name],
                [s for s, t in enumerate(turn) if t == g],
            )
            for g, name in enumerate(pools.generators)
        ]
    else:
        slots_of = [([single(i) for i in pools.generated], list(range(design.raters)))]
    tests: list[list[Drawn]] = [[] for _ in range(design.raters)]
    for items, slots in slots_of:
        k = design.raters_per_item
        for slot, hand in zip(slots, _hands(items, len(slots), fakes, k, rng), strict=True):
            tests[slot] = _evenly(real_hands[slot], hand, rng)
    return tests


def _judged(question: AnyQuestion, pools: Pools, rng: np.random.Generator) -> list[list[Drawn]]:
    """Images, pairs or rows of generated images, sides counterbalanced."""
    design = question.design
    items = list(generated_items(question, pools, rng))
    if len(items) < design.trials:
        raise StudyError(
            f"question '{question.name}'",
            [f"{len(items)} items to judge, but each person judges {design.trials} without repetition"],
            advice=_advice_on_items(question),
        )
    hands = _hands(items, design.raters, design.trials, design.raters_per_item, rng)
    return counterbalance(hands, rng)


def _advice_on_items(question: AnyQuestion) -> str:
    if KINDS[question.kind].shows(question) > 1:
        return "Items are sets of images of one prompt by different generators: add prompts, or lower trials."
    return "Add images, or lower trials in study.toml."


def _sweeps(question: SweepQuestion, pools: Pools, rng: np.random.Generator) -> list[list[Drawn]]:
    """Series of single images, real and generated mixed."""
    design = question.design
    shown = design.trials * question.images
    flat = replace_trials(question, shown)
    tests: list[list[Drawn]] = []
    for hand in _real_and_generated(flat, pools, rng):
        series = [hand[i : i + question.images] for i in range(0, shown, question.images)]
        tests.append(
            [
                Drawn(Item(tuple(d.item.images[0] for d in part), "all"), "test", part[0].propensity)
                for part in series
            ]
        )
    return tests


def replace_trials(question: SweepQuestion, trials: int) -> SweepQuestion:
    """The same question with another number of trials a person."""
    design = question.design.model_copy(update={"trials": trials})
    return question.model_copy(update={"design": design})


def _hands(
    items: Sequence[Item], slots: int, each: int, per_item: int | None, rng: np.random.Generator
) -> list[list[Drawn]]:
    """Deal items; with ``per_item``, from just so many that each gets exactly that number of answers."""
    names = sorted({item.stratum for item in items})
    strata = np.asarray([names.index(item.stratum) for item in items], dtype=np.int64)
    if per_item:
        wanted = slots * each // per_item
        if wanted > len(items):
            raise StudyError(
                "design",
                [f"{slots} × {each} trials at {per_item} an item need {wanted} items; there are {len(items)}"],
                advice="Lower raters or trials, raise raters_per_item, or leave it out to use all items evenly.",
            )
        chosen = alternating_shuffle(strata, rng)[:wanted]
        items, strata = [items[int(i)] for i in chosen], strata[chosen]
    if each == 0:
        return [[] for _ in range(slots)]
    share = each / len(items)
    return [[Drawn(items[int(i)], "test", share) for i in hand] for hand in deal(strata, slots, each, rng)]


def _evenly(real: list[Drawn], generated: list[Drawn], rng: np.random.Generator) -> list[Drawn]:
    """Both together so that every block gets its share of each."""
    both = real + generated
    kinds = np.asarray([0] * len(real) + [1] * len(generated), dtype=np.int64)
    return [both[int(i)] for i in alternating_shuffle(kinds, rng)]


def _shuffled_in_blocks(hand: list[Drawn], blocks: int, rng: np.random.Generator) -> list[Drawn]:
    """The hand cut into blocks, each in random order: nothing can be foretold from what came before."""
    edges = [round(len(hand) * b / blocks) for b in range(blocks + 1)]
    shuffled: list[Drawn] = []
    for block, (start, end) in enumerate(pairwise(edges)):
        part = hand[start:end]
        shuffled += [replace(part[int(i)], block=block) for i in rng.permutation(len(part))]
    return shuffled
