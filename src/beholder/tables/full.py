"""Telling that a disk is full."""

import errno

FULL = (errno.ENOSPC, errno.EDQUOT)


def is_full(error: BaseException) -> bool:
    """Whether this says that a disk, or somebody's part of it, is full.

    Polars tells the number of the system's error in words only, and ``tempfile`` tells nothing but that no folder
    took a file.
    """
    if isinstance(error, OSError) and error.errno in FULL:
        return True
    words = str(error)
    return "No usable temporary directory" in words or any(f"(os error {number})" in words for number in FULL)
