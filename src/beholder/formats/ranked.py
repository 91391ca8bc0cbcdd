"""Studies of pairs and rankings from others' files: the questions that fit, and what is odd in the data."""

from collections import Counter
from collections.abc import Sequence

from beholder.formats.imported import ImportedJudgement
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.ranking import RankingQuestion
from beholder.study.question import Design

FEWEST, MOST = 3, 10
"""Images that a ranking question may show."""

NO_GENERATORS = (
    "The files do not say which generator made which image: images are labelled, but nothing is ranked."
)
NO_TIMES = "When raters answered, and how long they took, is not published."


def question_of(
    name: str, judgements: Sequence[ImportedJudgement], protocol: str | None = None
) -> PairQuestion | RankingQuestion:
    """The question to which these are the answers."""
    own = [judgement for judgement in judgements if judgement.question == name]
    trials = Counter(judgement.rater for judgement in own)
    design = Design(raters=len(trials), trials=max(trials.values()))
    if all(judgement.ranking is None for judgement in own):
        return PairQuestion(
            name=name, protocol=protocol, ties=any(judgement.choice == "tie" for judgement in own), design=design
        )
    most_images = max(len(judgement.images) for judgement in own)
    return RankingQuestion(name=name, protocol=protocol, images=min(max(most_images, FEWEST), MOST), design=design)


def notes_on(judgements: Sequence[ImportedJudgement]) -> list[str]:
    """What a reader should know of the sizes of the rankings."""
    sizes = Counter(len(judgement.images) for judgement in judgements if judgement.ranking is not None)
    if len(sizes) < 2:
        return []
    counts = ", ".join(f"{sizes[size]:,} of {size}" for size in sorted(sizes))
    return [f"Rankings differ in size: {counts} images. study.toml has the largest."]


def differences_in(judgements: Sequence[ImportedJudgement]) -> list[str]:
    """Judgements that one rater gave twice of the same images, and images that stand under two prompts."""
    differences = []
    again = Counter(
        (judgement.question, judgement.rater, judgement.prompt, frozenset(judgement.images))
        for judgement in judgements
    )
    twice: Counter[str] = Counter()
    for (question, *_), number in again.items():
        twice[question] += number - 1
    differences += [
        f"{question}: {number:,} judgements of images that the same rater had judged before"
        for question, number in sorted(twice.items())
        if number
    ]
    prompts: dict[str, set[str | None]] = {}
    for judgement in judgements:
        for image in judgement.images:
            prompts.setdefault(image, set()).add(judgement.prompt)
    several = sum(len(texts) > 1 for texts in prompts.values())
    if several:
        differences.append(f"{several:,} images stand under several prompts; the last counts")
    return differences
