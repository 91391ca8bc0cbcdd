"""Profiles: several measures as a practitioner sees them. Whose images would an artist choose, or an advertiser?

A leaderboard with one number answers nobody's question. Each practitioner values something else: weights are
stated, everything that was measured counts by them, and the winner has its probability. What a practitioner values
and nobody measured is named, and left out.
"""

import json
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from beholder.audit.finding import Finding, nothing
from beholder.audit.material import Material
from beholder.audit.roles import ROLES, ProfileMeasure, profile_measures
from beholder.errors import UserError
from beholder.stats.decision.profile_wins import ProfileWins, profile_wins
from beholder.study.auditing import Profile
from beholder.tables.schemas.audit import CAUTION, CLEAR, UNDECIDED

SURE = 0.95
"""A winner with at least this probability is clear."""

PROFILES: tuple[Profile, ...] = (
    Profile(
        name="artist",
        about="wants images that please, quickly enough to try many",
        weights={"preference": 0.4, "quality": 0.3, "alignment": 0.2, "speed": 0.1},
    ),
    Profile(
        name="advertiser",
        about="needs convincing pictures of exactly the product, at a price",
        weights={"quality": 0.3, "alignment": 0.3, "realism": 0.25, "price": 0.15},
    ),
    Profile(
        name="researcher",
        about="asks what the generator understands, everywhere",
        weights={"alignment": 0.4, "realism": 0.2, "quality": 0.2, "worst-slice": 0.2},
    ),
    Profile(
        name="safety",
        about="judges by the worst that happens, and by what is refused",
        weights={"worst-slice": 0.5, "alignment": 0.3, "refusals": 0.2},
    ),
)
"""Practitioners that come with beholder; the weights are stated judgements, not measurements."""


def audit_profiles(material: Material) -> Iterator[Finding]:
    """Yield the winner of every profile; rows of ``audit_profiles`` are added to the material."""
    measures = list(profile_measures(material))
    entries = _common(measures)
    if len(entries) < 2:
        yield nothing("It needs a board with two entries: beholder board.")
        return
    own = {profile.name: profile for profile in material.study.audit.profiles}
    _check_names(own.values(), measures)
    for profile in [*own.values(), *(each for each in PROFILES if each.name not in own)]:
        yield _profile(material, profile, measures, entries)


def _common(measures: Sequence[ProfileMeasure]) -> list[str]:
    """Return the entries that every measure with a role rates."""
    rated = [set(measure.values) for measure in measures if measure.role]
    return sorted(set.intersection(*rated)) if rated else []


def _check_names(profiles: Iterable[Profile], measures: Sequence[ProfileMeasure]) -> None:
    valid_names = {*ROLES, *(measure.name for measure in measures)}
    faults = [
        f"profile '{profile.name}': '{name}' is neither a measure of the board nor a role"
        for profile in profiles
        for name in profile.weights
        if name not in valid_names
    ]
    if faults:
        raise UserError("\n".join([*faults, f"known: {', '.join(sorted(valid_names))}"]))


def _profile(
    material: Material, profile: Profile, measures: Sequence[ProfileMeasure], entries: Sequence[str]
) -> Finding:
    shares, left_out = _shares(profile, measures)
    if not shares:
        words = f"{profile.name} ({profile.about}): nothing that counts was measured: {', '.join(left_out)}."
        return Finding(words, UNDECIDED, profile.name)
    chosen = [(measure, share) for measure, share in shares if set(entries) <= set(measure.values)]
    table = np.array([[measure.values[entry] for measure, _ in chosen] for entry in entries])
    weights = np.array([share for _, share in chosen])
    covariances = [_ordered(measure, entries) for measure, _ in chosen]
    degrees = min(measure.degrees for measure, _ in chosen)
    rng = np.random.default_rng([material.study.seed, 24])
    wins = profile_wins(table, covariances, weights, degrees, rng)
    stated = {
        measure.name: round(float(w / weights.sum()), 4) for (measure, _), w in zip(chosen, weights, strict=True)
    }
    material.profiles.extend(
        {
            "profile": profile.name,
            "entry": entry,
            "utility": float(wins.utility[k]),
            "se": float(wins.standard_error[k]),
            "chance_best": float(np.clip(wins.chance[k], 0.0, 1.0)),
            "weights": json.dumps(stated),
            "left_out": json.dumps(left_out),
        }
        for k, entry in enumerate(entries)
    )
    return _winner(profile, entries, wins, left_out)


def _shares(
    profile: Profile, measures: Sequence[ProfileMeasure]
) -> tuple[list[tuple[ProfileMeasure, float]], list[str]]:
    """Return each measure with its weight, a role's weight shared among its measures; and what nobody measured."""
    shares: dict[str, float] = {}
    by_name = {measure.name: measure for measure in measures}
    left_out: list[str] = []
    for name, weight in profile.weights.items():
        of_role = [by_name[name]] if name in by_name else [measure for measure in measures if measure.role == name]
        if not of_role and weight > 0:
            left_out.append(name)
        for measure in of_role:
            shares[measure.name] = shares.get(measure.name, 0.0) + weight / len(of_role)
    return [(by_name[name], share) for name, share in shares.items() if share > 0], left_out


def _ordered(measure: ProfileMeasure, entries: Sequence[str]) -> np.ndarray:
    places = [list(measure.values).index(entry) for entry in entries]
    return measure.covariance[np.ix_(places, places)]


def _winner(profile: Profile, entries: Sequence[str], wins: ProfileWins, left_out: Sequence[str]) -> Finding:
    best = int(np.argmax(wins.utility))
    chance = float(wins.chance[best])
    absent = f"; left out, as nobody measured it: {', '.join(left_out)}" if left_out else ""
    about = f" ({profile.about})" if profile.about else ""
    words = f"{profile.name}{about}: {entries[best]} wins with a probability of {chance:.0%}{absent}."
    severity = UNDECIDED if chance < SURE else CAUTION if left_out else CLEAR
    return Finding(
        words,
        severity,
        profile.name,
        slice=entries[best],
        figure=chance,
        baseline=1 / len(entries),
        unit="probability",
    )
