"""Layer 6's realism study (Stein et al., *Exposing flaws of generative model evaluation metrics*, NeurIPS 2023).

Each rater judges one generator: 100 of its images and 100 real ones, each after a short viewing period, without
replacement; response times are kept; about 25 raters per generator. The label of an image is the proportion of
raters who called it generated.
"""

from beholder.study.kinds.realism import RealismQuestion
from beholder.study.protocols.protocol import Protocol
from beholder.study.question import Design, Screening


def questions() -> tuple[RealismQuestion, ...]:
    """One realism question with a viewing period."""
    return (
        RealismQuestion(
            name="realism",
            protocol="layer6-realism",
            viewing_ms=1000,
            design=Design(raters=125, trials=200, between=True, real_share=0.5),
            screening=Screening(min_seconds=0.3, max_same_share=0.95),
        ),
    )


LAYER6_REALISM = Protocol(
    name="layer6-realism",
    summary="100 real and 100 generated images after a short view: error rates and soft labels.",
    source="Stein et al., NeurIPS 2023",
    departures=(
        "The released data does not state the viewing period; 1 s is our choice.",
        "Raters who always give the same answer, or answer in under .3 s, are excluded; the release keeps them.",
    ),
    questions=questions,
    raters_per_generator=25,
    needs_real=True,
)
