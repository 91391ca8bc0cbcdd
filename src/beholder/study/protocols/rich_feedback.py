"""Rich human feedback (Liang et al., *Rich Human Feedback for Text-to-Image Generation*, CVPR 2024).

Three raters per image mark implausible and misaligned regions (each point stands for a disk of 1/20 of the image
height), click the misaligned keywords of the prompt, and give four five-point scores.
"""

from beholder.study.kinds.rich_feedback import RichFeedbackQuestion
from beholder.study.protocols.protocol import Protocol
from beholder.study.question import Design, Screening


def questions() -> tuple[RichFeedbackQuestion, ...]:
    """One rich-feedback question, three raters per image."""
    return (
        RichFeedbackQuestion(
            name="feedback",
            protocol="rich-feedback",
            design=Design(raters=15, trials=40, raters_per_item=3, attention_every=20),
            screening=Screening(min_seconds=3.0, max_attention_failures=1, min_correlation=0.2),
        ),
    )


RICH_FEEDBACK = Protocol(
    name="rich-feedback",
    summary="Marked points, misaligned keywords and four scores, three raters per image.",
    source="Liang et al., CVPR 2024 (RichHF-18K)",
    departures=(
        "Raters are screened by attention checks and correlation with the others; the paper reports no screening.",
    ),
    questions=questions,
    needs_prompts=True,
)
