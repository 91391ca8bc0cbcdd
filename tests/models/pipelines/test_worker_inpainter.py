"""Inpainting over the wire: what comes back is what the inpainter paints, and faults are named."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

from beholder.errors import UserError, WorkerError
from beholder.improve.inpainters import load_inpainter
from beholder.improve.tuning import inpainting_worker
from beholder.models.pipelines.flow_inpainter import FlowInpainter
from beholder.models.pipelines.inpainter import Mask, Pixels, inpaint_within
from beholder.models.pipelines.pixel_flow.generator import PixelFlowGenerator
from beholder.models.pipelines.pixel_flow.network import PixelFlowNetwork, PixelFlowSettings
from beholder.models.pipelines.pixel_flow.training import save_pixel_flow
from beholder.models.pipelines.worker_inpainter import WorkerInpainter, serve_inpainter
from beholder.workers.client import Worker
from beholder.workers.frames import Frame
from beholder.workers.identity import Identity
from beholder.workers.service import Service, reply_to


class Nearby:
    """A connection to a service in this process."""

    label = "nearby"

    def __init__(self, service: Service) -> None:
        self.service = service
        self.closed = False

    def open(self) -> Identity:
        return self.service.identity()

    def exchange(self, request: Frame) -> Frame:
        return reply_to(request, self.service)

    def close(self) -> None:
        self.closed = True


class Seeded:
    """Paints every pixel with the seed; the number of masked pixels stands in the first one."""

    identity = "seeded"

    def inpaint(
        self, images: Sequence[Pixels], masks: Sequence[Mask], prompts: Sequence[str], seeds: Sequence[int]
    ) -> list[Pixels]:
        painted = [np.full_like(image, seed) for image, seed in zip(images, seeds, strict=True)]
        for image, mask, prompt in zip(painted, masks, prompts, strict=True):
            image[0, 0] = (mask.sum(), len(prompt), image[0, 0, 2])
        return painted


def test_images_masks_prompts_and_seeds_arrive() -> None:
    inpainter = WorkerInpainter(Worker(Nearby(Service("seeded", inpaint=serve_inpainter(Seeded())))))
    assert inpainter.identity == "seeded"
    images = [np.full((4, 6, 3), 9, np.uint8), np.zeros((5, 3, 3), np.uint8)]
    masks = [np.zeros((4, 6), bool), np.ones((5, 3), bool)]
    masks[0][:2, :3] = True
    first, second = inpainter.inpaint(images, masks, ["a ball", "two"], [7, 8])
    assert (first.shape, second.shape) == ((4, 6, 3), (5, 3, 3))
    assert (first[0, 0].tolist(), second[0, 0].tolist()) == ([6, 6, 7], [15, 3, 8])
    assert (first[1:] == 7).all()
    outside = inpaint_within(inpainter, images[:1], masks[:1], ["a ball"], [7])[0]
    assert (outside[~masks[0]] == 9).all()


def test_a_worker_ends_with_its_inpainter() -> None:
    connection = Nearby(Service("seeded", inpaint=serve_inpainter(Seeded())))
    inpainter = WorkerInpainter(Worker(connection))
    assert not connection.closed
    del inpainter
    assert connection.closed


@pytest.mark.parametrize(
    ("service", "message"),
    [
        (Service("blind", embed=lambda texts: np.zeros((len(texts), 2), np.float32)), "cannot inpaint"),
        (Service("few", inpaint=lambda *_: []), "1 images are expected, found 0 blobs"),
        (Service("text", inpaint=lambda *_: [b"no image"]), "text: not an image"),
    ],
)
def test_what_a_worker_does_wrong_is_named(service: Service, message: str) -> None:
    image, mask = np.zeros((4, 4, 3), np.uint8), np.ones((4, 4), bool)
    with pytest.raises(WorkerError, match=message):
        WorkerInpainter(Worker(Nearby(service))).inpaint([image], [mask], ["a"], [1])


@pytest.mark.parametrize("header", [{"prompts": ["a"]}, {"prompts": ["a"], "seeds": [1, 2]}])
def test_a_request_with_a_part_missing_is_refused(header: dict[str, object]) -> None:
    service = Service("seeded", inpaint=serve_inpainter(Seeded()))
    reply = reply_to(Frame({"id": 1, "task": "inpaint", **header}, (b"", b"")), service)
    assert "one of each per image" in str(reply.header["error"])
    short = reply_to(Frame({"id": 1, "task": "inpaint", "prompts": ["a"], "seeds": [1]}, (b"",)), service)
    assert "1 images and their masks are expected, found 1 blobs" in str(short.header["error"])


def test_the_bundled_worker_paints_as_the_flow_does(tmp_path: Path) -> None:
    torch.manual_seed(0)
    settings = PixelFlowSettings(vocabulary=("ball", "red"))
    save_pixel_flow(tmp_path, PixelFlowNetwork(settings), settings)
    arguments = inpainting_worker.parser().parse_args([f"pixel-flow:{tmp_path}"])
    remote = WorkerInpainter(Worker(Nearby(inpainting_worker.load(arguments))))
    image, mask = np.full((32, 32, 3), 90, np.uint8), np.zeros((32, 32), bool)
    mask[8:20, 8:20] = True
    here = FlowInpainter(PixelFlowGenerator(tmp_path))
    assert remote.identity == here.identity
    expected, painted = (each.inpaint([image], [mask], ["red ball"], [3])[0] for each in (here, remote))
    assert np.array_equal(expected, painted)


def test_a_worker_by_its_command_or_its_address() -> None:
    assert isinstance(load_inpainter("worker:python paint.py --fast"), WorkerInpainter)
    assert isinstance(load_inpainter("worker:http://127.0.0.1:9"), WorkerInpainter)
    with pytest.raises(UserError, match="a command, or an address"):
        load_inpainter("worker:")
