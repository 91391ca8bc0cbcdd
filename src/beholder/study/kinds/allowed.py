"""Which responses a question allows: what is checked before an answer is taken from a page."""

from beholder.study.kinds.catalogue import AnyQuestion, kind_of
from beholder.study.kinds.kind import MOST_MARKS, Response


def faults_of_response(question: AnyQuestion, response: Response, *, words: int) -> list[str]:
    """Return all faults of a response; ``words`` is the number of words of the prompt that was shown."""
    kind = kind_of(question)
    aspects = kind.aspects(question)
    answered = [answer.aspect for answer in response.answers]
    faults = []
    if sorted(answered) != sorted(aspects):
        faults.append(
            f"answers to {', '.join(answered) or 'nothing'}; expected one to each of {', '.join(aspects)}"
        )
    for answer in response.answers:
        faults += kind.answer_faults(question, answer)
    if len(response.marks) > MOST_MARKS:
        faults.append(f"{len(response.marks)} marks; at most {MOST_MARKS} are taken")
    for mark in response.marks:
        faults += kind.mark_faults(question, mark, words)
    return [*faults, *kind.response_faults(question, response)]
