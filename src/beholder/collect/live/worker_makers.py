"""What makes live results: generators and scorers behind worker processes, loaded only where a study has them."""

import logging
from pathlib import Path

from beholder.collect.live.makers import LIVE_SECONDS, Made, Maker, Order
from beholder.errors import RefusalError, UserError
from beholder.generators.catalogue import open_generator
from beholder.generators.checked import check_image
from beholder.images.decode import quiet_pillow
from beholder.study.generating import AnyGenerator
from beholder.workers.bundled import bundled_command
from beholder.workers.child import ChildConnection
from beholder.workers.client import Worker
from beholder.workers.connection import Limits
from beholder.workers.messages import ImageRequest

faults = logging.getLogger(__name__)


def generator_maker(settings: AnyGenerator, folder: Path) -> Maker:
    """A generator of the study; its process starts with the first order."""
    limited = settings.model_copy(update={"timeout": min(settings.timeout, LIVE_SECONDS)})
    generator = open_generator(limited, folder)

    def make(order: Order) -> Made:
        prompt = settings.template.replace("{prompt}", order.prompt)
        request = ImageRequest(prompt=prompt, seed=order.seed, width=settings.width, height=settings.height)
        try:
            with quiet_pillow():
                return Made("made", image=check_image(generator.generate(request).content, request))
        except RefusalError as refusal:
            return Made("refused", str(refusal))
        except UserError as error:
            faults.warning("%s failed on a live prompt: %s", settings.name, error)
            return Made("failed", "the generator failed; please try again, or write another prompt")

    return make


def scorer_maker(name: str, folder: Path) -> Maker:
    """A scorer by name, or a trained model by its folder, in a process of its own."""
    place = folder / name
    command = bundled_command("scorer", str(place) if place.is_dir() else name)
    worker = Worker(ChildConnection(command, limits=Limits(reply_seconds=LIVE_SECONDS), folder=folder))

    def make(order: Order) -> Made:
        try:
            files = [file.read_bytes() for file in order.files]
            scores = worker.score(files, [order.prompt] * len(files))
        except (UserError, OSError) as error:
            faults.warning("%s failed on live images: %s", name, error)
            return Made("failed", "the scorer failed; please try again")
        better = worker.identity.settings.get("better")
        sign = -1.0 if better == "lower" else 1.0
        return Made("made", scores=tuple(sign * float(score) for score in scores))

    return make
