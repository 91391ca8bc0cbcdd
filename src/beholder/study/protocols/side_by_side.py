"""Blind five-way comparison, as RAHF used it to show that feedback improves a generator (Liang et al., CVPR 2024).

Two images of one prompt in random order: much better, slightly better, about the same, slightly worse, much worse.
"""

from beholder.study.kinds.side_by_side import SideBySideQuestion
from beholder.study.protocols.protocol import Protocol
from beholder.study.question import Design, Screening


def questions() -> tuple[SideBySideQuestion, ...]:
    """One five-way question."""
    return (
        SideBySideQuestion(
            name="comparison",
            protocol="side-by-side",
            design=Design(raters=30, trials=100, repeats=10, attention_every=25),
            screening=Screening(min_seconds=0.5, max_same_share=0.95, max_attention_failures=1),
        ),
    )


SIDE_BY_SIDE = Protocol(
    name="side-by-side",
    summary="Two images, blind: ≫ > ≈ < ≪.",
    source="Liang et al., CVPR 2024",
    departures=(
        "In the paper, 6 raters judged one pair of each of 100 prompts (600 votes); 30 raters, so that the "
        "confidence interval over raters is narrow, are our choice.",
    ),
    questions=questions,
    needs_prompts=True,
)
