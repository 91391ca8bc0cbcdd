"""Scores in Python: ``beholder.score(images=…, prompts=…, scorer=…)``."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.api.inputs import Images, Prompts, prompts_of, sources_of
from beholder.engines.engine import Engine
from beholder.errors import UserError, WeightsError
from beholder.images.background import DEFAULT_BACKGROUND, checked_background
from beholder.images.reading import BrokenImage
from beholder.images.sources import ImageSource
from beholder.measure.meaning import Choices, Meaning, choices_of, meaning, read_choices
from beholder.scorers.catalogue import BEST, companion_of, recipe_of
from beholder.scorers.catalogue import load_scorer as load_named
from beholder.scorers.remarks import shift_remark
from beholder.scorers.score import Progress, Scores
from beholder.scorers.score import score as score_all
from beholder.scorers.scorer import Differentiable, Scorer
from beholder.scorers.shards.in_shards import Judges, score_in_shards
from beholder.stats.frames.result_table import ResultTable, frame_of
from beholder.stats.prediction.calibration import Calibration

if TYPE_CHECKING:
    import altair as alt


@dataclass(frozen=True, eq=False, kw_only=True)
class ImageScores:
    """Scores of images by one scorer, with what they mean: for an image no more is held than its figures."""

    name: str
    """Of the scorer."""
    scorer: str
    """Name and weights."""
    names: Sequence[str]
    """Of the images."""
    scores: NDArray[np.float64]  # (images,)
    meaning: Meaning | None
    """Relative to the reference set; ``None`` where there is none."""
    calibration: Calibration | None
    """On raters' choices; ``None`` where there are none."""
    broken: tuple[BrokenImage, ...]
    """What was skipped."""
    notes: tuple[str, ...]
    """What a reader must know."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Scored(ResultTable):
    """Scores of images by one scorer, in the order of the names, with their calibration: one row per image."""

    name: str
    """Of the scorer."""
    scorer: str
    """Name and weights."""
    scores: NDArray[np.float64]  # (images,)
    meaning: Meaning | None
    """Relative to the reference set; ``None`` where none was given."""
    calibration: Calibration | None
    """On raters' choices; ``None`` where none were given."""
    broken: tuple[BrokenImage, ...]
    """What was skipped; always empty unless that was asked for."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the images, of which ``rows`` holds the only copy."""
        return tuple(self.rows["image"])

    def plot(self, *, width: int = 420) -> "alt.LayerChart":
        """Return a histogram of the scores.

        Args:
            width: Pixels of the plot.

        Returns:
            An Altair chart; ``chart.save("figure.pdf")`` writes it (also .svg, .png, .html).
        """
        # Altair takes a second to load, and only plots need it.
        import altair as alt  # noqa: PLC0415

        scores = alt.Chart(alt.InlineData(values=[{"score": float(score)} for score in self.scores]))
        bars = scores.mark_bar(color="#2563eb").encode(
            x=alt.X("score:Q", bin=alt.Bin(maxbins=30), title=self.name), y=alt.Y("count():Q", title="images")
        )
        return alt.LayerChart(layer=[bars], width=width, height=180)


def score(
    *,
    images: Images,
    prompts: Prompts = None,
    scorer: str | Path | Scorer = BEST,
    weights: Mapping[str, str] | str | Path | None = None,
    reference: Images | None = None,
    reference_prompts: Prompts = None,
    choices: pl.DataFrame | str | Path | None = None,
    device: str | None = None,
    background: str = DEFAULT_BACKGROUND,
    skip_broken: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Scored:
    """Score images by a scorer.

    Args:
        images: Files, folders, globs, manifests, tar or Parquet files, arrays, images in memory, or several of
            these.
        prompts: One for all images; one for each, in order; or by the name of the image.
        scorer: Its name, the folder of a trained model, or one that was loaded. By default the learned scorer of
            image quality that comes with the extra ``models``.
        weights: A folder, file or hub name for the scorer's network, or several by name.
        reference: Images with whose scores the others are compared: percentile, and probability to be preferred.
        reference_prompts: Of the reference images; those of the images by default.
        choices: Of raters, by which that probability is calibrated: a frame or file with the columns ``first``,
            ``second`` (names of the images scored), ``share``, maybe ``answers``.
        device: Where networks run: cpu, cuda, mps; the fastest by default.
        background: What transparent images are flattened on, as #rrggbb.
        skip_broken: Leave broken images out, instead of an error that lists them.
        workers: Threads that decode and score; all cores by default.
        progress: Called with the number of images done, and of all images.

    Returns:
        One row per image: its score and, with a reference, percentile and probability to be preferred.

    Example:
        >>> import beholder as bh
        >>> scored = bh.score(images="pictures/ember", scorer="sharpness")
        >>> scored.scores.shape
        (20,)
        >>> scored.to_frame().columns
        ['image', 'sharpness']
    """
    scorer = str(scorer) if isinstance(scorer, Path) else scorer
    background = checked_background(background)
    loaded = scorer if isinstance(scorer, Scorer) else load_scorer(scorer, weights=weights, device=device)
    pictures = sources_of(images, background)
    texts = prompts_of(prompts, pictures)
    reference_sources: Sequence[ImageSource] = []
    reference_texts: list[str | None] = []
    if reference is not None:
        reference_sources = sources_of(reference, background)
        reference_texts = prompts_of(
            prompts if reference_prompts is None else reference_prompts, reference_sources
        )
    if isinstance(scorer, str) and "prompt" in recipe_of(scorer).needs and None in (*texts, *reference_texts):
        raise UserError(f"scorer '{scorer}' needs prompts: one for all images, or one for each")
    (scored,) = score_by(
        [loaded],
        pictures,
        texts,
        reference=reference_sources,
        reference_prompts=reference_texts,
        choices=choices if choices is None or isinstance(choices, pl.DataFrame) else read_choices(Path(choices)),
        background=background,
        skip_broken=skip_broken,
        workers=workers,
        progress=progress,
    )
    return _table(scored)


def score_by(
    scorers: Sequence[Scorer],
    pictures: Sequence[ImageSource],
    prompts: Sequence[str | None],
    *,
    reference: Sequence[ImageSource] = (),
    reference_prompts: Sequence[str | None] = (),
    choices: pl.DataFrame | None = None,
    background: str = DEFAULT_BACKGROUND,
    skip_broken: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
    engine: Engine | None = None,
    judges: Judges | None = None,
    keep: Path | None = None,
) -> list[ImageScores]:
    """Score images by several scorers, in their order: each image is decoded once for all of them.

    With an ``engine``, its workers score the images in shards; ``judges`` then name the same scorers, and scores
    of shards that are done are kept in the folder ``keep``, if one is given.
    """

    companions = {scorer.name: companion for scorer in scorers if (companion := companion_of(scorer.name))}
    added, lacking = _load_companions(set(companions.values()) - {scorer.name for scorer in scorers})

    def scored(images: Sequence[ImageSource], texts: Sequence[str | None]) -> Scores:
        if engine is not None and judges is not None:
            everyone = replace(judges, scorers=(*judges.scorers, *(scorer.name for scorer in added)))
            return score_in_shards(
                engine, images, texts, everyone, folder=keep, skip_broken=skip_broken, progress=progress
            )
        return score_all(
            images,
            texts,
            [*scorers, *added],
            background=background,
            skip_broken=skip_broken,
            workers=workers,
            progress=progress,
        )

    scores = scored(pictures, prompts)
    chosen = None
    if choices is not None:
        skipped = {broken.name for broken in scores.broken}
        texts = [text for picture, text in zip(pictures, prompts, strict=True) if picture.name not in skipped]
        chosen = choices_of(choices, scores.names, texts)
    reference_scores = scored(reference, reference_prompts) if reference else None
    return [
        _image_scores(scorer, scores, reference_scores, chosen, companions.get(scorer.name, ""), lacking)
        for scorer in scorers
    ]


def _load_companions(names: Collection[str]) -> tuple[list[Scorer], dict[str, str]]:
    """Load what says how unlike training images others are; why not, of those that cannot be loaded, by name."""
    loaded, lacking = [], {}
    for name in sorted(names):
        try:
            loaded.append(load_named(name))
        except WeightsError as error:
            lacking[name] = f"no warning of images unlike the training images ({error})"
    return loaded, lacking


def _image_scores(
    scorer: Scorer,
    scores: Scores,
    reference_scores: Scores | None,
    chosen: Choices | None,
    companion: str,
    lacking: Mapping[str, str],
) -> ImageScores:
    values = scores.values[scorer.name]
    calibration = None if chosen is None else chosen.calibration(values)
    read = (
        None
        if reference_scores is None
        else meaning(values, reference_scores.values[scorer.name], scorer, calibration)
    )
    notes = [f"{len(scores.broken)} broken images were skipped"] if scores.broken else []
    notes += [scorer.remark] if scorer.remark else []
    unlike = lacking.get(companion)
    if companion in scores.values:
        unlike = shift_remark(scorer.name, scores.values[companion].tolist())
    notes += [unlike] if unlike else []
    return ImageScores(
        name=scorer.name,
        scorer=scorer.identity,
        names=scores.names,
        scores=values,
        meaning=read,
        calibration=calibration,
        broken=scores.broken,
        notes=tuple(notes),
    )


def _table(scored: ImageScores) -> Scored:
    read = scored.meaning
    columns: dict[str, object] = {"image": _column_of_names(scored.names), scored.name: scored.scores}
    if read is not None:
        columns["percentile"] = read.percentile
    if read is not None and read.chance is not None:
        columns["preferred"] = read.chance
    return Scored(
        title=f"scores by {scored.name}",
        rows=frame_of(columns),
        method=scored.scorer,
        items=len(scored.names),
        notes=scored.notes,
        name=scored.name,
        scorer=scored.scorer,
        scores=scored.scores,
        meaning=read,
        calibration=scored.calibration,
        broken=scored.broken,
    )


def _column_of_names(names: Sequence[str]) -> pl.Series:
    """The names as a column; built in parts, since texts of Python need more memory."""
    parts = [pl.Series("image", names[start : start + PART], pl.String) for start in range(0, len(names), PART)]
    return pl.concat(parts) if parts else pl.Series("image", [], pl.String)


PART = 10_000
"""Names at a time."""


def load_scorer(
    name: str | Path, *, weights: Mapping[str, str] | str | Path | None = None, device: str | None = None
) -> Scorer:
    """Load a scorer, to be called again and again: as ``scorer(images=…, prompts=…)``, or as a reward.

    Args:
        name: Of the scorer, such as ``pickscore``, or the folder of a trained model.
        weights: A folder, file or hub name for its network, or several by name.
        device: Where it runs: cpu, cuda, mps; the fastest by default.

    Returns:
        The scorer: called with images in memory and their prompts it returns scores, (images,); its method
        ``reward`` returns scores with gradients, where the network has them.

    Example:
        >>> import beholder as bh
        >>> from PIL import Image
        >>> brightness = bh.load_scorer("brightness")
        >>> brightness(images=[Image.new("RGB", (8, 8), "white"), Image.new("RGB", (8, 8))]).round(6).tolist()
        [1.0, 0.0]
    """
    scorer = str(name)
    if weights is None or isinstance(weights, Mapping):
        return load_named(scorer, weights, device)
    networks = recipe_of(scorer).networks
    if not networks:
        raise UserError(f"scorer '{scorer}' has no weights; leave '{weights}' out")
    return load_named(scorer, {networks[0]: str(weights)}, device)


def differentiable_scores(
    *, scorer: str | Path, weights: Mapping[str, str] | str | Path | None = None, device: str | None = None
) -> Differentiable:
    """Return a reward function: from images and prompts to scores with gradients.

    Args:
        scorer: Its name, such as ``pickscore``, or the folder of a trained model.
        weights: A folder, file or hub name for its network, or several by name.
        device: Where it runs: cpu, cuda, mps; the fastest by default.

    Returns:
        A function from a tensor of images (n, 3, height, width) in 0 to 1 and a list of n prompts to scores (n,).

    Example:
        >>> import beholder as bh
        >>> import torch
        >>> reward = bh.differentiable_scores(scorer="my-study/models/tiny-two-tower")
        >>> images = torch.rand(2, 3, 64, 64, requires_grad=True)
        >>> reward(images, ["a red circle", "two squares"]).sum().backward()
        >>> images.grad.shape
        torch.Size([2, 3, 64, 64])
    """
    differentiable = load_scorer(scorer, weights=weights, device=device).differentiable
    if differentiable is None:
        raise UserError(f"scorer '{scorer}' has no gradients; preference models do, such as hps-v2")
    return differentiable
