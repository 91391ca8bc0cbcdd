"""Every error of beholder, as one tree.

An error that is the user's to mend derives from :class:`UserError`; the command line prints its message
without a traceback and exits with code 2. Anything else is ours, and keeps its traceback.
"""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches


class BeholderError(Exception):
    """The root: catch this to catch whatever beholder raises on purpose."""


class UserError(BeholderError):
    """Something outside the package is wrong; the message says what was found, expected, and what to do."""


class FaultsError(UserError):
    """An input with one or more faults, all of them listed at once."""

    def __init__(self, subject: str, faults: Sequence[str], *, advice: str = "") -> None:
        self.subject = subject
        self.faults = tuple(faults)
        self.advice = advice
        count = "1 fault" if len(self.faults) == 1 else f"{len(self.faults)} faults"
        lines = [f"{subject}: {count}", *(f"  - {fault}" for fault in self.faults)]
        super().__init__("\n".join([*lines, advice] if advice else lines))


class TableError(FaultsError):
    """A table on disk or in memory does not fit its schema."""


class UndeclaredTableError(BeholderError):
    """A step touches a table that it does not declare: ours to mend, in ``tables/stages.py``."""

    def __init__(self, stage: str, verb: str, table: str) -> None:
        super().__init__(f"{stage} {verb} the table {table}; its step in tables/stages.py does not declare that")


class StudyError(FaultsError):
    """A study file, or the request to make a study, does not fit."""


class RecipeError(FaultsError):
    """A recipe by which a model is to be trained does not fit."""


class SplitError(FaultsError):
    """A split of images into parts that know of each other."""


class LabelsError(FaultsError):
    """Labels from which nothing can be learned."""


class PromptsError(FaultsError):
    """Prompts, or a file of them, that cannot be read or used."""


class ImageError(FaultsError):
    """Images that cannot be read or used."""


class WeightsError(UserError):
    """Weights of a network that are missing, or not those of the network."""


class TrainingError(UserError):
    """Training that cannot go on, or cannot be resumed."""


class StageError(UserError):
    """A stage cannot run now: an input is missing, or running it would destroy something."""


class MissingTableError(StageError, AttributeError):
    """A table that a study does not have yet; an ``AttributeError``, so that ``hasattr(study, …)`` works."""


class NoRoomError(UserError):
    """The disk is full; nothing was written."""


class StorageError(UserError):
    """A database that cannot be reached, is busy, or cannot write; nothing was written, and one may try again."""


class SupersededError(StorageError):
    """A folder in object storage that someone else published meanwhile; nothing of it was replaced."""


class ForeignIndexError(StorageError):
    """A document of someone else where the index of a folder in object storage is expected."""


class StatisticsError(UserError):
    """Numbers from which the requested statistic is not defined."""


class FrameError(FaultsError):
    """A data frame that lacks columns, or whose columns do not hold what a statistic needs."""


class WorkerError(UserError):
    """A worker, or another program or service that generates, which failed: the message says how.

    ``fault`` is the kind of failure in a word, as the table ``generations`` has it.
    """

    def __init__(self, message: str, *, fault: str = "error") -> None:
        super().__init__(message)
        self.fault = fault


class RefusalError(UserError):
    """A generator that declines a prompt, by its own rules; the message is its reason."""


class RefusedError(BeholderError):
    """A request to the study server that is not taken: a code for the page, a sentence for the log."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message


def unknown_name(what: str, name: str, valid_names: Iterable[str], also: str = "") -> str:
    """Say that a name is not known, which are (and what is allowed ``also``), and which of them is close to it."""
    names = list(valid_names)
    close = get_close_matches(name.lower(), names, n=1)
    suggestion = f". Did you mean '{close[0]}'?" if close else ""
    return f"{what} '{name}' is not known; known: {', '.join(names)}{also}{suggestion}"
