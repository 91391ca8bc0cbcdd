"""The small random PickScore of the tests of the API."""

from tests.api.conftest import small_pickscore

__all__ = ["small_pickscore"]
