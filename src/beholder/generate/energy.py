"""Energy of single images, always together with the method by which it was estimated."""

from importlib import import_module
from typing import Any, Protocol

from beholder.errors import UserError
from beholder.generate.settings import Energy


class Meter(Protocol):
    """Measures what happens between ``start`` and ``stop``."""

    def start(self) -> None:
        """Begin."""
        ...

    def stop(self) -> tuple[float, str] | None:
        """Return watt hours and the method; ``None`` where nothing is measured."""
        ...

    def close(self) -> None:
        """Let go of what was opened."""
        ...


class NoMeter:
    """Measures nothing."""

    def start(self) -> None:
        """Begin."""

    def stop(self) -> tuple[float, str] | None:
        """Return nothing."""
        return None

    def close(self) -> None:
        """Nothing is open."""


class CodeCarbonMeter:
    """codecarbon's estimate for all of this machine, offline; needs the extra ``energy``.

    On most virtual machines it is a constant of the memory's size and of the processor's model times its load: the
    method says which parts are counted, and figures of different methods must not be compared.
    """

    def __init__(self) -> None:
        """Start the tracker, which takes some seconds."""
        try:
            codecarbon = import_module("codecarbon")
        except ModuleNotFoundError as error:
            raise UserError(
                "energy by codecarbon needs the extra 'energy', which is not installed: "
                'pip install "beholder[energy]"'
            ) from error
        self._tracker: Any = codecarbon.OfflineEmissionsTracker(
            country_iso_code="USA",  # for the carbon intensity, which is not recorded
            save_to_file=False,
            log_level="critical",
            measure_power_secs=3600,
            tracking_mode="machine",
            allow_multiple_runs=True,
        )
        self._tracker.start()
        parts = [type(part).__name__ for part in getattr(self._tracker, "_hardware", [])]
        modes = [str(getattr(part, "_mode", "")) for part in getattr(self._tracker, "_hardware", [])]
        counted = ", ".join(f"{part} ({mode})" if mode else part for part, mode in zip(parts, modes, strict=True))
        self._method = f"codecarbon {codecarbon.__version__}, whole machine: {counted}"
        self._tasks = 0

    def start(self) -> None:
        """Begin a task."""
        self._tasks += 1
        self._tracker.start_task(str(self._tasks))

    def stop(self) -> tuple[float, str] | None:
        """Return watt hours of the task, and the method."""
        consumed = self._tracker.stop_task(str(self._tasks))
        return float(consumed.energy_consumed) * 1000, self._method

    def close(self) -> None:
        """Stop the tracker."""
        self._tracker.stop()


def open_meter(energy: Energy | None) -> Meter:
    """Return the meter of a name; ``None`` is one that measures nothing."""
    return CodeCarbonMeter() if energy == "codecarbon" else NoMeter()
