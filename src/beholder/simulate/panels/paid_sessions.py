"""Sessions of raters who differ in speed, some of whom lie about their time."""

from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from beholder.care.effective_time import effective_seconds, paid_multiple, suspicious_reports
from beholder.care.top_ups import PaidWork, top_ups

HOURLY = Decimal(12)


@dataclass(frozen=True, slots=True)
class PaidPanel:
    """What is known about the raters of a simulated study."""

    raters: int = 60
    items: int = 6
    """sessions of each rater"""
    liars: float = 0.2
    """proportion of raters who report two to five times their time"""
    fakers: float = 0.0
    """proportion who also keep the page busy, so that the active time is as long"""
    minutes: float = 5.0
    """median time of a session"""
    spread: float = 0.25
    """standard deviation of log speed over raters"""
    base_coverage: float = 0.6
    """the pay covers this proportion of the median time: the estimate was too low"""


@dataclass(frozen=True, eq=False)
class PaidOutcome:
    """Pay of each rater for all sessions, relative to the minimum wage for what they really worked."""

    honest: NDArray[np.float64]  # (honest raters,) pay over the wage for the true time
    honest_by_medians: NDArray[np.float64]  # (honest raters,) the same if everybody is paid for the medians alone
    liars: NDArray[np.float64]  # (liars,) pay over the wage for the effective time of honest raters, or their own
    gain: NDArray[np.float64]  # (liars,) pay over what the same rater would have got by telling the truth
    frozen_honest: float
    """proportion of honest raters whose report was frozen"""


def simulate_pay(panel: PaidPanel, rng: np.random.Generator) -> PaidOutcome:
    """Simulate one study: its reports, the medians, the top-ups, and what they make of everybody's wage.

    Args:
        panel: The raters.
        rng: For everything that is drawn.

    Returns:
        Wages relative to the minimum.

    Example:
        >>> outcome = simulate_pay(PaidPanel(), np.random.default_rng(0))
        >>> bool(outcome.honest.min() > 0.98)
        True
    """
    shape = (panel.raters, panel.items)
    speed = rng.normal(0, panel.spread, panel.raters)
    worked = panel.minutes * 60 * np.exp(speed[:, None] + rng.normal(0, 0.2, shape))
    active = worked * rng.uniform(0.985, 1.0, shape)  # pauses over 30 s are cut
    lies = np.zeros(panel.raters, np.bool_)
    lies[rng.permutation(panel.raters)[: round(panel.liars * panel.raters)]] = True
    fakes = lies & (rng.random(panel.raters) < (panel.fakers / panel.liars if panel.liars else 0))
    inflation = np.where(lies, rng.uniform(2, 5, panel.raters), 1.0)
    reported = active * inflation[:, None] * rng.uniform(0.95, 1.05, shape)
    busy = np.where(fakes[:, None], active * inflation[:, None], active)
    truthful = active * rng.uniform(0.95, 1.05, shape)
    base = round(float(HOURLY) * 100 * panel.base_coverage * panel.minutes / 60)
    paid, effective, frozen = _pay(reported, busy, base)
    honest_paid, _, _ = _pay(truthful, active, base)
    wage = float(HOURLY) * 100 / 3600
    own = worked.sum(axis=1) * wage
    allowed = np.maximum(own, wage * effective * panel.items)
    return PaidOutcome(
        honest=paid[~lies] / own[~lies],
        honest_by_medians=np.maximum(wage * effective, base)[..., None].repeat(panel.raters)[~lies]
        * panel.items
        / own[~lies],
        liars=paid[lies] / allowed[lies],
        gain=paid[lies] / honest_paid[lies],
        frozen_honest=float(frozen[~lies].any(axis=1).mean()),
    )


def _pay(
    reported: NDArray[np.float64], active: NDArray[np.float64], base: int
) -> tuple[NDArray[np.float64], float, NDArray[np.bool_]]:
    """Return the total pay of each rater in cents, the effective time, and which reports were frozen."""
    raters, items = reported.shape
    rater, item = np.repeat(np.arange(raters), items), np.tile(np.arange(items), raters)
    suspicion = suspicious_reports(item, rater, reported.ravel(), active.ravel())
    effective = effective_seconds(item, rater, reported.ravel(), suspicion.excluded).value
    frozen = suspicion.exceeds_active
    work = [
        PaidWork(str(number), str(number), float(seconds), base, "suspicious" if is_frozen else "")
        for number, (seconds, is_frozen) in enumerate(zip(active.ravel(), frozen, strict=True))
    ]
    total = np.full(raters * items, float(base))
    multiple = paid_multiple(active.ravel())
    for up in top_ups(work, effective_seconds=effective, hourly=HOURLY, multiple=multiple):
        total[int(up.session)] += up.cents
    return total.reshape(raters, items).sum(axis=1), effective, frozen.reshape(raters, items)
