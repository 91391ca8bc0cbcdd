"""Signal detection: sensitivity to the difference of two kinds of stimuli (d′, A′), and bias (criterion)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from beholder.errors import StatisticsError


@dataclass(frozen=True, eq=False)
class Detection:
    """One d′, criterion and A′ for each rater or cell, and the standard errors of the first two."""

    d_prime: NDArray[np.float64]  # 0: cannot distinguish them
    criterion: NDArray[np.float64]  # below 0: leans towards calling things a signal
    a_prime: NDArray[np.float64]  # ½: cannot distinguish them, 1: always right
    d_prime_error: NDArray[np.float64]  # of this rater's trials; nan where there were none of a kind
    criterion_error: NDArray[np.float64]

    def d_prime_interval(self, level: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return d′ ± z · its standard error: the uncertainty of these trials, not of a population of raters."""
        if not 0 < level < 1:
            raise StatisticsError(f"an interval needs a level between 0 and 1; found {level}")
        reach = special.ndtri((1 + level) / 2) * self.d_prime_error
        return self.d_prime - reach, self.d_prime + reach


def detection(hits: ArrayLike, signals: ArrayLike, false_alarms: ArrayLike, noises: ArrayLike) -> Detection:
    """Return d′ = z(H) − z(F), c = −(z(H) + z(F))/2 and A′, with the log-linear correction; arrays broadcast.

    H = (hits + ½)/(signals + 1) and F = (false alarms + ½)/(noises + 1), so that all-right and all-wrong raters
    stay finite (Hautus 1995). A′ = ½ + (H−F)(1+H−F)/(4H(1−F)) for H ≥ F, and 1 − the same with H and F exchanged
    otherwise (Grier 1971). For realism, a signal is a generated image, a hit is calling it generated, and a false
    alarm is calling a real image generated.

    Standard errors are Gourevitch and Galanter's (1967): var z(H) = H(1−H)/(signals · φ(z(H))²). For a confidence
    interval over raters, average over raters and resample them:
    :func:`beholder.stats.intervals.bootstrap.clustered_ratio` with denominators of 1.
    """
    hit, signal, alarm, noise = (np.asarray(x, np.float64) for x in (hits, signals, false_alarms, noises))
    for count, total, name in ((hit, signal, "hits ≤ signals"), (alarm, noise, "false alarms ≤ noises")):
        if np.any(~np.isfinite(count) | ~np.isfinite(total)) or np.any((count < 0) | (count > total)):
            raise StatisticsError(f"d′ needs 0 ≤ {name}, all finite; found otherwise")
    hit_rate, alarm_rate = (hit + 0.5) / (signal + 1), (alarm + 0.5) / (noise + 1)
    z_hit, z_alarm = special.ndtri(hit_rate), special.ndtri(alarm_rate)
    error = np.sqrt(_variance(hit_rate, z_hit, signal) + _variance(alarm_rate, z_alarm, noise))
    more, less = np.maximum(hit_rate, alarm_rate), np.minimum(hit_rate, alarm_rate)
    area = 0.5 + (more - less) * (1 + more - less) / (4 * more * (1 - less))
    return Detection(
        d_prime=np.asarray(z_hit - z_alarm),
        criterion=np.asarray(-(z_hit + z_alarm) / 2),
        a_prime=np.asarray(np.where(hit_rate >= alarm_rate, area, 1 - area)),
        d_prime_error=np.asarray(error),
        criterion_error=np.asarray(error / 2),
    )


def _variance(
    rate: NDArray[np.float64], z: NDArray[np.float64], trials: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the variance of z(rate); nan without trials."""
    density = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
    return np.where(trials > 0, rate * (1 - rate) / (np.maximum(trials, 1) * density**2), np.nan)
