"""Several images per prompt from one generator, as files of an improvement."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from beholder.errors import RefusalError, UserError, WorkerError
from beholder.generators.checked import check_image
from beholder.generators.generator import Generator
from beholder.images.decode import quiet_pillow
from beholder.improve.pictures import StudyPicture
from beholder.tables.atomic import write_atomically
from beholder.workers.messages import ImageRequest

FOLDER = "candidates"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A generated image, and the seed that it came from."""

    picture: StudyPicture
    seed: int


def generate_candidates(
    folder: Path,
    generator: Generator,
    name: str,
    prompts: Sequence[str],
    number: int,
    *,
    size: tuple[int | None, int | None] = (None, None),
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> list[list[Candidate]]:
    """Generate so many images of each prompt into ``folder/candidates``; prompts that it declines are left out.

    Images that an interrupted run of the same settings left there are not generated again.

    Args:
        folder: Of the improvement.
        generator: What generates.
        name: What the generator is called.
        prompts: The prompts.
        number: Images of each.
        size: Width and height; by default what the generator prefers.
        seed: With the number of the prompt and of the image, that of the generator.
        progress: Called with the images done, and all.

    Returns:
        The images of each prompt.
    """
    place = folder / FOLDER
    place.mkdir(parents=True, exist_ok=True)
    candidates: list[list[Candidate]] = []
    refusals: list[str] = []
    with quiet_pillow():
        for which, prompt in enumerate(prompts):
            seeds = np.random.SeedSequence([seed, which]).generate_state(number).tolist()
            try:
                candidates.append(
                    [_generate(place, generator, name, prompt, which, drawn, size) for drawn in seeds]
                )
            except RefusalError as error:
                refusals.append(f"{prompt}: {error}")
            except WorkerError as error:
                raise UserError(f"{name}: {prompt}: {error}") from error
            if progress:
                progress(number * (which + 1), number * len(prompts))
    if not candidates:
        raise UserError("\n".join([f"{name} declines every prompt:", *refusals[:5]]))
    return candidates


def _generate(
    place: Path,
    generator: Generator,
    name: str,
    prompt: str,
    which: int,
    seed: int,
    size: tuple[int | None, int | None],
) -> Candidate:
    path = place / f"{which:04d}-{seed:010d}"
    for existing in place.glob(f"{path.name}.*"):
        return Candidate(StudyPicture("", prompt, name, existing), seed)
    request = ImageRequest(prompt=prompt, seed=seed, width=size[0], height=size[1])
    image = check_image(generator.generate(request).content, request)
    path = path.with_suffix(image.suffix)
    with write_atomically(path) as file:
        file.write(image.content)
    return Candidate(StudyPicture("", prompt, name, path), seed)
