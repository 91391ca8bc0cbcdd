"""How many trials a session may skip without loss of pay."""

import math
from typing import Any

from sqlalchemy import Row

from beholder.collect.session.catalogue import Catalogue
from beholder.study.study import Study

AT_LEAST = 2
"""Paid skips where the study sets a proportion, however few trials there are."""


def allowed_skips(max_skips: float, tests: int) -> int:
    """Paid skips of a session with so many test trials: the study's count, or its proportion of them rounded up.

    A setting below 1 is a proportion p: max(2, ⌈p·tests⌉), but always one less than there are tests, so that who
    answers nothing never completes.
    """
    if max_skips == 0 or max_skips >= 1:
        return int(max_skips)
    return max(min(max(AT_LEAST, math.ceil(max_skips * tests)), tests - 1), 0)


def skips_left(catalogue: Catalogue, study: Study, session: Row[Any]) -> int:
    """How many trials the session may still skip; those that it got in place of skipped ones add nothing."""
    own = catalogue.slot(session.question, session.slot)
    tests = sum(1 for name in session.plan or [] if name in own and own[name].role == "test")
    return max(allowed_skips(study.collect.max_skips, tests) - int(session.skipped), 0)
