"""Plausibility of response times and exposures, by the server's clock, the screen and the question.

A page measures more precisely than a server can, but it runs on the rater's machine and may claim anything. So its
values are accepted as long as they fit between the moment the trial was first sent and the arrival of the answer.
"""

from dataclasses import dataclass

from beholder.collect.session.messages import Answer, Exposure
from beholder.study.kinds.catalogue import AnyQuestion, kind_of
from beholder.study.kinds.traits import LENGTH_TOLERANCE, Viewing

TOLERANCE = 0.25
"""Seconds by which the server's clock may be adjusted during a trial."""

FRAME_RATIO = 4.1
"""Factor by which the frame period may differ from the one measured at the check: a window may be moved from a
screen of 60 Hz to one of 240 Hz."""
SHORTEST_FRAME_MS = 1.0


@dataclass(frozen=True, slots=True)
class TimingVerdict:
    """The accepted response time, and the fault of the exposure if it does not count."""

    seconds: float
    fault: str | None = None


def check_timing(
    question: AnyQuestion,
    answer: Answer,
    *,
    intended_ms: float | None,
    elapsed: float | None,
    checked_frame_ms: float | None,
    min_hz: float,
) -> TimingVerdict:
    """Check the times of an answer.

    ``intended_ms`` is the exposure that the server requested, ``elapsed`` the seconds since it first sent the
    trial (``None``: not known, or time is simulated), ``checked_frame_ms`` the frame period at the check.
    """
    viewing = kind_of(question).viewing(question, intended_ms)
    exposure = answer.exposure
    before = 0.0
    if exposure is not None and viewing is not None:
        fault = _fault_of_screen(exposure, checked_frame_ms, min_hz) or _fault_of_length(viewing, exposure)
        if fault is None and elapsed is not None:
            fault = _fault_of_clock(viewing, answer, exposure, elapsed)
        if fault is not None:
            return TimingVerdict(_bounded(answer.seconds, elapsed), fault)
        if not viewing.answered_meanwhile:
            before = (sum(viewing.before) + exposure.shown_ms) / 1000
    return TimingVerdict(_bounded(answer.seconds, None if elapsed is None else max(elapsed - before, 0.0)))


def intended_exposure(question: AnyQuestion, intended_ms: float | None) -> float | None:
    """Return how long the images of a trial are shown in total; ``None`` if they stay."""
    viewing = kind_of(question).viewing(question, intended_ms)
    return None if viewing is None else viewing.intended_ms


def _bounded(claimed: float, most: float | None) -> float:
    """Return the claimed time, cut to the time that has passed."""
    return claimed if most is None or claimed <= most + TOLERANCE else round(most, 3)


def _fault_of_screen(exposure: Exposure, checked_frame_ms: float | None, min_hz: float) -> str | None:
    """Return the fault if the window lost focus, or if no screen has this frame period."""
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


def _fault_of_length(viewing: Viewing, exposure: Exposure) -> str | None:
    """Return the fault if the exposure has the wrong length or its numbers contradict each other."""
    frame = exposure.frame_ms
    intended_frames = _frames(viewing.intended_ms, frame)
    if abs(exposure.intended_frames - intended_frames) > 1:
        return "frames-intended"
    if abs(exposure.shown_frames * frame - exposure.shown_ms) > frame + 1:
        return "frames-shown"
    onset, offset = exposure.onset_ms, exposure.offset_ms
    if (onset or offset) and abs(offset - onset - exposure.shown_ms) > frame + 1:
        return "onset-offset"
    off = abs(exposure.shown_frames - exposure.intended_frames)
    most_off = 0.0 if viewing.exact else max(1.0, LENGTH_TOLERANCE * exposure.intended_frames)
    if off > most_off or exposure.shown_frames == 0:
        return "exposure-length"
    if exposure.dropped_frames > _most_dropped(viewing, intended_frames):
        return "dropped-frames"
    return None


def _most_dropped(viewing: Viewing, intended_frames: int) -> int:
    """Return how many frames may be dropped: none of an exact exposure, else all but one per image."""
    return 0 if viewing.exact else max(intended_frames - viewing.images, 0)


def _fault_of_clock(viewing: Viewing, answer: Answer, exposure: Exposure, elapsed: float) -> str | None:
    """Return the fault if the sequence does not fit into the time since the trial was sent."""
    phases = [*viewing.before, viewing.intended_ms, *viewing.after]
    shortest = sum(_frames(ms, exposure.frame_ms) for ms in phases) * exposure.frame_ms
    last_press = max((mark.at_ms or 0.0 for mark in answer.marks), default=0.0)
    if max(shortest, exposure.shown_ms, last_press) / 1000 > elapsed + TOLERANCE:
        return "server-clock"
    return None


def _frames(ms: float, frame_ms: float) -> int:
    """Round a duration to whole frames, at least one, as the page does."""
    return max(1, round(ms / frame_ms))
