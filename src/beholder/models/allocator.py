"""Memory freed by one batch stays with the process for the next, instead of going back to the kernel."""

import ctypes
import sys

# glibc's malloc.h
M_TRIM_THRESHOLD = -1
M_MMAP_MAX = -4
LARGEST_INT = 2**31 - 1


def keep_freed_memory() -> bool:
    """Make glibc keep freed memory for the process; returns whether it does (other C libraries do not).

    A network allocates the same large blocks in every batch. By default each is mapped again from the kernel,
    which clears it page by page; that can take longer than the arithmetic.
    """
    if sys.platform != "linux":
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and bool(mallopt(M_TRIM_THRESHOLD, LARGEST_INT)) and bool(mallopt(M_MMAP_MAX, 0))
