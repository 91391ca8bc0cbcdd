"""Mean opinion scores, after ITU-R BT.500 and the AGIQA-3K / AIGCIQA2023 studies.

One image, five-point scales for quality and for alignment with the prompt; at least 15 raters per image (BT.500);
raters are screened by BT.500's rule and by their correlation with the others.
"""

from beholder.study.kinds.rating import RatingQuestion
from beholder.study.protocols.protocol import Protocol
from beholder.study.question import Aspect, Design, Screening


def questions() -> tuple[RatingQuestion, ...]:
    """One rating question of two aspects."""
    return (
        RatingQuestion(
            name="opinion",
            protocol="mos",
            aspects=(
                Aspect(name="quality", text="How good is the quality of the image?"),
                Aspect(
                    name="alignment",
                    text="How well does the image match the text?",
                    low="not at all",
                    high="perfectly",
                ),
            ),
            design=Design(raters=30, trials=100, raters_per_item=15, attention_every=25, blocks=2),
            screening=Screening(
                min_seconds=1.0, max_same_share=0.95, max_attention_failures=1, min_correlation=0.3, bt500=True
            ),
        ),
    )


MOS = Protocol(
    name="mos",
    summary="Five-point ratings of quality and alignment: mean opinion scores.",
    source="ITU-R BT.500-15; Li et al., 2023 (AGIQA-3K)",
    departures=(
        "Integer points from 1 to 5; AGIQA-3K used a continuous slider from 0 to 5.",
        "Raters are screened by attention checks and correlation with the others, besides BT.500's rule.",
    ),
    questions=questions,
    needs_prompts=True,
)
