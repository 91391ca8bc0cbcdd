"""The C library's memory, kept between batches instead of being handed back and asked for again."""

import ctypes
import sys

# glibc's malloc.h
M_TRIM_THRESHOLD = -1
M_MMAP_MAX = -4
LARGEST_INT = 2**31 - 1


def keep_freed_memory() -> bool:
    """Tell glibc to keep freed memory for the process; whether it took it (other C libraries do not).

    A network asks for the same large blocks batch after batch. By default each is mapped afresh from the kernel,
    which clears it page by page; that can take longer than the arithmetic.
    """
    if sys.platform != "linux":
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and bool(mallopt(M_TRIM_THRESHOLD, LARGEST_INT)) and bool(mallopt(M_MMAP_MAX, 0))
