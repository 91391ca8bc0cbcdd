"""A trainable generator as a worker: ``python -m beholder.improve.tuning.worker GENERATOR``.

It generates like any other worker. With ``--scorer`` its samples are guided by the scorer's gradient, in this
process; with ``--lora`` it is the generator as ``beholder improve tune`` left it.
"""

import argparse
import io
import sys
from pathlib import Path

import torch

from beholder.errors import RefusalError, UserError
from beholder.improve.tuning.generators import load_trainable
from beholder.improve.tuning.guide import GuideSettings, guided_sample
from beholder.improve.tuning.reward import Reward, load_reward, pictures
from beholder.models.pipelines.generator import TrainableGenerator
from beholder.models.pipelines.sampling import sample
from beholder.workers.messages import ImageReply, ImageRequest
from beholder.workers.serve import main
from beholder.workers.service import Service


def load(arguments: argparse.Namespace) -> Service:
    """Load the generator, and the scorer that guides it."""
    generator = load_trainable(arguments.generator, Path(arguments.lora) if arguments.lora else None)
    reward = load_reward(arguments.scorer) if arguments.scorer else None
    settings = GuideSettings(strength=arguments.strength, iterations=arguments.noise_steps)
    identity = generator.identity
    guided = {} if reward is None else {"scorer": reward.identity, "strength": arguments.strength}
    return Service(
        name=identity.name,
        weights=identity.weights,
        settings={**identity.settings, **guided, "noise_steps": arguments.noise_steps, "torch": torch.__version__},
        generate=lambda request: generate(request, generator, reward, settings),
    )


def generate(
    request: ImageRequest, generator: TrainableGenerator, reward: Reward | None, settings: GuideSettings
) -> ImageReply:
    """Generate one image; a prompt that the generator cannot read is a refusal."""
    prompts, seeds = [request.prompt], [request.seed or 0]
    try:
        if reward is None:
            with torch.no_grad():
                drawn = sample(generator, prompts, seeds)
        else:
            drawn = guided_sample(generator, reward, prompts, seeds, settings)
    except UserError as error:
        raise RefusalError(str(error)) from error
    (image,) = pictures(drawn.images)
    size = (request.width or image.width, request.height or image.height)
    if size != image.size:
        raise RefusalError(f"{size[0]} × {size[1]}: this generator makes {image.width} × {image.height}")
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=1)
    return ImageReply(file.getvalue())


def parser() -> argparse.ArgumentParser:
    """The arguments of the worker."""
    arguments = argparse.ArgumentParser(description="Generates by a generator that can be guided and tuned.")
    arguments.add_argument("generator", help="painted[:SIZE], pixel-flow:FOLDER or diffusers:MODEL")
    arguments.add_argument("--lora", help="folder of a LoRA that `beholder improve tune` wrote")
    arguments.add_argument("--scorer", help="guides the samples: a scorer with gradients")
    arguments.add_argument("--strength", type=float, default=0.1, help="of guidance")
    arguments.add_argument("--noise-steps", type=int, default=0, help="iterations of optimising the noise")
    return arguments


if __name__ == "__main__":
    sys.exit(main(parser(), load))
