"""The synthetic world's painter as a worker: equal seeds give equal bytes, and other prompts are refused."""

import argparse
import io

import numpy as np
import pytest
from PIL import Image

from beholder.errors import RefusalError, UserError, WorkerError
from beholder.simulate.grammar import parse_prompt
from beholder.simulate.painter import paint
from beholder.simulate.painter_worker import POLICIES, load, paint_image
from beholder.workers.bundled import bundled_command
from beholder.workers.child import ChildConnection
from beholder.workers.client import Worker
from beholder.workers.messages import ImageRequest

PROMPT = "three small yellow balls, in a meadow, photo style"


def test_the_worker_paints_what_the_painter_paints() -> None:
    request = ImageRequest(prompt=PROMPT, seed=5, width=64, height=64)
    with Worker(ChildConnection(bundled_command("painter", "ember"))) as worker:
        reply = worker.generate(request)
        assert worker.identity.settings["policy"]["name"] == "ember"
        assert worker.generate(request).content == reply.content
        assert worker.generate(request.model_copy(update={"seed": 6})).content != reply.content
        with pytest.raises(RefusalError, match="not a prompt of the synthetic world"):
            worker.generate(ImageRequest(prompt="a castle in the clouds"))
        with pytest.raises(WorkerError, match="size of a picture is 16 pixels"):
            worker.generate(request.model_copy(update={"width": 16, "height": 16}))
        assert reply.usage.cpu_seconds is not None
    pixels = np.asarray(Image.open(io.BytesIO(reply.content)))
    picture = paint(parse_prompt(PROMPT), POLICIES["ember"], size=64, rng=np.random.default_rng([5, 13]))
    np.testing.assert_array_equal(pixels, picture.pixels)


def test_it_paints_squares_only() -> None:
    with pytest.raises(RefusalError, match="64 × 32: the synthetic world paints squares only"):
        paint_image(ImageRequest(prompt=PROMPT, width=64, height=32), POLICIES["aurora"])


def test_a_policy_that_is_not_known() -> None:
    with pytest.raises(UserError, match=r"policy 'aurra' is not known.*Did you mean 'aurora'"):
        load(argparse.Namespace(policy="aurra"))
