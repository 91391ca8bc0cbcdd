"""HYPE_time (Zhou et al., *HYPE: A Benchmark for Human eYe Perceptual Evaluation*, NeurIPS 2019).

Countdown 3-2-1 of 500 ms per digit, the image for the current exposure, four masks of 30 ms, real or generated,
feedback. Exposures of 100–1000 ms starting at 500; 150 images per block, half real, 3 blocks per rater, 30 raters
per generator. The score is the mean over raters of the mean over blocks of the modal exposure.

The published step rule contradicts itself: −30 ms after a correct and +10 ms after an incorrect answer converges
to 25 % correct and drives everyone to the shortest exposure, while the paper says 75 %. We take −10/+30, which
converges to 75 %; the steps are settings, a target at or below chance is refused, and the implied one is printed.
"""

from beholder.study.kinds.catalogue import AnyQuestion, kind_of
from beholder.study.kinds.timed_realism import TimedRealismQuestion
from beholder.study.protocols.protocol import Protocol
from beholder.study.question import Design, Screening


def questions() -> tuple[TimedRealismQuestion, ...]:
    """One timed question of three blocks."""
    return (
        TimedRealismQuestion(
            name="timed-realism",
            protocol="hype-time",
            design=Design(raters=150, trials=450, blocks=3, between=True, real_share=0.5, qualification=100),
            screening=Screening(min_qualification=0.65, max_same_share=0.95),
        ),
    )


def notes(question: AnyQuestion) -> tuple[str, ...]:
    """The implied target of the staircase."""
    adaptive = kind_of(question).adaptive(question)
    return () if adaptive is None else (adaptive.rule(),)


HYPE_TIME = Protocol(
    name="hype-time",
    summary="Real or generated at a glance: the exposure that raters need.",
    source="Zhou et al., NeurIPS 2019",
    departures=(
        "Steps −10/+30 ms (75 % correct) instead of the published −30/+10, which converges to 25 %.",
        "Thresholds rest on the actual exposure, in frames: 10 ms steps do not exist on a 60 Hz screen.",
    ),
    questions=questions,
    raters_per_generator=30,
    notes=notes,
    needs_real=True,
)
