"""The mean over the parts of a batch is the loss of the batch, for every architecture."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch
from tests.models.rich_feedback.test_model import TINY
from tests.models.rich_feedback.test_model import batch as rich_batch

from beholder.errors import LabelsError
from beholder.models.architectures import architecture
from beholder.models.division import Division, part_weight
from beholder.models.rich_feedback.cnn import CnnSettings, RichCnn
from beholder.models.rich_feedback.grounded.model import GroundedModel
from beholder.models.rich_feedback.grounded.settings import GroundedSettings
from beholder.models.rich_feedback.model import RichFeedbackModel
from beholder.models.rich_feedback.settings import Heads, Losses
from beholder.models.rich_feedback.trainable import RichBatch
from beholder.models.trainable import Batch, Trainable
from beholder.tables.provenance import Plain

PROMPTS = ["a b", "c"]
PAIRS = ((0, 1, 1.0, 0.5), (2, 3, 0.25, 1.0), (4, 5, 0.5, 2.0), (6, 7, 0.0, 0.25), (8, 9, 0.75, 1.5))
"""Two images each, the proportion of votes for the first, and the weight; the third is a tie."""

TOWERS: dict[str, Plain] = {"image_size": 16, "patch_size": 8, "image_width": 16, "image_layers": 1}
TOWERS |= {"image_heads": 2, "text_width": 16, "text_layers": 1, "text_heads": 2}


def pairs(chosen: Sequence[int]) -> Batch:
    """A batch of these pairs, whose images also have ratings of two aspects, some of them unknown."""
    rows = [PAIRS[number] for number in chosen]
    images = [image for row in rows for image in row[:2]]
    draw = torch.Generator().manual_seed(3)
    pixels = torch.randn(10, 3, 16, 16, generator=draw)
    ratings = torch.rand(10, 2, generator=draw)
    ratings[[0, 5, 6], 1] = torch.nan
    answers = torch.tensor([2.0, 3, 0, 5, 4, 2, 3, 1, 0, 6])[:, None].expand(10, 2).clone()
    answers[ratings.isnan()] = 0
    return Batch(
        prompts=tuple(PROMPTS),
        pixels=pixels[images],
        prompt_of=torch.tensor([image % 2 for image in images]),
        pairs=torch.arange(len(images)).reshape(-1, 2),
        soft_labels=torch.tensor([row[2] for row in rows]),
        pair_weights=torch.tensor([row[3] for row in rows]),
        aspects=("quality", "alignment"),
        ratings=ratings[images],
        answers=answers[images],
    )


def parts_of(numbers: Sequence[int], parts: int) -> list[Batch]:
    cut = [pairs(numbers[part::parts]) for part in range(parts)]
    complete = pairs(numbers)
    return [replace(batch, division=Division(batch, complete, part, parts, 0)) for part, batch in enumerate(cut)]


def preference_model(name: str, **settings: Plain) -> Trainable[Batch]:
    torch.manual_seed(0)
    maker = architecture(name)
    model = maker.build(maker.configure(settings, PROMPTS, ["quality", "alignment"]), fresh=True)
    model.module.eval()
    return model


def value(loss: torch.Tensor) -> float:
    return float(loss.detach())


class TestJudgements:
    @pytest.mark.parametrize("parts", [2, 4])
    @pytest.mark.parametrize(
        ("name", "settings"),
        [
            ("two-tower", {"sizes": {**TOWERS, "embedding": 8}, "context": 8, "reduction": "mean"}),
            ("two-tower", {"sizes": {**TOWERS, "embedding": 8}, "context": 8, "reduction": "sum"}),
            ("image-reward", {"sizes": {**TOWERS, "dropout": 0.0}}),
            ("realism", {"side": 16, "widths": [8, 8]}),
        ],
    )
    def test_the_mean_over_parts(self, name: str, settings: dict[str, Plain], parts: int) -> None:
        model = preference_model(name, **settings)
        numbers = [0, 1, 2, 3, 4]
        losses = [model.loss(part) for part in parts_of(numbers, parts)]
        assert float(torch.stack(losses).detach().mean()) == pytest.approx(
            value(model.loss(pairs(numbers))), rel=1e-6
        )

    def test_a_part_with_ties_alone_has_no_loss(self) -> None:
        model = preference_model("image-reward", sizes={**TOWERS, "dropout": 0.0})
        first, second = parts_of([2, 0], 2)
        assert value(model.loss(first)) == 0
        assert value(model.loss(second)) / 2 == pytest.approx(value(model.loss(pairs([2, 0]))), rel=1e-6)
        with pytest.raises(LabelsError, match="ties"):
            model.loss(pairs([2]))


def test_weights_by_hand() -> None:
    # weights .5 and 1 + 2: 3.5 in all; two parts, so .5 · 2 / 3.5 and 3 · 2 / 3.5
    first = pairs([0])
    second = pairs([1, 2])
    complete = pairs([0, 1, 2])

    def count(labels: Batch) -> float:
        return float(labels.pair_weights.sum())

    weights = [
        part_weight(replace(batch, division=Division(batch, complete, part, 2, 0)), count)
        for part, batch in enumerate((first, second))
    ]
    assert weights == pytest.approx([1 / 3.5, 6 / 3.5])
    assert part_weight(complete, count) == 1


def rich_parts(batch: RichBatch, parts: int) -> list[RichBatch]:
    def rows(part: int) -> RichBatch:
        chosen = slice(part, None, parts)
        return replace(
            batch,
            pixels=batch.pixels[chosen],
            prompts=batch.prompts[chosen],
            heatmaps=batch.heatmaps[chosen],
            scores=batch.scores[chosen],
            misaligned=batch.misaligned[chosen],
        )

    labels = replace(batch, pixels=torch.empty(0), heatmaps=batch.heatmaps[:, :, :1, :1])
    cut = [rows(part) for part in range(parts)]
    return [replace(each, division=Division(each, labels, part, parts, 7)) for part, each in enumerate(cut)]


class TestRichFeedback:
    @pytest.mark.parametrize("parts", [2, 4])
    @pytest.mark.parametrize("writing", ["all", "choices"])
    @pytest.mark.parametrize("variant", ["multi-head", "augmented-prompt"])
    def test_the_mean_over_parts(self, variant: str, writing: str, parts: int) -> None:
        torch.manual_seed(0)
        losses = Losses.model_validate({"writing": writing, "naming": 2.0})
        model = RichFeedbackModel(TINY.model_copy(update={"variant": variant, "losses": losses}))
        complete = rich_batch()
        of_parts = torch.stack([model.loss(part) for part in rich_parts(complete, parts)])
        assert value(of_parts.mean()) == pytest.approx(value(model.loss(complete)), rel=1e-5)

    def test_drawn_tasks_do_not_depend_on_the_division(self) -> None:
        torch.manual_seed(0)
        settings = TINY.model_copy(update={"variant": "augmented-prompt", "tasks_per_image": 2})
        model = RichFeedbackModel(settings)
        model.module.train()
        in_two, in_four = (
            value(torch.stack([model.loss(part) for part in rich_parts(rich_batch(), parts)]).mean())
            for parts in (2, 4)
        )
        assert in_two == pytest.approx(in_four, rel=1e-5)

    def test_convolutions(self) -> None:
        torch.manual_seed(0)
        model = RichCnn(
            CnnSettings(side=32, widths=(8, 8), depths=(1, 1), heads=Heads(heatmap=(8,), score=(8,), dense=(8,)))
        )
        model.module.eval()
        complete = rich_batch()
        side = model.settings.map_side
        complete = replace(complete, heatmaps=complete.heatmaps[:, :, :1, :1].expand(-1, -1, side, side))
        of_parts = torch.stack([model.loss(part) for part in rich_parts(complete, 2)])
        assert value(of_parts.mean()) == pytest.approx(value(model.loss(complete)), rel=1e-5)

    def test_grounded(self) -> None:
        torch.manual_seed(0)
        model = GroundedModel(
            GroundedSettings(words=TINY.words, width=16, heads=2, layers=1, blocks=1, longest=24)
        )
        model.module.eval()
        complete = rich_batch()
        side = model.settings.map_side
        dims = int(model.encoders[0].dims)
        draw = torch.Generator().manual_seed(5)
        complete = replace(
            complete,
            pixels=torch.randn(4, dims, generator=draw),
            heatmaps=complete.heatmaps[:, :, :1, :1].expand(-1, -1, side, side),
        )
        of_parts = torch.stack([model.loss(part) for part in rich_parts(complete, 2)])
        assert value(of_parts.mean()) == pytest.approx(value(model.loss(complete)), rel=1e-5)
