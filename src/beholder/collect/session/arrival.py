"""Arrivals: the platform and id that a link names, and whether a signature proves them."""

import hmac
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from beholder.care.gold_pace import GoldPace
from beholder.collect.session.prolific import TOKEN_PARAMETER, ProlificTokens
from beholder.errors import RefusedError, StudyError
from beholder.study.collecting import Collecting

OPEN, INVITED, PROLIFIC, MTURK, PANEL = "open", "invitation", "prolific", "mturk", "panel"
LONGEST_ID = 200
SHORTEST_KEY = 16
"""Least number of bytes of a panel's key."""

MTURK_PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
"""Assignment id that MTurk sends in the preview of a task."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Arrival:
    """What a link says about a rater: the platform and the id there; no id on an open link."""

    platform: str
    identity: str | None
    parameters: Mapping[str, str] = field(default_factory=dict)
    proven: bool = False
    """whether the link proves the id: by a signature, or because nobody else knows the link"""
    proof: str = ""
    """what the platform added besides the id, the same whenever the task is opened; empty if nothing"""
    refusal: RefusedError | None = None
    """why the link admits nobody who does not have a session already"""
    pace: GoldPace | None = None
    """how often a trusted rater of a panel is checked"""


@dataclass(frozen=True, slots=True)
class PanelVisitor:
    """A rater who took the study on the server of a panel, and how often they are checked if they are trusted."""

    rater: str
    pace: GoldPace | None = None


class Proofs:
    """The keys by which ids are verified. Files are read at once, so that faults show at the start."""

    def __init__(self, folder: Path, settings: Collecting, *, prolific: ProlificTokens | None = None) -> None:
        if prolific is None and settings.prolific_keys:
            prolific = ProlificTokens(folder, settings)
        self.prolific = prolific
        self.panel_key = _panel_key(folder / settings.panel_key_file) if settings.panel_key_file else None
        for warning in warnings_of(settings):
            log.warning("%s", warning)


def warnings_of(settings: Collecting) -> list[str]:
    """Return warnings for the researcher about who can enter the study."""
    if settings.open_link or not settings.unsigned_ids:
        return []
    signed = {PROLIFIC: bool(settings.prolific_keys), MTURK: False, PANEL: bool(settings.panel_key_file)}
    unproven = [name for name in settings.platforms or () if not signed[name]]
    if not unproven:
        return []
    return [
        f"unsigned_ids = true: ids of {', '.join(unproven)} are accepted without a proof, so anyone who has the "
        "link can invent one and take part. Check each claim by the personal code before you pay."
    ]


def arrival_of(
    parameters: Mapping[str, str], invitation: str | None, settings: Collecting, proofs: Proofs
) -> Arrival:
    """Read platform and id from the parameters of a link; a forged one is refused at once."""
    if parameters.get("assignmentId") == MTURK_PREVIEW:
        return Arrival(OPEN, None, refusal=_no_entry("the preview of a task takes no slot"))
    if invitation:
        return Arrival(INVITED, invitation, parameters, proven=True)
    if parameters.get("PROLIFIC_PID") or (proofs.prolific is not None and parameters.get(TOKEN_PARAMETER)):
        return _from_prolific(parameters, settings, proofs)
    if parameters.get("workerId"):
        refusal = None if settings.admits("mturk") else _no_entry("it takes nobody by an id of MTurk")
        proof = parameters.get("assignmentId", "")
        return Arrival(MTURK, parameters["workerId"][:LONGEST_ID], parameters, proof=proof, refusal=refusal)
    if settings.panel_parameter and parameters.get(settings.panel_parameter):
        return _from_panel(parameters, settings, proofs)
    refusal = None if settings.open_link else _no_entry("it is open to invited participants only")
    return Arrival(OPEN, None, parameters, refusal=refusal)


def panel_signature(key: bytes, identity: str) -> str:
    """HMAC-SHA256 of the id, in hexadecimal digits: what a panel adds to its links."""
    return hmac.new(key, identity.encode(), "sha256").hexdigest()


def _from_prolific(parameters: Mapping[str, str], settings: Collecting, proofs: Proofs) -> Arrival:
    claimed, token = parameters.get("PROLIFIC_PID", ""), parameters.get(TOKEN_PARAMETER, "")
    refusal = None if settings.admits("prolific") else _no_entry("it takes nobody by an id of Prolific")
    if proofs.prolific is None:
        proof = parameters.get("SESSION_ID", "")
        return Arrival(PROLIFIC, claimed[:LONGEST_ID], parameters, proof=proof, refusal=refusal)
    if not token:
        return Arrival(PROLIFIC, claimed[:LONGEST_ID], parameters, refusal=refusal or _not_signed("Prolific"))
    signed = proofs.prolific.read(token)
    identity = signed.parameters.get("PROLIFIC_PID", "")
    if not identity or (claimed and claimed != identity):
        raise RefusedError(403, "not-signed", "the id in the link is not the one that Prolific signed")
    if signed.expired:
        refusal = refusal or RefusedError(
            403, "expired", "this link has run out; open the study from Prolific again"
        )
    return Arrival(
        PROLIFIC,
        identity[:LONGEST_ID],
        {**parameters, **signed.parameters},
        proven=not signed.expired,
        proof=signed.parameters.get("SESSION_ID", ""),
        refusal=refusal,
    )


def _from_panel(parameters: Mapping[str, str], settings: Collecting, proofs: Proofs) -> Arrival:
    identity = parameters[settings.panel_parameter]
    refusal = None if settings.admits("panel") else _no_entry("it takes nobody by an id of a panel")
    if proofs.panel_key is None:
        return Arrival(PANEL, identity[:LONGEST_ID], parameters, refusal=refusal)
    signature = parameters.get(settings.panel_signature, "").lower()
    if not hmac.compare_digest(panel_signature(proofs.panel_key, identity).encode(), signature.encode()):
        return Arrival(PANEL, identity[:LONGEST_ID], parameters, refusal=refusal or _not_signed("the panel"))
    return Arrival(PANEL, identity[:LONGEST_ID], parameters, proven=True, refusal=refusal)


def _panel_key(path: Path) -> bytes:
    advice = "Write at least 16 random characters into it, and give them to the panel; keep them secret."
    try:
        key = path.read_bytes().strip()
    except OSError as error:
        raise StudyError(str(path), [f"cannot be read: {error.strerror or error}"], advice=advice) from error
    if len(key) < SHORTEST_KEY:
        fault = f"the key has {len(key)} bytes; at least {SHORTEST_KEY} are needed"
        raise StudyError(str(path), [fault], advice=advice)
    return key


def _no_entry(why: str) -> RefusedError:
    return RefusedError(403, "no-entry", f"this link does not lead into the study: {why}")


def _not_signed(who: str) -> RefusedError:
    return RefusedError(403, "not-signed", f"this study takes only links that {who} has signed")
