"""A study's board as a site, brought up to date first."""

from collections.abc import Callable
from pathlib import Path

from beholder.api.stages import load_stage
from beholder.errors import FaultsError
from beholder.report.board_site.replacing import faults_of_target
from beholder.report.board_site.stage import SiteOptions, run
from beholder.study.study import load_study
from beholder.tables.work import Outcome

__all__ = ["SiteOptions", "publish_board"]

Progress = Callable[[str, int, int], None]


def publish_board(
    folder: Path,
    out: Path,
    options: SiteOptions | None = None,
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> tuple[Outcome, Outcome]:
    """Compute the board of a study, unless it is up to date, and write it as a site.

    Args:
        folder: The study folder.
        out: The folder of the site: one that does not exist, is empty, or is a site, which is replaced as one.
        options: What the site shows, and what is stated about it.
        force: Write the site even if nothing has changed.
        progress: Called with what is being done, how much of it is done, and how much there is.

    Returns:
        What ``board`` did, and what was written.

    Raises:
        FaultsError: If the folder is not one to write to; nothing was computed then.
    """
    load_study(folder)
    faults = faults_of_target(out, folder)
    if faults:
        raise FaultsError("the site was not written", faults)
    board = load_stage("board").run(folder)
    return board, run(folder, out, options, force=force, progress=progress)
