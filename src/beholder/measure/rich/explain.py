"""Rich feedback on many images by one or several models: each image is read and decoded once, on all cores."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from beholder.errors import ImageError
from beholder.feedback.image_feedback import ImageFeedback
from beholder.images.background import DEFAULT_BACKGROUND
from beholder.images.decode import quiet_pillow
from beholder.images.reading import MAX_WORKERS, BrokenImage, DecodedImage, batch_size, read_batches
from beholder.images.sources import ImageSource
from beholder.measure.rich.ensemble import said_of, together
from beholder.measure.rich.members import Member
from beholder.measure.rich.people import KnownImage, People
from beholder.models.allocator import keep_freed_memory
from beholder.models.encoders.torch_network import share_cores
from beholder.models.explained import Explained
from beholder.study.words import split_words

BATCH = 16

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Explanations:
    """What was said of each image, in their order; what was skipped is in ``broken``."""

    explained: tuple[Explained, ...]
    broken: tuple[BrokenImage, ...]


def explain(
    pictures: Sequence[ImageSource],
    prompts: Sequence[str | None],
    members: Sequence[Member],
    *,
    people: People | None = None,
    background: str = DEFAULT_BACKGROUND,
    skip_broken: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Explanations:
    """Ask the models about all pictures, and look up what people said of them.

    A prompt that is ``None`` is that of the study. Pictures that are missing, broken or without a prompt stop the
    run, all listed; the missing and the broken are left out if asked for.
    """
    if len(pictures) != len(prompts):
        raise ValueError(f"{len(pictures)} pictures need as many prompts, or None; found {len(prompts)}")
    workers = max(min(workers or min(os.cpu_count() or 1, MAX_WORKERS), len(pictures)), 1)
    size = batch_size(len(pictures), workers, BATCH)
    parts: list[_Part] = []
    broken: list[BrokenImage] = []

    def look(images: Sequence[DecodedImage]) -> _Part:
        return _asked(images, prompts, members, people)

    done = 0
    keep_freed_memory()
    with quiet_pillow(), share_cores(workers):
        for part, unreadable, count in read_batches(
            list(enumerate(pictures)), look, background=background, size=size, workers=workers
        ):
            parts.append(part)
            broken += [BrokenImage(pictures[one.place].name, one.reason) for one in unreadable]
            done += count
            if progress:
                progress(done, len(pictures))
    _check(parts, broken, skip_broken=skip_broken)
    return Explanations(tuple(one for part in parts for one in part.explained), tuple(broken))


@dataclass(frozen=True, eq=False)
class _Shown:
    """An image that can be asked about."""

    decoded: DecodedImage
    prompt: str
    known: KnownImage | None


@dataclass(frozen=True, eq=False)
class _Part:
    explained: list[Explained]
    without_prompt: list[str]


def _check(parts: Sequence[_Part], broken: Sequence[BrokenImage], *, skip_broken: bool) -> None:
    faults = [f"{name}: has no prompt" for part in parts for name in part.without_prompt]
    advice = "Give prompts with --prompt or --prompts, or a study that has them with --study." if faults else ""
    if broken and not skip_broken:
        faults += [f"{one.name}: {one.reason}" for one in broken]
        advice = f"{advice}\nMend or remove broken images, or skip them with --skip-broken.".strip()
    if faults:
        raise ImageError("images", faults, advice=advice)


def _asked(
    images: Sequence[DecodedImage], prompts: Sequence[str | None], members: Sequence[Member], people: People | None
) -> _Part:
    shown: list[_Shown] = []
    without_prompt: list[str] = []
    for one in images:
        prompt, known = prompts[one.place], people.known(one.source, one.sha256) if people else None
        text = known.prompt if prompt is None and known else prompt
        if text is None:
            without_prompt.append(one.source.name)
        else:
            shown.append(_Shown(one, text, known))
    if not shown:
        return _Part([], without_prompt)
    pixels, texts = [one.decoded.image for one in shown], [one.prompt for one in shown]
    feedback = [(member.feedback(pixels, texts), member.within) for member in members]
    models = [together([said_of(said, place, within) for said, within in feedback]) for place in range(len(shown))]
    explained = [_explained(one, model, people) for one, model in zip(shown, models, strict=True)]
    return _Part(explained, without_prompt)


def _explained(shown: _Shown, model: ImageFeedback, people: People | None) -> Explained:
    if people is None or shown.known is None:
        return Explained(shown.decoded.source, shown.prompt, model, None)
    asked = shown.known.prompt or ""
    if split_words(asked) != split_words(shown.prompt):
        return Explained(
            shown.decoded.source, shown.prompt, model, None, f"people were asked about another prompt: “{asked}”"
        )
    return Explained(shown.decoded.source, shown.prompt, model, people.feedback(shown.known))
