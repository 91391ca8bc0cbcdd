"""Whether what a page says about time can be true: by the server's clock, the screen, and the question itself.

A page measures better than a server can, but it runs on the rater's machine and may say anything. So what it says
is kept as long as it fits between the moment the trial was first sent and the moment the answer came.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from beholder.collect.messages import Answer, Exposure
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.kinds.sweep import SweepQuestion
from beholder.study.kinds.timed_realism import TimedRealismQuestion

TOLERANCE = 0.25
"""Seconds by which the server's clock may be adjusted during a trial."""

CROSS_MS = 500
"""The cross before a single image, where there is no countdown (``glimpse.js``, ``realism.js``)."""
SWEEP_CROSS_MS, SWEEP_AFTER_MS = 800, 1000
"""Before and after a series (``sweep.js``)."""
DIGITS = 3
"""3-2-1"""

LENGTH_TOLERANCE = 0.05
"""Proportion by which a long view may be off (``glimpse.js``)."""
FRAME_RATIO = 4.1
"""How much the period of a frame may differ from the one measured at the check: a window moved from a screen of
60 Hz to one of 240 Hz is believed."""
SHORTEST_FRAME_MS = 1.0

LEAST_SECONDS: dict[str, float] = {
    "realism": 0.2,
    "timed-realism": 0.1,
    "pair": 0.25,
    "side-by-side-5": 0.25,
    "ranking": 1.0,
    "rating": 0.25,
    "rich-feedback": 1.0,
}
"""Median time for an answer below which nobody has looked: a choice between two known pictures takes people a
quarter of a second, and the pages take no answer within 100 ms. A sweep takes as long as its images."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is believed: the time for the answer, and why the exposure cannot count, if it cannot."""

    seconds: float
    fault: str | None = None


def judge(
    question: AnyQuestion,
    answer: Answer,
    *,
    intended_ms: float | None,
    elapsed: float | None,
    checked_frame_ms: float | None,
    min_hz: float,
) -> Verdict:
    """What is believed of an answer.

    ``intended_ms`` is the exposure that the server asked for, ``elapsed`` the seconds since it first sent the
    trial (``None``: not known, or time is simulated), ``checked_frame_ms`` the period of a frame at the check.
    """
    intended = intended_exposure(question, intended_ms)
    exposure = answer.exposure if intended is not None else None
    before = 0.0
    if exposure is not None and intended is not None:
        fault = _fault_of_screen(exposure, checked_frame_ms, min_hz) or _fault_of_length(
            question, exposure, intended
        )
        if fault is None and elapsed is not None:
            fault = _fault_of_clock(question, answer, exposure, intended, elapsed)
        if fault is not None:
            return Verdict(_bounded(answer.seconds, elapsed), fault)
        if not isinstance(question, SweepQuestion):  # whose time is that of the series itself
            before = (sum(_lead_in(question)) + exposure.shown_ms) / 1000
    return Verdict(_bounded(answer.seconds, None if elapsed is None else max(elapsed - before, 0.0)))


def intended_exposure(question: AnyQuestion, intended_ms: float | None) -> float | None:
    """How long the images of a trial are to be shown in all; ``None`` where they stay."""
    if isinstance(question, TimedRealismQuestion):
        return intended_ms
    if isinstance(question, RealismQuestion):
        return question.viewing_ms
    if isinstance(question, SweepQuestion):
        return float(question.images * question.each_ms)
    return None


def least_seconds(question: AnyQuestion) -> float:
    """The median time for an answer below which nobody has looked."""
    if isinstance(question, SweepQuestion):
        return (1 - LENGTH_TOLERANCE) * question.images * question.each_ms / 1000
    return LEAST_SECONDS[question.kind]


def _bounded(claimed: float, most: float | None) -> float:
    """The claimed time; if it is longer than there was, the time that there was."""
    return claimed if most is None or claimed <= most + TOLERANCE else round(most, 3)


def _fault_of_screen(exposure: Exposure, checked_frame_ms: float | None, min_hz: float) -> str | None:
    """Whether the window was left, and whether a screen can have this period of a frame."""
    if exposure.blurred:
        return "blurred"
    frame = exposure.frame_ms
    if frame < SHORTEST_FRAME_MS:
        return "frame-period"
    if checked_frame_ms and not 1 / FRAME_RATIO <= frame / checked_frame_ms <= FRAME_RATIO:
        return "frame-period"
    if min_hz > 0 and frame > (1 + LENGTH_TOLERANCE) * 1000 / min_hz:
        return "slow-screen"
    return None


def _fault_of_length(question: AnyQuestion, exposure: Exposure, intended_ms: float) -> str | None:
    """The presenter's own rule, and that its numbers agree with each other."""
    frame = exposure.frame_ms
    intended_frames = _frames(intended_ms, frame)
    if abs(exposure.intended_frames - intended_frames) > 1:
        return "frames-intended"
    if abs(exposure.shown_frames * frame - exposure.shown_ms) > frame + 1:
        return "frames-shown"
    onset, offset = exposure.onset_ms, exposure.offset_ms
    if (onset or offset) and abs(offset - onset - exposure.shown_ms) > frame + 1:
        return "onset-offset"
    off = abs(exposure.shown_frames - exposure.intended_frames)
    strict = isinstance(question, TimedRealismQuestion)
    most_off = 0.0 if strict else max(1.0, LENGTH_TOLERANCE * exposure.intended_frames)
    if off > most_off or exposure.shown_frames == 0:
        return "exposure-length"
    if exposure.dropped_frames > _most_dropped(question, intended_frames):
        return "dropped-frames"
    return None


def _most_dropped(question: AnyQuestion, intended_frames: int) -> int:
    """Frames that may be lost: none of a glimpse; of a series as long as every image is still drawn; of a long
    view, in which nothing moves, all but the first."""
    if isinstance(question, TimedRealismQuestion):
        return 0
    return max(intended_frames - (question.images if isinstance(question, SweepQuestion) else 1), 0)


def _fault_of_clock(
    question: AnyQuestion, answer: Answer, exposure: Exposure, intended_ms: float, elapsed: float
) -> str | None:
    """Whether all of it fits into the time since the trial was sent."""
    phases = [*_lead_in(question), intended_ms, *_after(question)]
    shortest = sum(_frames(ms, exposure.frame_ms) for ms in phases) * exposure.frame_ms
    last_press = max((mark.at_ms or 0.0 for mark in answer.marks), default=0.0)
    if max(shortest, exposure.shown_ms, last_press) / 1000 > elapsed + TOLERANCE:
        return "server-clock"
    return None


def _lead_in(question: AnyQuestion) -> Iterator[float]:
    """Phases before the image, in ms."""
    if isinstance(question, SweepQuestion):
        yield SWEEP_CROSS_MS
    elif isinstance(question, TimedRealismQuestion) and question.countdown_ms:
        yield from [question.countdown_ms] * DIGITS
    else:
        yield CROSS_MS


def _after(question: AnyQuestion) -> Iterator[float]:
    """Phases between the image and the answer, in ms."""
    if isinstance(question, SweepQuestion):
        yield SWEEP_AFTER_MS
    elif isinstance(question, TimedRealismQuestion):
        yield from [question.mask_ms] * question.masks


def _frames(ms: float, frame_ms: float) -> int:
    """Whole frames nearest to a time, at least one, as the page counts them."""
    return max(1, round(ms / frame_ms))
