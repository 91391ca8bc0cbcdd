"""Rate limits of sign-in attempts: wrong passwords are slowed down, and nobody is locked out for long.

Three limits apply at once, each refilled with time: per account and address, per address whatever the account, and
per account over all addresses. The last would let strangers lock the owner out by guessing all day, so it does not
apply to a browser that has signed in to the account before. All is kept in memory.
"""

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Allowance:
    """A burst of attempts, and then one every so many seconds."""

    tries: int
    seconds: float


ACCOUNT_FROM_ADDRESS = Allowance(5, 10.0)
ADDRESS = Allowance(30, 2.0)
ACCOUNT = Allowance(50, 5.0)

KEYS_KEPT = 10_000


@dataclass
class Attempts:
    """The attempts of all accounts and addresses."""

    clock: Callable[[], float] = time.monotonic
    _left: dict[Hashable, tuple[float, float]] = field(default_factory=dict)
    """Attempts left, and as of when; the latest key is last."""

    def take(self, name: str, address: str, *, familiar: bool) -> float:
        """Use up an attempt and return 0, or the seconds to wait if none is left."""
        rules = _rules(name, address, familiar=familiar)
        waits = [(1 - self._tries(key, rule)) * rule.seconds for key, rule in rules.items()]
        if max(waits) > 0:
            return max(waits)
        for key, rule in rules.items():
            self._set(key, self._tries(key, rule) - 1)
        return 0.0

    def give_back(self, name: str, address: str, *, familiar: bool) -> None:
        """Return an attempt, because its password was right."""
        for key, rule in _rules(name, address, familiar=familiar).items():
            self._set(key, min(self._tries(key, rule) + 1, rule.tries))
        self._left.pop(("account from", name, address), None)

    def _tries(self, key: Hashable, rule: Allowance) -> float:
        left, at = self._left.get(key, (float(rule.tries), self.clock()))
        return min(left + (self.clock() - at) / rule.seconds, float(rule.tries))

    def _set(self, key: Hashable, left: float) -> None:
        self._left.pop(key, None)
        self._left[key] = (left, self.clock())
        if len(self._left) > KEYS_KEPT:
            self._left.pop(next(iter(self._left)))


def _rules(name: str, address: str, *, familiar: bool) -> dict[Hashable, Allowance]:
    rules: dict[Hashable, Allowance] = {
        ("account from", name, address): ACCOUNT_FROM_ADDRESS,
        ("address", address): ADDRESS,
    }
    return rules if familiar else rules | {("account", name): ACCOUNT}
