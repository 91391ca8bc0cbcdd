"""A process that encodes images for the cache: one line of JSON in, and one out, per image.

python -m beholder.collect.display.encoder

It ends with its input, so it never outlives the server that started it. It imports as little as possible.
"""

import json
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from beholder.collect.display.cache import store
from beholder.images.display import encode
from beholder.images.formats import UndecodableError

NICENESS = 10
"""Raters' requests come first."""


def encode_jobs(jobs: TextIO) -> Iterator[dict[str, str]]:
    """Encode job after job; yield an empty reply, or why the image is ``broken`` or the file was ``unwritten``."""
    for line in jobs:
        job = json.loads(line)
        try:
            content = encode(Path(job["path"]), job["side"], job["quality"], job["background"])
        except UndecodableError as error:
            yield {"broken": str(error)}
            continue
        try:
            store(Path(job["file"]), content)
        except OSError as error:
            yield {"unwritten": error.strerror or str(error)}
        else:
            yield {}


def main() -> int:
    """Run the command of this module."""
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    warnings.simplefilter("ignore")  # Pillow's, of files that are odd but can be shown
    for reply in encode_jobs(sys.stdin):
        try:
            os.write(sys.stdout.fileno(), f"{json.dumps(reply)}\n".encode())
        except BrokenPipeError:  # the server was killed, and nobody reads what an encoder says of it
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
