"""Rich feedback on many images by one or several models: each image is decoded once, on all cores."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from beholder.errors import ImageError
from beholder.feedback.image_feedback import ImageFeedback
from beholder.feedback.labels import MISSED
from beholder.images.background import DEFAULT_BACKGROUND
from beholder.images.decode import quiet_pillow
from beholder.images.reading import MAX_WORKERS, BrokenImage, DecodedImage, batch_size, read_batches
from beholder.images.sources import ImageSource
from beholder.models.allocator import keep_freed_memory
from beholder.models.encoders.torch_network import share_cores
from beholder.models.explained import Explained
from beholder.models.shift.light import LoadedWarning
from beholder.scorers.remarks import shift_remark
from beholder.scorers.rich.ensemble import combine_feedback, feedback_of_image
from beholder.scorers.rich.members import Member
from beholder.scorers.rich.rater_feedback import RaterFeedback, StudyImage
from beholder.stats.frames.result_table import Backend, ResultTable, frame_of
from beholder.study.words import split_words

BATCH = 16

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False, repr=False)
class Explanations:
    """The feedback on each image, in their order; skipped images are in ``broken``."""

    explained: tuple[Explained, ...]
    broken: tuple[BrokenImage, ...]
    lacking: tuple[str, ...] = ()
    """Which models have no warning of images unlike their training images, and why."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Whether the images are unlike those that the models were trained on, and which models do not say so."""
        shifts = [image.shift for image in self.explained if image.shift is not None]
        unlike = shift_remark("the model", shifts, "feedback")
        return (*([unlike] if unlike else []), *self.lacking)

    def to_table(self) -> ResultTable:
        """Return the scores with their confidence intervals: one row per image, aspect, and who gave it.

        Returns:
            A table that prints, plots and exports itself; ``misaligned`` has the words of the prompt that the
            image does not show.
        """
        rows = [
            (image.picture.name, giver, aspect, score.value, score.low, score.high, _misaligned(feedback, image))
            for image in self.explained
            for giver, feedback in (("model", image.model), ("raters", image.people))
            if feedback is not None
            for aspect, score in feedback.scores.items()
        ]
        names = ("image", "by", "aspect", "score", "low", "high", "misaligned")
        columns = zip(*rows, strict=True) if rows else [[] for _ in names]
        return ResultTable(
            title="rich feedback",
            rows=frame_of({name: list(column) for name, column in zip(names, columns, strict=True)}),
            method="of the model: errors on held-out images, or the spread between models; of raters: over raters",
            estimate="score",
            keys=3,
            items=len(self.explained),
            notes=self.notes,
        )

    def to_frame(self, backend: Backend | None = None) -> Any:  # noqa: ANN401 - of another library
        """Return the rows of :meth:`to_table` as a data frame.

        Args:
            backend: ``"polars"``, ``"pandas"`` or ``"arrow"``.

        Returns:
            One row per image, aspect, and who gave the score.
        """
        return self.to_table().to_frame(backend)

    def __repr__(self) -> str:
        return repr(self.to_table())

    def _repr_html_(self) -> str:
        return self.to_table()._repr_html_()


def explain(
    sources: Sequence[ImageSource],
    prompts: Sequence[str | None],
    members: Sequence[Member],
    *,
    rater_feedback: RaterFeedback | None = None,
    background: str = DEFAULT_BACKGROUND,
    skip_broken: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Explanations:
    """Predict the models' feedback on all images, and look up the raters' feedback on them.

    A prompt that is ``None`` is taken from the study. Images that are missing, broken or without a prompt stop the
    run with a list of all of them; with ``skip_broken`` the missing and the broken are left out.
    """
    if len(sources) != len(prompts):
        raise ValueError(f"{len(sources)} images need as many prompts, or None; found {len(prompts)}")
    part = explain_part(
        sources,
        prompts,
        members,
        rater_feedback=rater_feedback,
        background=background,
        workers=workers,
        progress=progress,
    )
    lacking = [member.warning for member in members if isinstance(member.warning, str)]
    return explanations_of([part], skip_broken=skip_broken, lacking=lacking)


@dataclass(frozen=True, eq=False)
class ExplainedPart:
    """The feedback on some images, and what is wrong with the others."""

    explained: tuple[Explained, ...]
    without_prompt: tuple[str, ...]
    broken: tuple[BrokenImage, ...]


def explain_part(
    sources: Sequence[ImageSource],
    prompts: Sequence[str | None],
    members: Sequence[Member],
    *,
    rater_feedback: RaterFeedback | None,
    background: str,
    workers: int | None = None,
    progress: Progress | None = None,
) -> ExplainedPart:
    """Predict feedback on some of the images, whatever is wrong with others."""
    workers = max(min(workers or min(os.cpu_count() or 1, MAX_WORKERS), len(sources)), 1)
    size = batch_size(len(sources), workers, BATCH)
    parts: list[_Batch] = []
    broken: list[BrokenImage] = []
    warnings = [member.warning for member in members if isinstance(member.warning, LoadedWarning)]

    def explain_batch(images: Sequence[DecodedImage]) -> _Batch:
        return _explain_batch(images, prompts, members, warnings, rater_feedback)

    done = 0
    keep_freed_memory()
    with quiet_pillow(), share_cores(workers):
        for part, unreadable, count in read_batches(
            list(enumerate(sources)), explain_batch, background=background, size=size, workers=workers
        ):
            parts.append(part)
            broken += [BrokenImage(sources[image.place].name, image.reason) for image in unreadable]
            done += count
            if progress:
                progress(done, len(sources))
    return ExplainedPart(
        tuple(explained for part in parts for explained in part.explained),
        tuple(name for part in parts for name in part.without_prompt),
        tuple(broken),
    )


def explanations_of(
    parts: Sequence[ExplainedPart], *, skip_broken: bool, lacking: Sequence[str] = ()
) -> Explanations:
    """Return the feedback of all parts, or the error that lists what is wrong with any image."""
    broken = tuple(image for part in parts for image in part.broken)
    _check([name for part in parts for name in part.without_prompt], broken, skip_broken=skip_broken)
    return Explanations(tuple(explained for part in parts for explained in part.explained), broken, tuple(lacking))


def _misaligned(feedback: ImageFeedback, image: Explained) -> str:
    if feedback.missed is None:
        return ""
    words = zip(split_words(image.prompt), feedback.missed, strict=True)
    return ", ".join(word for word, rate in words if rate > MISSED)


@dataclass(frozen=True, eq=False)
class _PromptedImage:
    """A decoded image with its prompt, and the image of the study that it is, if any."""

    decoded: DecodedImage
    prompt: str
    study_image: StudyImage | None


@dataclass(frozen=True, eq=False)
class _Batch:
    explained: list[Explained]
    without_prompt: list[str]


def _check(without_prompt: Sequence[str], broken: Sequence[BrokenImage], *, skip_broken: bool) -> None:
    faults = [f"{name}: has no prompt" for name in without_prompt]
    advice = "Give prompts with --prompt or --prompts, or a study that has them with --study." if faults else ""
    if broken and not skip_broken:
        faults += [f"{broken_image.name}: {broken_image.reason}" for broken_image in broken]
        advice = f"{advice}\nMend or remove broken images, or skip them with --skip-broken.".strip()
    if faults:
        raise ImageError("images", faults, advice=advice)


def _explain_batch(
    images: Sequence[DecodedImage],
    prompts: Sequence[str | None],
    members: Sequence[Member],
    warnings: Sequence[LoadedWarning],
    rater_feedback: RaterFeedback | None,
) -> _Batch:
    prompted: list[_PromptedImage] = []
    without_prompt: list[str] = []
    for decoded in images:
        prompt = prompts[decoded.place]
        study_image = rater_feedback.find_image(decoded.source, decoded.sha256) if rater_feedback else None
        text = study_image.prompt if prompt is None and study_image else prompt
        if text is None:
            without_prompt.append(decoded.source.name)
        else:
            prompted.append(_PromptedImage(decoded, text, study_image))
    if not prompted:
        return _Batch([], without_prompt)
    pixels, texts = [image.decoded.image for image in prompted], [image.prompt for image in prompted]
    batches = [(member.feedback(pixels, texts), member.half_widths) for member in members]
    shifts = [warning.shifts(pixels) for warning in warnings]
    explained = []
    for index, image in enumerate(prompted):
        models = [feedback_of_image(batch, index, half_widths) for batch, half_widths in batches]
        shift = max((float(of_model[index]) for of_model in shifts), default=None)
        explained.append(replace(_explained(image, combine_feedback(models), rater_feedback), shift=shift))
    return _Batch(explained, without_prompt)


def _explained(image: _PromptedImage, model: ImageFeedback, rater_feedback: RaterFeedback | None) -> Explained:
    source = image.decoded.source
    if rater_feedback is None or image.study_image is None:
        return Explained(source, image.prompt, model, None)
    rated_prompt = image.study_image.prompt or ""
    if split_words(rated_prompt) != split_words(image.prompt):
        note = f"people were asked about another prompt: “{rated_prompt}”"
        return Explained(source, image.prompt, model, None, note)
    return Explained(source, image.prompt, model, rater_feedback.feedback(image.study_image))
