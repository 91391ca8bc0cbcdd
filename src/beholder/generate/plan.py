"""Which images are to be generated: every generator, prompt and sample, each with a seed of its own."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from beholder.generate.prompts import PromptEntry
from beholder.study.generating import AnyGenerator
from beholder.workers.messages import ImageRequest

SEEDS = 2**31
"""Seeds are below this number: every service and library takes them."""

Key = tuple[str, str, int]
"""Generator, prompt and sample."""


@dataclass(frozen=True, slots=True)
class Job:
    """One image to be generated."""

    generator: AnyGenerator
    entry: PromptEntry
    sample: int
    request: ImageRequest

    @property
    def key(self) -> Key:
        """What identifies it in the tables."""
        return self.generator.name, self.entry.prompt, self.sample

    @property
    def path(self) -> str:
        """Where its image goes below the folder, without the suffix."""
        return f"generations/{self.generator.name}/{self.entry.prompt}-{self.sample}"


def plan_jobs(
    generators: Sequence[AnyGenerator],
    entries: Sequence[PromptEntry],
    *,
    samples: int,
    size: tuple[int | None, int | None],
    seed: int,
    seeded: Sequence[bool],
) -> Iterator[Job]:
    """Yield all images, one generator after the other; ``seeded`` says which generators are sent a seed.

    The seed of an image depends on the study's seed, the prompt and the sample only: all generators get the same
    (so that they can be compared pairwise), and added prompts or samples change none.
    """
    for generator, has_seed in zip(generators, seeded, strict=True):
        for entry in entries:
            for sample in range(samples):
                request = ImageRequest(
                    prompt=generator.template.replace("{prompt}", entry.text),
                    seed=image_seed(seed, entry.prompt, sample) if has_seed else None,
                    width=generator.width or size[0],
                    height=generator.height or size[1],
                    settings={} if has_seed else {"sample": sample},
                )
                yield Job(generator, entry, sample, request)


def image_seed(seed: int, prompt: str, sample: int) -> int:
    """Return the seed of an image.

    >>> image_seed(0, "ba792b3ff0f6", 0)
    951634831
    """
    digest = hashlib.sha256(f"{seed} {prompt} {sample}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % SEEDS
