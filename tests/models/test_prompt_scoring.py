"""A judge at work: prompts are read once, threads do not disturb each other, gradients reach the images."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import nn

from beholder.errors import UserError
from beholder.models.encoders.differentiable import prepare_tensors
from beholder.models.encoders.preprocessing import CLIP_MEAN, CLIP_STD, Preprocessing
from beholder.models.preference.two_tower import build, configure
from beholder.models.prompt_scoring import PromptScorer, select_device

SIDE = 16


class Counting:
    """A judge by hand: the mean of the image times the length of the prompt; it notes what it reads."""

    def __init__(self) -> None:
        self.module = nn.Linear(1, 1)
        self.preprocessing = Preprocessing("exact", SIDE, "bicubic")
        self.scale = 1.0
        self.calls: list[list[str]] = []
        self.failing = False

    def encode_prompts(self, prompts: Sequence[str]) -> torch.Tensor:
        self.calls.append(list(prompts))
        if self.failing:
            raise RuntimeError("no memory")
        return torch.tensor([[float(len(prompt))] for prompt in prompts])

    def encode_images(self, pixels: torch.Tensor) -> torch.Tensor:
        return pixels.mean((1, 2, 3))[:, None]

    def score(self, images: torch.Tensor, texts: torch.Tensor) -> torch.Tensor:
        return (images * texts)[:, 0]


@pytest.fixture
def pixels() -> NDArray[np.float32]:
    return np.random.default_rng(0).random((4, 3, SIDE, SIDE), np.float32)


class TestPrompts:
    def test_each_is_read_once(self, pixels: NDArray[np.float32]) -> None:
        network = Counting()
        scorer = PromptScorer(network, device="cpu")
        means = pixels.mean((1, 2, 3))
        assert scorer.scores(pixels, ["ab", "abc", "ab", "a"]) == pytest.approx(means * [2, 3, 2, 1])
        assert scorer.scores(pixels, ["a", "abc", "new", "ab"]) == pytest.approx(means * [1, 3, 3, 2])
        assert network.calls == [["ab", "abc", "a"], ["new"]]

    def test_by_many_threads_too(self, pixels: NDArray[np.float32]) -> None:
        network = Counting()
        scorer, together = PromptScorer(network, device="cpu"), Barrier(8)

        def work(first: int) -> bool:
            rng = np.random.default_rng(first)
            together.wait()
            for _ in range(50):
                lengths = rng.integers(1, 40, 4)
                scores = scorer.scores(pixels, ["x" * n for n in lengths])
                if not np.allclose(scores, pixels.mean((1, 2, 3)) * lengths):
                    return False
            return True

        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(work, range(8)))
        read = [prompt for call in network.calls for prompt in call]
        assert len(read) == len(set(read)) == 39

    def test_only_so_many_are_kept(self, pixels: NDArray[np.float32]) -> None:
        network = Counting()
        scorer = PromptScorer(network, device="cpu", cache_size=2)
        for prompt in ("a", "b", "a", "c", "a", "b"):
            scorer.scores(pixels[:1], [prompt])
        assert network.calls == [["a"], ["b"], ["c"], ["b"]]  # b was the one unused for longest when c came
        many = [f"{n}" for n in range(4)]
        assert scorer.scores(pixels, many).shape == (4,)  # more than are kept, in one batch

    def test_a_failure_is_told_and_tried_again(self, pixels: NDArray[np.float32]) -> None:
        network = Counting()
        scorer = PromptScorer(network, device="cpu")
        network.failing = True
        with pytest.raises(RuntimeError, match="no memory"):
            scorer.scores(pixels[:1], ["a"])
        network.failing = False
        assert scorer.scores(pixels[:1], ["a"]).shape == (1,)


class TestGradients:
    @pytest.mark.parametrize(
        "preprocessing",
        [
            Preprocessing("shortest", 12, "bicubic", 8, mean=CLIP_MEAN, std=CLIP_STD, rounded=False),
            Preprocessing("exact", 9, "bilinear", rounded=False),
            Preprocessing("longest", 10, "bicubic", mean=CLIP_MEAN, std=CLIP_STD, rounded=False),
            Preprocessing("exact", 40, "lanczos", rounded=False),
        ],
        ids=lambda preprocessing: preprocessing.fit,
    )
    def test_prepared_as_without_gradients(self, preprocessing: Preprocessing) -> None:
        rng = np.random.default_rng(1)
        smooth = Image.fromarray(rng.integers(60, 200, (3, 4, 3), dtype=np.uint8)).resize((40, 26))
        bytes_ = np.asarray(smooth)
        tensor = torch.from_numpy(bytes_.copy()).permute(2, 0, 1)[None].double() / 255
        expected = preprocessing.prepare(smooth)
        np.testing.assert_allclose(prepare_tensors(tensor, preprocessing)[0].numpy(), expected, atol=2e-5)

    def test_they_are_those_of_the_score(self) -> None:
        images = torch.rand(2, 3, 11, 9, dtype=torch.float64, requires_grad=True)
        scorer = PromptScorer(Counting(), device="cpu")
        assert torch.autograd.gradcheck(lambda x: scorer.differentiable(x, ["ab", "abc"]), images)

    def test_of_a_network_after_it_was_used_without_them(self) -> None:
        torch.manual_seed(0)
        sizes = {"image_size": SIDE, "patch_size": 8, "image_width": 16, "text_width": 16}
        scorer = PromptScorer(build(configure({"sizes": {**sizes}}, ["a red cat"], []), fresh=True), device="cpu")
        image = Image.fromarray(np.random.default_rng(0).integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8))
        plain = scorer.scores(scorer.preprocessing.prepare(image)[None], ["a red cat"])
        tensor = (torch.from_numpy(np.asarray(image).copy()).permute(2, 0, 1)[None] / 255).requires_grad_()
        score = scorer.differentiable(tensor, ["a red cat"])
        assert score.item() == pytest.approx(plain[0], rel=1e-4)  # at its own size nothing is rounded
        score.sum().backward()  # type: ignore[no-untyped-call]
        assert tensor.grad is not None
        uphill = scorer.differentiable(tensor + 1e-3 * tensor.grad.sign(), ["a red cat"])
        assert uphill.item() > score.item()

    def test_wrong_shapes(self) -> None:
        scorer = PromptScorer(Counting(), device="cpu")
        with pytest.raises(ValueError, match="as many prompts"):
            scorer.differentiable(torch.rand(2, 3, 8, 8), ["a"])
        with pytest.raises(ValueError, match=r"\(n, 3, height, width\)"):
            scorer.differentiable(torch.rand(1, 8, 8, 3), ["a"])


def test_devices() -> None:
    assert select_device("cpu").type == "cpu"
    with pytest.raises(UserError, match="device 'abacus' cannot be used here"):
        select_device("abacus")
    if not torch.cuda.is_available():
        with pytest.raises(UserError, match="cpu always can"):
            select_device("cuda")
