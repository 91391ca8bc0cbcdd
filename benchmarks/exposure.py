"""Timing accuracy of image exposure on the pages, idle and with the CPU slowed down.

    python benchmarks/exposure.py [--trials 40]

Chromium shows timed trials one after another, and each reports what its presenter measured. A miss is a trial
whose image was shown for more than one frame longer or shorter than intended; it must be marked as spoiled, so
that it is repeated. Prints a Markdown table; ``docs/measured/exposure.md`` is a saved run.
"""

import argparse
import os
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.collect.mock_server import Mock, paint_pictures, serving

FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
NOMINAL_MS = (50, 100, 250, 500)
SLOWED = (1, 6)
CLICK_ON = "setInterval(() => document.querySelector('.answer:not([disabled]), .start button')?.click(), 60)"
PATIENCE = 170.0


@dataclass(frozen=True)
class Cell:
    """The trials of one exposure at one speed."""

    nominal: int
    slowed: int
    trials: int
    within: int
    spoiled: int
    unmarked: int
    mean: float
    sd: float


def measure(browser: Any, mock: Mock, nominal: int, slowed: int, trials: int) -> Cell:  # noqa: ANN401
    mock.reset()
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.goto(f"{mock.url}/?kind=timed-realism&from=trial&trials=999&countdown=100&exposure={nominal}")
    page.wait_for_selector(".start button")
    page.wait_for_timeout(1500)
    if slowed > 1:
        context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": slowed})
    page.evaluate(CLICK_ON)
    deadline = time.monotonic() + PATIENCE
    while len(mock.visit.answers) < trials and time.monotonic() < deadline:
        page.wait_for_timeout(300)
    answers = mock.visit.answers[:trials]
    context.close()
    durations = [answer["exposure"]["shown_ms"] for answer in answers]
    off = [
        abs(answer["exposure"]["shown_ms"] - nominal) > answer["exposure"]["frame_ms"] + 0.1 for answer in answers
    ]
    valid = [ms for ms, answer in zip(durations, answers, strict=True) if not answer["spoiled"]]
    return Cell(
        nominal=nominal,
        slowed=slowed,
        trials=len(answers),
        within=len(off) - sum(off),
        spoiled=sum(answer["spoiled"] for answer in answers),
        unmarked=sum(miss and not answer["spoiled"] for miss, answer in zip(off, answers, strict=True)),
        mean=statistics.mean(valid) if valid else float("nan"),
        sd=statistics.pstdev(valid) if valid else float("nan"),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=40)
    trials = parser.parse_args().trials
    mock = Mock(paint_pictures(8, 256), 256)
    print("| nominal | processor | within one frame | marked spoiled | misses not marked | counted trials, ms |")
    print("|---|---|---|---|---|---|")
    with serving(mock), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        for slowed in SLOWED:
            for nominal in NOMINAL_MS:
                cell = measure(browser, mock, nominal, slowed, trials)
                speed = "as it is" if slowed == 1 else f"slowed {slowed} ×"
                print(
                    f"| {nominal} ms | {speed} | {cell.within} of {cell.trials} | {cell.spoiled} "
                    f"| {cell.unmarked} | {cell.mean:.1f} ± {cell.sd:.2f} |",
                    flush=True,
                )
        browser.close()
    print(f"\nload average at the end: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
