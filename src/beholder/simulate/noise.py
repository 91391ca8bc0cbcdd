"""Random textures that are functions of position, so a picture has the same ones at every resolution."""

from functools import lru_cache

import numpy as np

from beholder.simulate.shapes import Field

_LATTICE = 64
_WRAP = _LATTICE - 1


def value_noise(x: Field, y: Field, seed: int) -> Field:
    """Return smooth noise in [−1, 1] with features about one unit wide, the same for the same seed.

    Random values on the whole-number lattice (repeating after 64), blended by smoothstep between them.
    """
    table = _lattice(seed).ravel()
    column, row = np.floor(x), np.floor(y)
    u, v = _smoothstep(x - column), _smoothstep(y - row)
    c0, r0 = column.astype(np.int32) & _WRAP, row.astype(np.int32) & _WRAP
    c1, r0, r1 = (c0 + 1) & _WRAP, r0 * _LATTICE, ((r0 + 1) & _WRAP) * _LATTICE
    upper, lower = table[r0 + c0], table[r1 + c0]
    upper += (table[r0 + c1] - upper) * u
    lower += (table[r1 + c1] - lower) * u
    return upper + (lower - upper) * v


def _smoothstep(t: Field) -> Field:
    return t * t * (np.float32(3) - np.float32(2) * t)


@lru_cache(maxsize=256)
def _lattice(seed: int) -> Field:
    return np.random.default_rng(seed).uniform(-1, 1, (_LATTICE, _LATTICE)).astype(np.float32)


def cloud_noise(x: Field, y: Field, seed: int, *, octaves: int = 4) -> Field:
    """Return a sum of noises, each twice as fine and half as strong as the one before; about [−1, 1]."""
    total = np.zeros(np.broadcast(x, y).shape, dtype=np.float32)
    for octave in range(octaves):
        fine = np.float32(2**octave)
        total += value_noise(x * fine, y * fine, seed + octave) / fine
    return total


def cell_noise(x: Field, y: Field, seed: int) -> Field:
    """Return noise in [−1, 1] that is constant on each unit square."""
    table = _lattice(seed)
    cells: Field = table[np.floor(y).astype(np.int32) & _WRAP, np.floor(x).astype(np.int32) & _WRAP]
    return cells
