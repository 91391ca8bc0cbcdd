"""Answers of shards that are kept on the disk: a run that was stopped goes on with the shards that are left."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from beholder.engines.engine import Engine
from beholder.tables.atomic import write_atomically

Part = TypeVar("Part")
Arrays = Mapping[str, NDArray[np.generic]]
"""An answer: arrays of numbers or texts by name."""


def map_kept(
    engine: Engine,
    function: Callable[[Part], Arrays],
    parts: Sequence[Part],
    keys: Callable[[], Iterable[str]],
    folder: Path | None,
) -> Iterator[Arrays]:
    """Yield the answers in order, from the folder where they are there, else from the engine.

    ``keys`` returns for each part all that its answer depends on. Without a folder nothing is kept, and no keys
    are asked for. Parts may be built when they are looked at: no more than a few are held at a time.
    """
    if folder is None:
        yield from engine.map(function, parts)
        return
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.npz" for key in keys()]
    missing = [place for place, file in enumerate(files) if not file.is_file()]
    fresh = engine.map(function, (parts[place] for place in missing))
    lacking = set(missing)
    for place, file in enumerate(files):
        if place in lacking:
            answer = next(fresh)
            with write_atomically(file) as opened:
                np.savez(opened, allow_pickle=False, **dict(answer))
            yield answer
        else:
            with np.load(file, allow_pickle=False) as stored:
                yield dict(stored)
