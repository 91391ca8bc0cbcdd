"""Memory freed by one batch stays with the process for the next, instead of going back to the kernel."""

import ctypes
import sys

# glibc's malloc.h
M_TRIM_THRESHOLD = -1
M_TOP_PAD = -2
M_MMAP_MAX = -4
LARGEST_INT = 2**31 - 1

HEAP = 64 * 2**20
"""Bytes of a heap, of which the arena of a thread has several: arena.c."""


def keep_freed_memory() -> bool:
    """Make glibc keep freed memory for the process; returns whether it does (other C libraries do not).

    A network allocates the same large blocks in every batch. By default each is mapped again from the kernel,
    which clears it page by page; that can take longer than the arithmetic. Threads other than the main one give a
    heap back as soon as it is empty, unless that much is to be kept free.
    """
    if sys.platform != "linux":
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    settings = (M_TRIM_THRESHOLD, LARGEST_INT), (M_MMAP_MAX, 0), (M_TOP_PAD, HEAP)
    accepted = [bool(mallopt(*setting)) for setting in settings]
    return all(accepted)
