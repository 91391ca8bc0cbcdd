"""Studies of pairs and rankings from others' files: the questions that fit, and what is odd in the data."""

from collections import Counter
from collections.abc import Sequence

from beholder.formats.imported import Judged
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.ranking import RankingQuestion
from beholder.study.question import Design

FEWEST, MOST = 3, 10
"""Images that a ranking question may show."""

NO_GENERATORS = (
    "The files do not say which generator made which image: images are labelled, but nothing is ranked."
)
NO_TIMES = "When people answered, and how long they took, is not told."


def question_of(
    name: str, judged: Sequence[Judged], protocol: str | None = None
) -> PairQuestion | RankingQuestion:
    """The question to which these are the answers."""
    mine = [one for one in judged if one.question == name]
    trials = Counter(one.rater for one in mine)
    design = Design(raters=len(trials), trials=max(trials.values()))
    if all(one.ranking is None for one in mine):
        return PairQuestion(
            name=name, protocol=protocol, ties=any(one.choice == "tie" for one in mine), design=design
        )
    shown = max(len(one.images) for one in mine)
    return RankingQuestion(name=name, protocol=protocol, images=min(max(shown, FEWEST), MOST), design=design)


def notes_on(judged: Sequence[Judged]) -> list[str]:
    """What a reader should know of the sizes of the rankings."""
    sizes = Counter(len(one.images) for one in judged if one.ranking is not None)
    if len(sizes) < 2:
        return []
    told = ", ".join(f"{sizes[size]:,} of {size}" for size in sorted(sizes))
    return [f"Rankings differ in size: {told} images. study.toml has the largest."]


def differences_in(judged: Sequence[Judged]) -> list[str]:
    """Judgments that one person gave twice of the same images, and images that stand under two prompts."""
    found = []
    again = Counter((one.question, one.rater, one.prompt, frozenset(one.images)) for one in judged)
    twice: Counter[str] = Counter()
    for (question, *_), number in again.items():
        twice[question] += number - 1
    found += [
        f"{question}: {number:,} judgments of images that the same person had judged before"
        for question, number in sorted(twice.items())
        if number
    ]
    prompts: dict[str, set[str]] = {}
    for one in judged:
        for image in one.images:
            prompts.setdefault(image, set()).add(one.prompt)
    several = sum(len(texts) > 1 for texts in prompts.values())
    if several:
        found.append(f"{several:,} images stand under several prompts; the last counts")
    return found
