"""Signal detection: how well people tell two kinds apart (d′), and how they lean (criterion)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from beholder.errors import StatisticsError


@dataclass(frozen=True, eq=False)
class Detection:
    """One d′ and one criterion for each person or cell."""

    d_prime: NDArray[np.float64]  # 0: cannot tell them apart
    criterion: NDArray[np.float64]  # below 0: leans towards calling things a signal


def detection(hits: ArrayLike, signals: ArrayLike, false_alarms: ArrayLike, noises: ArrayLike) -> Detection:
    """Return d′ = z(H) − z(F) and c = −(z(H) + z(F))/2, with the log-linear correction; arrays broadcast.

    H = (hits + ½)/(signals + 1) and F = (false alarms + ½)/(noises + 1), so that all-right and all-wrong people
    stay finite (Hautus 1995). For realism, a signal is a generated image, a hit is calling it generated, and a
    false alarm is calling a real image generated. Average over people, and resample people, for an interval.
    """
    hit, signal, alarm, noise = (np.asarray(x, np.float64) for x in (hits, signals, false_alarms, noises))
    for count, total, name in ((hit, signal, "hits ≤ signals"), (alarm, noise, "false alarms ≤ noises")):
        if np.any(~np.isfinite(count) | ~np.isfinite(total)) or np.any((count < 0) | (count > total)):
            raise StatisticsError(f"d′ needs 0 ≤ {name}, all finite; found otherwise")
    z_hit = special.ndtri((hit + 0.5) / (signal + 1))
    z_alarm = special.ndtri((alarm + 0.5) / (noise + 1))
    return Detection(np.asarray(z_hit - z_alarm), np.asarray(-(z_hit + z_alarm) / 2))
