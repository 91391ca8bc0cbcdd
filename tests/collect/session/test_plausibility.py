"""Plausibility of a page's times, worked by hand: a screen of 50 Hz, where a frame is 20 ms."""

import re
from pathlib import Path
from typing import Any

import pytest

from beholder.collect.session import plausibility as plausible
from beholder.collect.session.messages import Answer
from beholder.collect.session.plausibility import TimingVerdict, check_timing
from beholder.study.kinds import sweep, traits
from beholder.study.kinds.catalogue import KINDS, AnyQuestion
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.kinds.sweep import SweepQuestion
from beholder.study.kinds.timed_realism import TimedRealismQuestion

PAGES = Path(plausible.__file__).parents[1] / "pages"

TIMED = TimedRealismQuestion(name="q", countdown_ms=500, masks=4, mask_ms=40)
"""3 × 500 ms, the image, 4 × 40 ms: 1.5 s before the image and .16 s after it"""
VIEWED = RealismQuestion(name="q", viewing_ms=1000)
"""a cross of 500 ms, then 50 frames"""
SWEEP = SweepQuestion(name="q", images=10, each_ms=100)
"""800 ms, then 50 frames of images, then 1 s: 2.8 s in all"""
PAIR = PairQuestion(name="q")

Exposed = dict[str, Any]


def exposure(ms: float, **changes: object) -> Exposed:
    """An exposure as it should be."""
    frames = round(ms / 20)
    counts = {"intended_frames": frames, "shown_frames": frames, "dropped_frames": 0}
    return {"intended_ms": ms, "shown_ms": 20 * frames, "frame_ms": 20, **counts} | changes


def verdict(
    question: AnyQuestion,
    exposure: Exposed | None,
    *,
    seconds: float = 1.0,
    elapsed: float | None = 60.0,
    intended_ms: float | None = None,
    checked_frame_ms: float | None = 20.0,
    min_hz: float = 45.0,
    presses: tuple[float, ...] = (),
) -> TimingVerdict:
    marks = [{"aspect": "hit", "kind": "press", "at_ms": at} for at in presses]
    body = {"trial": "t" * 8, "attempt": 1, "key": "k" * 8, "said": [], "marks": marks, "seconds": seconds}
    answer = Answer.model_validate(body | {"exposure": exposure})
    return check_timing(
        question,
        answer,
        intended_ms=intended_ms,
        elapsed=elapsed,
        checked_frame_ms=checked_frame_ms,
        min_hz=min_hz,
    )


class TestSeconds:
    @pytest.mark.parametrize(
        ("claimed", "elapsed", "believed"),
        [
            (5.0, 0.011, 0.011),
            (5.0, 4.7, 4.7),
            (5.0, 4.76, 5.0),
            (5.0, 900.0, 5.0),
            (0.0, 0.0, 0.0),
            (5.0, None, 5.0),
        ],
    )
    def test_never_longer_than_the_servers_clock(
        self, claimed: float, elapsed: float | None, believed: float
    ) -> None:
        """With a quarter of a second for clocks that are adjusted: 5 s in 4.76 s are believed, in 4.7 s not."""
        assert verdict(PAIR, None, seconds=claimed, elapsed=elapsed) == TimingVerdict(believed)

    def test_what_came_before_the_answer_took_time_too(self) -> None:
        """5 s after the trial was sent: 1.5 s of countdown and .5 s of image leave 3 s."""
        assert verdict(TIMED, exposure(500), intended_ms=500, seconds=4.0, elapsed=5.0) == TimingVerdict(3.0)
        assert verdict(TIMED, exposure(500), intended_ms=500, seconds=3.2, elapsed=5.0) == TimingVerdict(3.2)

    def test_those_of_a_sweep_are_its_length(self) -> None:
        assert verdict(SWEEP, exposure(1000), seconds=1.0, elapsed=2.9) == TimingVerdict(1.0)


class TestGlimpses:
    def test_as_it_should_be(self) -> None:
        assert verdict(TIMED, exposure(500), intended_ms=500).fault is None

    @pytest.mark.parametrize(
        ("changes", "fault"),
        [
            ({"blurred": True}, "blurred"),
            ({"dropped_frames": 1}, "dropped-frames"),
            ({"dropped_frames": 50}, "dropped-frames"),
            ({"shown_ms": 0}, "frames-shown"),
            ({"shown_ms": 0, "shown_frames": 0}, "exposure-length"),
            ({"shown_ms": 3_600_000}, "frames-shown"),
            ({"shown_ms": 3_600_000, "shown_frames": 100_000}, "frames-shown"),
            ({"shown_ms": 520, "shown_frames": 26}, "exposure-length"),
            ({"shown_ms": 460}, "frames-shown"),
            ({"intended_frames": 1, "shown_frames": 1, "shown_ms": 20}, "frames-intended"),
            ({"onset_ms": -1e9, "offset_ms": 1e9}, "onset-offset"),
            ({"onset_ms": 100.0, "offset_ms": 100.0}, "onset-offset"),
            ({"frame_ms": 0}, "frame-period"),
            ({"frame_ms": 4.8}, "frame-period"),
            ({"frame_ms": 23.5, "intended_frames": 21, "shown_frames": 21, "shown_ms": 493.5}, "slow-screen"),
        ],
    )
    def test_what_cannot_count(self, changes: Exposed, fault: str) -> None:
        assert verdict(TIMED, exposure(500, **changes), intended_ms=500).fault == fault

    def test_a_frame_off_in_the_measured_time_is_rounding(self) -> None:
        assert verdict(TIMED, exposure(500, shown_ms=509.9), intended_ms=500).fault is None

    @pytest.mark.parametrize(
        ("elapsed", "fault"), [(1.9, "server-clock"), (1.92, None), (2.3, None), (None, None)]
    )
    def test_no_sooner_than_the_sequence_takes(self, elapsed: float | None, fault: str | None) -> None:
        """1.5 + .5 + .16 = 2.16 s, less a quarter of a second: 1.91 s."""
        assert verdict(TIMED, exposure(500), intended_ms=500, seconds=0.1, elapsed=elapsed).fault == fault

    def test_a_window_may_move_to_a_faster_screen(self) -> None:
        fast = {"frame_ms": 5, "intended_frames": 100, "shown_frames": 100}
        assert verdict(TIMED, exposure(500, **fast), intended_ms=500).fault is None

    def test_an_exposure_shorter_than_a_frame_is_one_frame(self) -> None:
        short = {"intended_frames": 1, "shown_frames": 1, "shown_ms": 20}
        assert verdict(TIMED, exposure(5, **short), intended_ms=5).fault is None


class TestLongViews:
    @pytest.mark.parametrize(("frames", "fault"), [(50, None), (52, None), (48, None), (53, "exposure-length")])
    def test_a_twentieth_is_allowed(self, frames: int, fault: str | None) -> None:
        """Of 50 frames 2.5."""
        assert verdict(VIEWED, exposure(1000, shown_frames=frames, shown_ms=20 * frames)).fault == fault

    def test_lost_frames_are_no_harm_where_nothing_moves(self) -> None:
        assert verdict(VIEWED, exposure(1000, dropped_frames=3)).fault is None
        assert verdict(VIEWED, exposure(1000, dropped_frames=50)).fault == "dropped-frames"

    def test_the_cross_and_the_view_take_their_time(self) -> None:
        assert verdict(VIEWED, exposure(1000), seconds=0.1, elapsed=1.2).fault == "server-clock"
        assert verdict(VIEWED, exposure(1000), seconds=0.1, elapsed=1.3).fault is None


class TestSweeps:
    def test_every_image_has_its_frame(self) -> None:
        """50 frames for 10 images: 40 may be lost."""
        assert verdict(SWEEP, exposure(1000, dropped_frames=40)).fault is None
        assert verdict(SWEEP, exposure(1000, dropped_frames=41)).fault == "dropped-frames"

    def test_no_press_after_the_answer_came(self) -> None:
        assert verdict(SWEEP, exposure(1000), elapsed=3.0, presses=(3300.0,)).fault == "server-clock"
        assert verdict(SWEEP, exposure(1000), elapsed=3.0, presses=(1900.0,)).fault is None


def test_an_exposure_where_nothing_is_limited_says_nothing() -> None:
    assert verdict(PAIR, exposure(500, blurred=True)).fault is None


def test_every_kind_has_a_least_time() -> None:
    assert all(kind.traits.least_seconds < kind.traits.answer_seconds for kind in KINDS.values())
    assert KINDS["sweep"].least_seconds(SWEEP) == 0.95
    assert KINDS["pair"].least_seconds(PAIR) == 0.25


def test_the_phases_are_those_of_the_pages() -> None:
    def constant(file: str, name: str) -> float:
        match = re.search(rf"{name} = ([\d.]+)", (PAGES / "kinds" / file).read_text(encoding="utf-8"))
        assert match is not None
        return float(match[1])

    assert constant("realism.js", "FIXATION_MS") == traits.CROSS_MS
    assert constant("sweep.js", "FIXATION_MS") == sweep.CROSS_MS
    assert constant("sweep.js", "AFTER_MS") == sweep.AFTER_MS
    assert constant("glimpse.js", "TOLERANCE") == traits.LENGTH_TOLERANCE
