"""Speed of rich feedback against the bare network and single tasks: ``python benchmarks/run.py rich_inference``.

The network has a ViT of 8 layers, a T5 of 4 + 4, both 256 wide, and seven heads; it sees 224 pixels and is random.
Its decoder marks a quarter of the words, many more than raters do. The bare forward is tower, encoder, heads and
one pass of the decoder on prepared tensors, all images at once or in portions as ours. Heatmaps are compared by
six measures at once, against the formulas one by one. ``docs/measured/rich-inference.md`` is a saved run.
"""

from collections.abc import Callable, Iterator

import numpy as np
import torch
from harness import Comparison
from numpy.typing import NDArray
from scipy.stats import pearsonr
from sklearn.metrics import roc_auc_score

from beholder.models.rich_feedback.export import ExportableNetwork
from beholder.models.rich_feedback.keywords import decoder_targets, mark_prompt
from beholder.models.rich_feedback.model import CPU_BATCH, RichFeedbackModel
from beholder.models.rich_feedback.settings import KEYWORDS, Heads, ImageTower, RichFeedbackSettings, TextModel
from beholder.models.rich_feedback.tokenizer import pad_token_ids
from beholder.stats.prediction.heatmap_agreement import EPSILON, heatmap_agreement

IMAGES = 64
WORDS = ("a", "and", "black", "blue", "cat", "dog", "four", "in", "left", "of", "on", "red", "snow", "the", "two")
MAPS, SIDE, TOGETHER = 1_000, 512, 100
"""Heatmaps that are compared, so many at a time: all together would need 2 GB."""

Maps = NDArray[np.float32]


def comparisons() -> Iterator[Comparison]:
    model = _model()
    pixels, prompts = _shown(model)
    name = "rich feedback (ViT 256 × 8, T5 256 × 4 + 4, 224 px)"
    for size, how in ((IMAGES, "all at once"), (CPU_BATCH, f"in portions of {CPU_BATCH}")):
        starts = range(0, IMAGES, size)
        forwards = [_bare(model, pixels[at : at + size], prompts[at : at + size]) for at in starts]
        yield Comparison(
            f"{name}, seven outputs for {IMAGES} images, against the bare forward, {how}",
            lambda: model.feedback(pixels, prompts),
            lambda forwards=forwards: [forward() for forward in forwards],  # type: ignore[misc]
            "torch",
            turns=3,
        )
    yield Comparison(
        f"{name}, seven outputs for {IMAGES} images, against one task after the other, each from pixels",
        lambda: model.feedback(pixels, prompts),
        _one_by_one(model, pixels, prompts),
        "torch",
        turns=1,
    )
    predicted, marked = _maps()
    portions = MAPS // TOGETHER
    yield Comparison(
        f"{MAPS:,} heatmaps of {SIDE}² by six measures, two threads, against a plain loop",
        lambda: [heatmap_agreement(predicted, marked, threads=2) for _ in range(portions)],
        lambda: [_plain_measures(*both) for _ in range(portions) for both in zip(predicted, marked, strict=True)],
        "scikit-learn",
        turns=1,
    )


def _model() -> RichFeedbackModel:
    torch.manual_seed(0)
    settings = RichFeedbackSettings(
        image=ImageTower(width=256, layers=8, heads=4),
        text=TextModel(width=256, heads=4, inner=1024, layers=4, decoder_layers=4),
        heads=Heads(heatmap=(64, 32, 16, 8), score=(64, 32, 16), dense=(128,)),
        words=WORDS,
    )
    model = RichFeedbackModel(settings)
    model.module.eval()
    return model


def _shown(model: RichFeedbackModel) -> tuple[torch.Tensor, list[str]]:
    rng = np.random.default_rng(0)
    side = model.settings.image.side
    pixels = torch.randn(IMAGES, 3, side, side, generator=torch.Generator().manual_seed(0))
    return pixels, [" ".join(rng.choice(WORDS, rng.integers(8, 17))) for _ in range(IMAGES)]


def _bare(model: RichFeedbackModel, pixels: torch.Tensor, prompts: list[str]) -> Callable[[], object]:
    encoded = [model.tokenizer.encode_prompt(prompt, model.settings.text.longest) for prompt in prompts]
    token_ids, mask = pad_token_ids([prompt_ids for prompt_ids, _ in encoded], model.tokenizer)
    decoder_ids, _ = decoder_targets(
        [mark_prompt(words, [False] * len(words), model.tokenizer) for _, words in encoded], model.tokenizer
    )
    network = ExportableNetwork(model.module)

    @torch.inference_mode()
    def forward() -> object:
        return network(pixels, token_ids, mask, decoder_ids)

    return forward


def _one_by_one(model: RichFeedbackModel, pixels: torch.Tensor, prompts: list[str]) -> Callable[[], object]:
    """Seven models of one output each would do this: the tower and the encoder for every task."""
    settings = model.settings
    single_outputs = [{"heatmaps": (aspect,), "scores": (), "keywords": False} for aspect in settings.heatmaps]
    single_outputs += [{"heatmaps": (), "scores": (aspect,), "keywords": False} for aspect in settings.scores]
    single_outputs += [{"heatmaps": (), "scores": (), KEYWORDS: True}]
    models = []
    for outputs in single_outputs:
        single = RichFeedbackModel(settings.model_copy(update=outputs))
        names = single.module.state_dict()
        single.module.load_state_dict({name: model.module.state_dict()[name] for name in names})
        models.append(single)
    return lambda: [single.feedback(pixels, prompts) for single in models]


def _maps() -> tuple[Maps, Maps]:
    """Smooth predictions, and disks that up to three raters marked."""
    rng = np.random.default_rng(0)
    y, x = np.mgrid[:SIDE, :SIDE].astype(np.float32) / SIDE
    predicted, marked = np.empty((2, TOGETHER, SIDE, SIDE), np.float32)
    for index in range(TOGETHER):
        squares = [(x - centre_x) ** 2 + (y - centre_y) ** 2 for centre_x, centre_y in rng.random((3, 2))]
        marked[index] = np.mean([distances < 0.05**2 for distances in squares], 0)
        predicted[index] = np.max([np.exp(-distances / 0.02) for distances in squares[1:]], 0)
    return predicted, marked


def _plain_measures(predicted: Maps, marked: Maps) -> tuple[float, ...]:
    """The formulas one after the other, in double precision."""
    p, g = predicted.ravel().astype(np.float64), marked.ravel().astype(np.float64)
    fixated = g > 0
    p_density, g_density = p / p.sum(), g / g.sum()
    return (
        float(np.mean((p - g) ** 2)),
        float(pearsonr(p, g).statistic),
        float(np.sum(g_density * np.log(EPSILON + g_density / (p_density + EPSILON)))),
        float(np.minimum(p_density, g_density).sum()),
        float(((p - p.mean()) / p.std())[fixated].mean()),
        float(roc_auc_score(fixated, p)),
    )
