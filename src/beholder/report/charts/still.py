"""Still drawings of charts, in processes of their own.

Vega needs a second to start. Processes that are started early do that while the command line imports the rest, and
draw while the page of single images is rendered. They import no more than they need: ``python -m
beholder.report.charts.still`` reads a JSON list of specifications and writes a JSON list of drawings.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from types import TracebackType
from typing import Self

import vl_convert

from beholder.report.charts.vega_lite import Spec

VEGA_LITE = "6.1"
"""Version of the bundle and of the still drawings; what the charts use has not changed since 5.8."""

STILL_WIDTH = 560
"""Width of a stand-alone drawing; on the page a chart is as wide as its column."""


PROCESSES = 2
"""That draw side by side, where there are as many cores. Each takes the time of half of the charts, and 90 MB."""


def draw_still(spec: Spec) -> str:
    """The chart as SVG."""
    return str(vl_convert.vegalite_to_svg({**spec, "width": STILL_WIDTH}, vl_version=VEGA_LITE))


class StillDrawer:
    """Draws in other processes: first :meth:`begin`, then :meth:`drawings`."""

    def __enter__(self) -> Self:
        """Start the processes; they make themselves ready at once."""
        self._processes = [
            subprocess.Popen([sys.executable, "-m", __name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            for _ in range(min(PROCESSES, os.cpu_count() or 1))
        ]
        return self

    def begin(self, specs: Sequence[Spec]) -> None:
        """Send all specifications, dealt out in turn."""
        self._charts = len(specs)
        for number, process in enumerate(self._processes):
            assert process.stdin is not None
            process.stdin.write(json.dumps(list(specs[number :: len(self._processes)])).encode())
            process.stdin.close()

    def drawings(self) -> list[str]:
        """The drawings in the order of the specifications, once they are done."""
        drawings = [""] * self._charts
        for number, process in enumerate(self._processes):
            assert process.stdout is not None
            answer = process.stdout.read()
            if process.wait():
                raise subprocess.CalledProcessError(process.returncode, process.args)
            drawings[number :: len(self._processes)] = map(str, json.loads(answer))
        return drawings

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the processes that have not ended by themselves."""
        for process in self._processes:
            if process.poll() is None:
                process.kill()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()
            process.wait()


def main() -> None:
    """Draw what comes in on the standard input."""
    draw_still({"data": {"values": [{}]}, "mark": "point"})  # Vega starts while the specifications are made
    specs = json.load(sys.stdin)
    json.dump([draw_still(spec) for spec in specs], sys.stdout)


if __name__ == "__main__":
    main()
