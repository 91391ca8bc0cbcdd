"""HYPE_∞ (Zhou et al., *HYPE: A Benchmark for Human eYe Perceptual Evaluation*, NeurIPS 2019).

50 real and 50 generated images per rater, no time limit, the ratio disclosed; the score is the error rate over
both, so 50 % is chance and more is hyper-realism. 30 raters per generator, each judging one generator, admitted
after 100 qualification images with at least 65 % correct on both real and generated. Pay $1 + $0.02 per correct
answer.
"""

from beholder.study.kinds.realism import RealismQuestion
from beholder.study.protocols.protocol import Protocol
from beholder.study.question import Design, Screening


def questions() -> tuple[RealismQuestion, ...]:
    """One realism question."""
    return (
        RealismQuestion(
            name="realism",
            protocol="hype-infinity",
            design=Design(raters=150, trials=100, between=True, real_share=0.5, qualification=100),
            screening=Screening(min_qualification=0.65, min_seconds=0.3, max_same_share=0.95),
        ),
    )


HYPE_INFINITY = Protocol(
    name="hype-infinity",
    summary="Real or generated, no time limit: the error rate of raters.",
    source="Zhou et al., NeurIPS 2019",
    departures=(
        "Qualification images come from the gold generators or, without any, from all; not from the paper's.",
        "Raters with a median response time under .3 s, or 95 % the same answer, are excluded; not in the paper.",
        "Confidence intervals resample raters and are widened for few; the paper's are plain percentiles.",
    ),
    questions=questions,
    raters_per_generator=30,
    needs_real=True,
)
