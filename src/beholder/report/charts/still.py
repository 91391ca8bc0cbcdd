"""Still drawings of charts, in a process of their own.

Vega needs a second to start. A process that is started early does that while the page is being composed, and draws
while the rest of the page is rendered. It imports no more than it needs: ``python -m
beholder.report.charts.still`` reads a JSON list of specifications and writes a JSON list of drawings.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

import vl_convert

VEGA_LITE = "6.1"
"""Version of the bundle and of the still drawings; what the charts use has not changed since 5.8."""

STILL_WIDTH = 560
"""Width of a stand-alone drawing; on the page a chart is as wide as its column."""

Spec = dict[str, Any]
"""A Vega-Lite specification as plain JSON."""


def draw_still(spec: Spec) -> str:
    """The chart as SVG."""
    return str(vl_convert.vegalite_to_svg({**spec, "width": STILL_WIDTH}, vl_version=VEGA_LITE))


class StillDrawer:
    """Draws in another process: first :meth:`begin`, then :meth:`drawings`."""

    def __enter__(self) -> Self:
        """Start the process; it makes itself ready at once."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        return self

    def begin(self, specs: Sequence[Spec]) -> None:
        """Send all specifications."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(list(specs)).encode())
        self._process.stdin.close()

    def drawings(self) -> list[str]:
        """The drawings in the order of the specifications, once they are done."""
        assert self._process.stdout is not None
        answer = self._process.stdout.read()
        if self._process.wait():
            raise subprocess.CalledProcessError(self._process.returncode, self._process.args)
        return [str(drawing) for drawing in json.loads(answer)]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the process, if it has not ended by itself."""
        if self._process.poll() is None:
            self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process.wait()


def main() -> None:
    """Draw what comes in on the standard input."""
    draw_still({"data": {"values": [{}]}, "mark": "point"})  # Vega starts while the specifications are made
    specs = json.load(sys.stdin)
    json.dump([draw_still(spec) for spec in specs], sys.stdout)


if __name__ == "__main__":
    main()
