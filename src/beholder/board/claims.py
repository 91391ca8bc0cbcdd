"""The claims of the study file, tested on the board's own ratings."""

from collections.abc import Mapping, Sequence

import numpy as np

from beholder.board.standings import Standings
from beholder.errors import UserError
from beholder.stats.intervals.crossed_t import contrast_errors
from beholder.stats.significance.claims import check_claims
from beholder.study.board import Claim

Row = dict[str, object]


def claim_rows(claims: Sequence[Claim], boards: Mapping[str, Standings], *, level: float) -> list[Row]:
    """Return one row of ``claims`` for each claim, adjusted together.

    Args:
        claims: What the study file claims.
        boards: Name of a measure -> its standings over all prompts.
        level: 1 − the chance of any false verdict.

    Returns:
        The rows, in the order of the study file.

    Raises:
        UserError: With every claim that names a measure or an entry that the board does not have.
    """
    faults = [fault for claim in claims for fault in _faults(claim, boards)]
    if faults:
        raise UserError("claims of study.toml:\n" + "\n".join(f"  - {fault}" for fault in faults))
    if not claims:
        return []
    numbers = np.array([_contrast(claim, boards[claim.measure]) for claim in claims])
    tests = check_claims(*numbers.T, level=level)
    return [
        {
            "claim": in_words(claim),
            "kind": claim.kind,
            "measure": claim.measure,
            "entry": claim.entry,
            "other": claim.other,
            "threshold": test.threshold,
            "estimate": test.estimate,
            "bound": _or_none(test.bound),
            "p": _or_none(test.p_value),
            "p_adjusted": _or_none(test.p_adjusted),
            "verdict": test.verdict,
        }
        for claim, test in zip(claims, tests, strict=True)
    ]


def in_words(claim: Claim) -> str:
    """Return the claim as a sentence.

    Args:
        claim: From the study file.

    Returns:
        The sentence, without a full stop.

    Example:
        >>> in_words(Claim(kind="no-worse", measure="quality", entry="a", other="b", margin=0.2))
        'a is no worse than b by more than 0.2 (quality)'
    """
    what = {
        "better": f"is better than {claim.other}",
        "no-worse": f"is no worse than {claim.other} by more than {claim.margin:g}",
        "good-enough": f"is good enough: {claim.threshold:g}" if claim.threshold is not None else "",
    }[claim.kind]
    return f"{claim.entry} {what} ({claim.measure})"


def _faults(claim: Claim, boards: Mapping[str, Standings]) -> list[str]:
    if claim.measure not in boards:
        return [f"there is no measure '{claim.measure}'; the board has {', '.join(boards)}"]
    standing = boards[claim.measure]
    names = [name for name in (claim.entry, claim.other) if name is not None and name not in standing.entries]
    known = ", ".join(standing.entries)
    return [f"'{name}' is no entry of measure '{claim.measure}', which has {known}" for name in names]


def _contrast(claim: Claim, standing: Standings) -> tuple[float, float, float, float]:
    """Return estimate, standard error, degrees and threshold, turned so that higher is better."""
    sign = 1.0 if standing.better_up else -1.0
    weights = np.zeros((1, len(standing.entries)))
    weights[0, standing.entries.index(claim.entry)] = sign
    threshold = -claim.margin
    if claim.other is not None:
        weights[0, standing.entries.index(claim.other)] = -sign
    elif claim.threshold is not None:
        threshold = sign * claim.threshold
    errors = contrast_errors(standing.cells, weights)
    estimate = float(weights[0] @ standing.cells.values)
    return estimate, float(errors.standard_error[0]), float(errors.degrees[0]), threshold


def _or_none(number: float) -> float | None:
    return float(number) if np.isfinite(number) else None
