"""Prolific's signed links: verification of the token (a JWT) with the keys that Prolific publishes."""

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from beholder.errors import RefusedError, StudyError
from beholder.study.collecting import Collecting

TOKEN_PARAMETER = "prolific_token"
ALGORITHM = "RS256"
LEEWAY = 60.0
"""Seconds by which the clocks may differ."""

A_DAY, A_WEEK = 86_400.0, 7 * 86_400.0
BETWEEN_FETCHES = 60.0
"""Least seconds between two fetches, so that invented key names or a dead address cost little."""

PATIENCE = 5.0
LARGEST_KEYS = 1_000_000

Keys = dict[str, Any]
"""Public keys by their names (``kid``)."""

Fetch = Callable[[str], str]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SignedLink:
    """What Prolific signed: the values of the link's parameters, and whether the token has expired."""

    parameters: Mapping[str, str]
    expired: bool


class ProlificTokens:
    """Verifies tokens: signature, audience, workspace and study; the clock can be replaced in tests."""

    def __init__(
        self,
        folder: Path,
        settings: Collecting,
        *,
        fetch: Fetch | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._settings, self._clock = settings, clock
        self._keys: FileKeys | FetchedKeys
        if settings.prolific_keys.startswith("https://"):
            self._keys = FetchedKeys(settings.prolific_keys, fetch or fetch_keys, clock)
        else:
            self._keys = FileKeys(folder / settings.prolific_keys)

    def read(self, token: str) -> SignedLink:
        """Return what the token says, or refuse it; an expired one is marked, as its holder may have a session."""
        import jwt  # noqa: PLC0415 - cryptography costs a quarter of the server's start, and few studies need it

        try:
            kid = jwt.get_unverified_header(token).get("kid")
            key = self._keys.get(kid) if isinstance(kid, str) else None
            if key is None:
                raise _forged("no key of Prolific has the name that the link gives")
            claims = jwt.decode(
                token,
                key,
                algorithms=[ALGORITHM],
                leeway=LEEWAY,
                options={"require": ["exp", "aud"], "verify_aud": False, "verify_exp": False, "verify_iat": False},
            )
        except jwt.PyJWTError as error:
            raise _forged(f"the signature of the link does not hold ({type(error).__name__})") from error
        return self._checked(claims)

    def _checked(self, claims: Mapping[str, Any]) -> SignedLink:
        signed, expires = claims.get("prolific"), claims["exp"]
        if not isinstance(signed, dict) or isinstance(expires, bool) or not isinstance(expires, int | float):
            raise _forged("the link lacks what Prolific signs")
        audiences = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
        if domain_of(self._settings.prolific_audience) not in [domain_of(str(audience)) for audience in audiences]:
            raise _forged("the link was signed for another server")
        for name, expected in (
            ("workspace_id", self._settings.prolific_workspace),
            ("STUDY_ID", self._settings.prolific_study),
        ):
            if expected and signed.get(name) != expected:
                raise _forged(f"the link was signed for another {name}")
        parameters = {name: value for name, value in signed.items() if isinstance(value, str)}
        return SignedLink(parameters, expired=self._clock() > expires + LEEWAY)


class FileKeys:
    """Keys from a file, read at once so that faults show at the start."""

    def __init__(self, path: Path) -> None:
        advice = "Download Prolific's keys into it, or set prolific_keys to the https address they are at."
        try:
            self._content = path.read_text(encoding="utf-8")
            names = [key["kid"] for key in json.loads(self._content)["keys"]]
        except OSError as error:
            raise StudyError(str(path), [f"cannot be read: {error.strerror or error}"], advice=advice) from error
        except (ValueError, KeyError, TypeError) as error:
            raise StudyError(
                str(path), ['no key set: {"keys": [{"kid": …}, …]} was expected'], advice=advice
            ) from error
        if not names:
            raise StudyError(str(path), ["the key set is empty"], advice=advice)
        self._keys: Keys | None = None

    def get(self, kid: str) -> Any:  # noqa: ANN401 - a key of PyJWT
        """Return the key of that name, if there is one."""
        if self._keys is None:
            self._keys = parsed_keys(self._content)
        return self._keys.get(kid)


class FetchedKeys:
    """Keys from an address: cached for a day, fetched again at once for an unknown name.

    While the address is down, cached keys are used for a week; without any, participants have to try again.
    """

    def __init__(self, address: str, fetch: Fetch, clock: Callable[[], float]) -> None:
        self._address, self._fetch, self._clock = address, fetch, clock
        self._keys: Keys = {}
        self._fetched = self._tried = float("-inf")
        self._failed = False
        self._turn = threading.Lock()

    def get(self, kid: str) -> Any:  # noqa: ANN401 - a key of PyJWT
        """Return the key of that name, if there is one."""
        if kid not in self._keys or self._clock() - self._fetched > A_DAY:
            self._refresh(kid)
        if self._clock() - self._fetched > A_WEEK or (self._failed and kid not in self._keys):
            raise RefusedError(
                503, "no-keys", "Prolific's keys cannot be fetched now; please try again in a minute"
            )
        return self._keys.get(kid)

    def _refresh(self, kid: str) -> None:
        """Fetch the keys, one request at a time and not too often; after a failure the cached ones stay."""
        if not self._turn.acquire(timeout=2 * PATIENCE):
            return
        try:
            now = self._clock()
            current = (
                kid in self._keys and now - self._fetched <= A_DAY
            )  # another request has fetched them meanwhile
            if current or now - self._tried < BETWEEN_FETCHES:
                return
            self._tried, self._failed = now, True
            self._keys, self._fetched = parsed_keys(self._fetch(self._address)), now
            self._failed = False
        except (OSError, ValueError, KeyError, TypeError) as error:
            log.warning("Prolific's keys cannot be fetched from %s: %s", self._address, error)
        finally:
            self._turn.release()


def parsed_keys(content: str) -> Keys:
    """Parse the RSA keys of a JWKS by name; other keys are ignored."""
    import jwt  # noqa: PLC0415

    keys: Keys = {}
    for key in json.loads(content)["keys"]:
        if not isinstance(key, dict) or not isinstance(key.get("kid"), str):
            continue
        if key.get("kty") == "RSA" and key.get("alg", ALGORITHM) == ALGORITHM:
            try:
                keys[key["kid"]] = jwt.PyJWK(key, algorithm=ALGORITHM)
            except jwt.PyJWTError as error:
                log.warning("a key of Prolific cannot be used: %s", error)
    return keys


def fetch_keys(address: str) -> str:
    """Fetch an https address with limits of time and size; any failure is an ``OSError``."""
    import httpx  # noqa: PLC0415

    try:
        with (
            httpx.Client(timeout=PATIENCE, follow_redirects=False) as client,
            client.stream("GET", address) as reply,
        ):
            reply.raise_for_status()
            content, deadline = b"", time.monotonic() + PATIENCE
            for part in reply.iter_bytes():
                content += part
                if len(content) > LARGEST_KEYS or time.monotonic() > deadline:
                    raise OSError("the reply is too large or too slow")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise OSError(str(error) or type(error).__name__) from error
    return content.decode("utf-8")


def domain_of(audience: str) -> str:
    """Return the domain of an address or a bare domain."""
    return audience.strip().lower().partition("://")[2].partition("/")[0] or audience.strip().lower().rstrip("/")


def _forged(message: str) -> RefusedError:
    return RefusedError(403, "not-signed", f"{message}; open the study from Prolific again")
