"""Which responses a question allows: what is checked before an answer is taken from a page."""

import math
from collections.abc import Iterator

from beholder.study.kinds.catalogue import KINDS, AnyQuestion
from beholder.study.kinds.choosing import Choosing
from beholder.study.kinds.kind import Mark, Response, Said
from beholder.study.kinds.ranking import RankingQuestion
from beholder.study.kinds.rating import ScaleQuestion
from beholder.study.kinds.rich_feedback import MARKED, RichFeedbackQuestion
from beholder.study.kinds.sweep import SweepQuestion

MOST_MARKS = 200


def faults_of_response(question: AnyQuestion, response: Response, *, words: int) -> list[str]:
    """All that is wrong with a response; ``words`` is the number of words of the prompt that was shown."""
    aspects = KINDS[question.kind].aspects(question)
    given = [said.aspect for said in response.said]
    faults = []
    if sorted(given) != sorted(aspects):
        faults.append(f"answers to {', '.join(given) or 'nothing'}; expected one to each of {', '.join(aspects)}")
    for said in response.said:
        faults += _said_faults(question, said)
    if len(response.marks) > MOST_MARKS:
        faults.append(f"{len(response.marks)} marks; at most {MOST_MARKS} are taken")
    for mark in response.marks:
        faults += _mark_faults(question, mark, words)
    if isinstance(question, SweepQuestion) and [said.value for said in response.said] != [len(response.marks)]:
        faults.append(f"{len(response.marks)} presses; expected as many as the answer says")
    return faults


def _said_faults(question: AnyQuestion, said: Said) -> Iterator[str]:
    kind = KINDS[question.kind]
    filled = [name for name in ("choice", "value", "ranking") if getattr(said, name) is not None]
    if isinstance(kind, Choosing):
        options = kind.options(question)
        if filled != ["choice"] or said.choice not in options:
            yield f"{said.aspect}: found {said.text!r}, expected one of {', '.join(options)}"
    elif isinstance(question, RankingQuestion):
        places = range(1, question.images + 1)
        ranks = said.ranking or ()
        if filled != ["ranking"] or len(ranks) != question.images or not all(rank in places for rank in ranks):
            yield f"{said.aspect}: expected a rank from 1 to {question.images} for each image"
    elif isinstance(question, ScaleQuestion):
        low, high = question.scale()
        value = math.nan if said.value is None else said.value
        whole = not question.points or value == round(value) if math.isfinite(value) else False
        if filled != ["value"] or not low <= value <= high or not whole:
            yield f"{said.aspect}: found {said.text!r}, expected a number from {low:g} to {high:g}"
    elif filled != ["value"] or said.value is None or not 0 <= said.value <= MOST_MARKS:
        yield f"{said.aspect}: found {said.text!r}, expected the number of presses"


def _mark_faults(question: AnyQuestion, mark: Mark, words: int) -> Iterator[str]:
    if isinstance(question, SweepQuestion):
        longest = question.images * question.each_ms + 5000
        timed = mark.at_ms is not None and 0 <= mark.at_ms <= longest
        if mark.kind != "press" or mark.aspect != "hit" or mark.image is not None or not timed:
            yield f"a {mark.kind} mark; a sweep takes presses between 0 and {longest} ms"
    elif not isinstance(question, RichFeedbackQuestion):
        yield f"a {mark.kind} mark; questions of kind {question.kind} take none"
    elif mark.kind == "point":
        inside = mark.point is not None and all(0 <= share <= 1 for share in mark.point)
        if mark.aspect not in MARKED or mark.image != 0 or not inside:
            yield f"a point that is not {' or '.join(MARKED)} within the image"
    elif mark.kind == "word":
        inside = mark.word is not None and 0 <= mark.word < words
        if mark.aspect != "misalignment" or mark.image not in (None, 0) or not inside:
            yield f"a word mark outside the {words} words of the prompt"
    else:
        yield f"a {mark.kind} mark; rich feedback takes points and words"
