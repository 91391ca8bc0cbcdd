"""Rich feedback on many pictures by one or several models: each picture is read and decoded once, on all cores."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PIL import Image

from beholder.errors import ImageError
from beholder.feedback.image_feedback import ImageFeedback
from beholder.measure.rich.ensemble import said_of, together
from beholder.measure.rich.members import Member
from beholder.measure.rich.people import KnownImage, People
from beholder.models.allocator import keep_freed_memory
from beholder.models.decode import UndecodableError, quiet_pillow
from beholder.models.encoders.encode import MAX_WORKERS, Broken
from beholder.models.encoders.torch_network import share_cores
from beholder.models.explained import Explained
from beholder.models.in_order import batches, in_order
from beholder.models.pictures import Picture, image_of
from beholder.study.words import split_words

BATCH = 16

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Explanations:
    """What was said of each picture, in their order; what was skipped is in ``broken``."""

    explained: tuple[Explained, ...]
    broken: tuple[Broken, ...]


def explain(
    pictures: Sequence[Picture],
    prompts: Sequence[str | None],
    members: Sequence[Member],
    *,
    people: People | None = None,
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
    size = min(BATCH, max(-(-len(pictures) // workers), 1))  # a batch for each core, also of few pictures
    parts: list[_Part] = []

    def told(portion: list[tuple[Picture, str | None]]) -> tuple[_Part, int]:
        return _told(portion, members, people), len(portion)

    done = 0
    keep_freed_memory()
    with quiet_pillow(), share_cores(workers):
        for part, count in in_order(told, batches(zip(pictures, prompts, strict=True), size), workers):
            parts.append(part)
            done += count
            if progress:
                progress(done, len(pictures))
    _check(parts, skip_broken=skip_broken)
    return Explanations(
        tuple(one for part in parts for one in part.explained), tuple(one for part in parts for one in part.broken)
    )


@dataclass(frozen=True, eq=False)
class _Shown:
    """A picture that can be asked about."""

    picture: Picture
    image: Image.Image
    prompt: str
    known: KnownImage | None


@dataclass(frozen=True, eq=False)
class _Part:
    explained: list[Explained]
    broken: list[Broken]
    without_prompt: list[str]


def _check(parts: Sequence[_Part], *, skip_broken: bool) -> None:
    faults = [f"{name}: has no prompt" for part in parts for name in part.without_prompt]
    advice = "Give prompts with --prompt or --prompts, or a study that has them with --study." if faults else ""
    broken = [f"{one.name}: {one.reason}" for part in parts for one in part.broken]
    if broken and not skip_broken:
        faults += broken
        advice = f"{advice}\nMend or remove broken images, or skip them with --skip-broken.".strip()
    if faults:
        raise ImageError("images", faults, advice=advice)


def _told(
    portion: Sequence[tuple[Picture, str | None]], members: Sequence[Member], people: People | None
) -> _Part:
    shown: list[_Shown] = []
    broken: list[Broken] = []
    without_prompt: list[str] = []
    for picture, prompt in portion:
        try:
            sha256, content = picture.load()
            image, known = image_of(content), people.known(picture, sha256) if people else None
            text = known.prompt if prompt is None and known else prompt
            if text is None:
                without_prompt.append(picture.name)
            else:
                shown.append(_Shown(picture, image, text, known))
        except FileNotFoundError:
            broken.append(Broken(picture.name, "no such file"))
        except (UndecodableError, OSError) as error:
            broken.append(Broken(picture.name, str(error)))
    if not shown:
        return _Part([], broken, without_prompt)
    images, texts = [one.image for one in shown], [one.prompt for one in shown]
    feedback = [(member.feedback(images, texts), member.within) for member in members]
    models = [together([said_of(said, place, within) for said, within in feedback]) for place in range(len(shown))]
    explained = [_explained(one, model, people) for one, model in zip(shown, models, strict=True)]
    return _Part(explained, broken, without_prompt)


def _explained(shown: _Shown, model: ImageFeedback, people: People | None) -> Explained:
    if people is None or shown.known is None:
        return Explained(shown.picture, shown.prompt, model, None)
    asked = shown.known.prompt or ""
    if split_words(asked) != split_words(shown.prompt):
        return Explained(
            shown.picture, shown.prompt, model, None, f"people were asked about another prompt: “{asked}”"
        )
    return Explained(shown.picture, shown.prompt, model, people.feedback(shown.known))
