"""What the tests of the pages share."""

from typing import Any, Protocol


class Open(Protocol):
    """Opens a page of the study by its wishes: ``open_page(kind="pair", from_="trial")``."""

    def __call__(self, *, phone: bool = False, dark: bool = False, **wishes: str | int) -> Any:  # noqa: ANN401
        """The page, when its heading is there."""


def ready(page: Any) -> None:  # noqa: ANN401
    """Wait until answers count."""
    page.wait_for_selector(".answer:not([disabled])")
    page.wait_for_timeout(130)
