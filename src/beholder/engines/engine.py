"""What an engine is: it applies a function to every shard of some work, and returns the answers in order."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Protocol, TypeVar, cast

from beholder.errors import UserError, unknown_name

Part = TypeVar("Part")
Answer = TypeVar("Answer")

ENGINES = ("local", "ray")


class Engine(Protocol):
    """Applies functions to shards."""

    def map(self, function: Callable[[Part], Answer], parts: Iterable[Part], /) -> Iterator[Answer]:
        """Yield the answer of the function to every part, in their order.

        Function, parts and answers can be sent to other processes. Parts are taken as answers are, a few ahead,
        so neither all parts nor all answers have to be in memory. An error of the function ends the work.
        """
        ...


class LocalEngine:
    """Does all work in this process, one part after the other."""

    def map(self, function: Callable[[Part], Answer], parts: Iterable[Part], /) -> Iterator[Answer]:
        """Yield the answers in order."""
        return map(function, parts)


def open_engine(
    name: str, *, address: str | None = None, workers: int | None = None, gpus: float | None = None
) -> AbstractContextManager[Engine]:
    """Return the engine of that name, as a context that ends its workers.

    Args:
        name: ``local`` or ``ray``.
        address: Of a Ray cluster, such as ``ray://host:10001`` or ``auto``; without one, Ray starts workers here.
        workers: Parts that are worked on at a time; by default as many as there are cores, or workers with GPUs.
        gpus: Of each worker; half a GPU is shared by two. By default workers have none.

    Returns:
        A context manager whose value is the engine.

    Example:
        >>> with open_engine("local") as engine:
        ...     list(engine.map(len, ["a", "bc"]))
        [1, 2]
    """
    if name not in ENGINES:
        raise UserError(unknown_name("engine", name, ENGINES))
    if name == "local":
        if address is not None:
            raise UserError("an address is that of a Ray cluster: give --engine ray too")
        if gpus is not None:
            raise UserError(
                "GPUs are those of Ray's workers: give --engine ray too; this process takes what it has"
            )
        return nullcontext(LocalEngine())
    try:
        module = import_module("beholder.engines.ray_engine")
    except ModuleNotFoundError as error:
        if error.name != "ray":
            raise
        raise UserError("engine 'ray' needs ray, which is not installed: pip install \"beholder[ray]\"") from error
    opened = module.open_ray(address=address, workers=workers, gpus=gpus)
    return cast("AbstractContextManager[Engine]", opened)
