"""Ratings by few raters and many scores: checked, computed and read, for ``beholder rank --scores``."""

from pathlib import Path

import polars as pl

from beholder.errors import StageError, UserError, unknown_name
from beholder.measure import metric_values
from beholder.measure.powered.step import run_powered
from beholder.report.tables.powered import PoweredBoard, build_powered_boards
from beholder.scorers.aliases import SCORER_ALIASES
from beholder.tables.store import Store


def check_scores(folder: Path, scorer: str) -> str:
    """Return the name under which a study has the scores of a scorer; it is an error if there are none."""
    store = Store(folder)
    scores, predictions = store.read_or_empty("scores"), store.read_or_empty("predictions")
    by_image, _ = metric_values.of_scores(scores, predictions, store.read("images"))
    names = by_image["metric"].unique().sort().to_list()
    name = SCORER_ALIASES.get(scorer.lower(), scorer)
    if not names:
        raise UserError(
            f"{folder} has no scores to rate with yet. They are written by: beholder measure {folder} "
            f"--scorer {name}"
        )
    if name not in names:
        more = f"; beholder measure {folder} --scorer NAME computes others"
        raise UserError(unknown_name("scorer", scorer, names, also=more))
    return name


def rate_with_scores(folder: Path, scorer: str, *, force: bool = False) -> tuple[PoweredBoard, ...]:
    """Return the prediction-powered ratings of every question, computed again only where tables have changed.

    Args:
        folder: The study, consolidated, with the table ``scores`` or ``predictions``.
        scorer: A scorer whose scores the study has; choose it before you look.
        force: Compute them again even if nothing has changed.

    Returns:
        One board per question and aspect that can be rated so.
    """
    name = check_scores(folder, scorer)
    run_powered(folder, force=force)
    boards = build_powered_boards(Store(folder).read("powered_ratings"), name)
    if not boards:
        raise _nothing_to_power(folder, name)
    return boards


def _nothing_to_power(folder: Path, scorer: str) -> StageError:
    """Say why no question can be rated with these scores."""
    store = Store(folder)
    judgements = store.read_or_empty("judgements").filter("used")
    judged = pl.concat([judgements["image"], judgements["other"].drop_nulls()]).unique()
    images = store.read("images").filter(~pl.col("real") & ~pl.col("gold"))
    unjudged = images.filter(~pl.col("image").is_in(judged.implode())).height
    return StageError(
        f"no rating can be powered by {scorer}: that takes, for some generator, at least 2 raters, 2 judged "
        "images and 2 scored images that nobody judged (of pairs and rankings: prompts); found "
        f"{judgements['rater'].n_unique()} raters, {images.height - unjudged} judged images and {unjudged} "
        "others. Make the study with more images than raters are asked about, and measure again. Staircases, and "
        "means that were published without their answers, cannot be powered"
    )
