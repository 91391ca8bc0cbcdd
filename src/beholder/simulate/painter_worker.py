"""The painter of the synthetic world as a worker: ``python -m beholder.simulate.painter_worker [POLICY]``.

Prompts are those of the synthetic world's grammar; others are refused, as a service would refuse what it cannot
paint. Equal seeds paint equal bytes.
"""

import argparse
import io
import sys
from dataclasses import asdict

import numpy as np
from PIL import Image

from beholder.errors import RefusalError, UserError, unknown_name
from beholder.simulate.grammar import parse_prompt
from beholder.simulate.painter import Picture, Policy, paint
from beholder.simulate.policies import GENERATORS
from beholder.workers.messages import ImageReply, ImageRequest
from beholder.workers.serve import main
from beholder.workers.service import Service

SIZE = 192
"""Pixels of a side where a request names none."""
POLICIES = {policy.name: policy for policy in GENERATORS}


def load(arguments: argparse.Namespace) -> Service:
    """Return the painter of a policy."""
    if arguments.policy not in POLICIES:
        raise UserError(unknown_name("policy", arguments.policy, POLICIES))
    policy = POLICIES[arguments.policy]
    return Service(
        name=f"painter-{policy.name}",
        settings={"policy": asdict(policy)},
        generate=lambda request: paint_image(request, policy),
    )


def paint_image(request: ImageRequest, policy: Policy) -> ImageReply:
    """Paint a prompt as PNG; its random generator is seeded by the request alone."""
    width, height = request.width or SIZE, request.height or SIZE
    if width != height:
        raise RefusalError(f"{width} × {height}: the synthetic world paints squares only")
    try:
        parse_prompt(request.prompt)
    except UserError as error:
        raise RefusalError(f"not a prompt of the synthetic world: {error}") from error
    picture = paint_again(request.prompt, policy, request.seed, width)
    file = io.BytesIO()
    Image.fromarray(picture.pixels).save(file, "PNG", compress_level=1)
    return ImageReply(file.getvalue())


def paint_again(prompt: str, policy: Policy, seed: int | None, size: int | None) -> Picture:
    """Return the picture of a request, with its ground truth: the same whenever it is painted."""
    rng = np.random.default_rng([seed or 0, 13])
    return paint(parse_prompt(prompt), policy, size=size or SIZE, rng=rng)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Paints prompts of the synthetic world, by frames on stdin.")
    parser.add_argument("policy", nargs="?", default="aurora", help=f"one of {', '.join(POLICIES)}")
    return parser


if __name__ == "__main__":
    sys.exit(main(_parser(), load))
