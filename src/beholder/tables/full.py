"""Recognising a full disk."""

import errno

FULL = (errno.ENOSPC, errno.EDQUOT)


def is_full(error: BaseException) -> bool:
    """Return whether the error means that a disk, or a quota on it, is full.

    Polars gives the system's error number only in its message, and ``tempfile`` says only that no folder was
    usable.
    """
    if isinstance(error, OSError) and error.errno in FULL:
        return True
    words = str(error)
    return "No usable temporary directory" in words or any(f"(os error {number})" in words for number in FULL)
