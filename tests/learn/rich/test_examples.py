from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch

from beholder.errors import LabelsError
from beholder.feedback.heatmap import decode_heatmap
from beholder.learn.data_loader import ImageCache
from beholder.learn.rich.data_loader import RichDataLoader, rich_batch
from beholder.learn.rich.examples import RichLabels, heatmap_aspects, read_rich_labels
from beholder.learn.rich.heatmaps import HeatmapCache
from beholder.learn.rich.word_exchange import WordExchanges, find_word_exchanges
from beholder.models.rich_feedback.augment import Augmentation
from beholder.models.rich_feedback.model import RichFeedbackModel
from beholder.models.rich_feedback.settings import Heads, ImageTower, RichFeedbackSettings, TextModel
from beholder.simulate.grammar import draw_requests, prompt_text
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.kinds.rich_feedback import RichFeedbackQuestion
from beholder.study.question import Design
from beholder.study.words import split_words
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store


@pytest.fixture
def rich_labels(rich_study: Path) -> RichLabels:
    return read_rich_labels(Store(rich_study))


def model() -> RichFeedbackModel:
    torch.manual_seed(0)
    return RichFeedbackModel(
        RichFeedbackSettings(
            image=ImageTower(side=32, patch=8, width=16, layers=1, heads=2),
            text=TextModel(width=16, head_width=8, heads=2, inner=16, layers=1, decoder_layers=1, longest=32),
            heads=Heads(heatmap=(8,), score=(8,), dense=()),
        )
    )


def test_all_labels_are_read(rich_labels: RichLabels) -> None:
    assert len(rich_labels.examples) == len(rich_labels.items) == 40  # 6 raters × 20 images / 3 raters per image
    assert rich_labels.aspects == ("aesthetics", "alignment", "overall", "plausibility")
    assert heatmap_aspects(rich_labels) == ("implausibility", "misalignment")
    for example in rich_labels.examples.values():
        assert set(example.scores) == set(rich_labels.aspects)
        assert all(0 <= score <= 1 for score in example.scores.values())
        assert example.misaligned is not None
        assert len(example.misaligned) == len(split_words(example.prompt))
    assert any(any(example.misaligned or ()) for example in rich_labels.examples.values())


def test_scores_are_proportions_of_the_scale(rich_labels: RichLabels) -> None:
    twelfths = {
        round(score * 12) for example in rich_labels.examples.values() for score in example.scores.values()
    }
    assert twelfths <= set(range(13))  # means of three whole scores from 1 to 5
    assert len(twelfths) > 5


def test_a_batch_holds_maps_at_the_networks_size(rich_labels: RichLabels) -> None:
    small_model = model()
    examples = list(rich_labels.examples.values())[:6]
    batch = rich_batch(examples, small_model, ImageCache(rich_labels.paths), HeatmapCache(rich_labels, 8))
    assert batch.pixels.shape == (6, 3, 32, 32)
    assert batch.heatmaps.shape == (6, 2, 8, 8)
    assert batch.prompts == tuple(example.prompt for example in examples)
    assert torch.isfinite(small_model.loss(batch))
    for index, example in enumerate(examples):
        heatmap = decode_heatmap(rich_labels.maps[example.image, "implausibility"])
        assert float(batch.heatmaps[index, 0].mean()) == pytest.approx(heatmap.mean(), abs=0.02)


def test_heatmaps_are_the_same_with_and_without_a_cache(rich_labels: RichLabels) -> None:
    aspects = ("misalignment", "implausibility")
    cached, uncached = HeatmapCache(rich_labels, 8), HeatmapCache(rich_labels, 8, cache_bytes=0)
    for example in list(rich_labels.examples.values())[:6]:
        first, again, decoded_again = (
            cached.resized(example, aspects),
            cached.resized(example, aspects),
            uncached.resized(example, aspects),
        )
        assert (first == again).all()
        assert (first == decoded_again).all()
        assert first.max() <= 1
        first[:] = 9  # changing the returned array leaves the cache as it is
        assert (cached.resized(example, aspects) == again).all()


def test_what_raters_were_not_asked_is_nan(rich_labels: RichLabels) -> None:
    first = next(iter(rich_labels.examples.values()))
    bare = type(first)(first.image, first.prompt, {}, None, ())
    batch = rich_batch([bare], model(), ImageCache(rich_labels.paths), HeatmapCache(rich_labels, 8))
    assert batch.heatmaps.isnan().all()
    assert batch.scores.isnan().all()
    assert batch.misaligned == (None,)
    assert model().loss(batch).item() == 0


def test_batches_follow_from_the_step_alone(rich_labels: RichLabels) -> None:
    def loader() -> RichDataLoader:
        examples = list(rich_labels.examples.values())
        return RichDataLoader(
            model(),
            ImageCache(rich_labels.paths),
            HeatmapCache(rich_labels, 8),
            examples,
            8,
            2,
            3,
            Augmentation(crop=1),
        )

    training, again = loader(), loader()
    assert training.steps_per_epoch == 5
    for step, part in ((7, 1), (0, 0), (7, 1)):
        first, second = training(step, part), again(step, part)
        assert (first.pixels == second.pixels).all()
        assert (first.heatmaps == second.heatmaps).all()
        assert first.prompts == second.prompts
    pixel_means = {mean for step in range(5) for part in range(2) for mean in _pixel_means(training, step, part)}
    assert len(pixel_means) == 40
    assert not (training(0, 0).pixels == training(5, 0).pixels).all()


def words_of_the_world() -> WordExchanges:
    """Every word fits where any of many prompts has it, and each is sometimes misaligned."""
    texts = [prompt_text(request) for request in draw_requests(3000, np.random.default_rng(0))]
    counts = [len(split_words(text)) for text in texts]
    one_each = [tuple(index == n % count for index in range(count)) for n, count in enumerate(counts)]
    return find_word_exchanges(zip(texts, one_each, strict=True))


def test_exchanged_prompts_leave_what_depends_on_them_unknown(rich_labels: RichLabels) -> None:
    examples = list(rich_labels.examples.values())
    exchanges = words_of_the_world()
    plain = RichDataLoader(
        model(),
        ImageCache(rich_labels.paths),
        HeatmapCache(rich_labels, 8),
        examples,
        20,
        1,
        3,
        Augmentation(crop=0),
    )
    mixed = replace(plain, exchanges=exchanges, exchanged=0.5)
    before, after = plain(0, 0), mixed(0, 0)
    changed = [
        prompt != exchanged_prompt for prompt, exchanged_prompt in zip(before.prompts, after.prompts, strict=True)
    ]
    assert 3 < sum(changed) < 17
    aspects = model().settings.scores
    for index, is_exchanged in enumerate(changed):
        unknown = {aspect for aspect, score in zip(aspects, after.scores[index], strict=True) if score.isnan()}
        assert unknown == ({"alignment", "overall"} if is_exchanged else set())
        assert bool(after.heatmaps[index, 1].isnan().all()) == is_exchanged
        assert not after.heatmaps[index, 0].isnan().any()
        assert sum(after.misaligned[index] or ()) == sum(before.misaligned[index] or ()) + is_exchanged
    assert after.image_heatmaps is not None  # for what does not depend on the prompt, nothing is unknown
    torch.testing.assert_close(after.image_heatmaps, before.heatmaps, atol=1e-3, rtol=0)
    assert after.image_scores is not None
    torch.testing.assert_close(after.image_scores, before.scores, equal_nan=True)
    by_image = after.for_image_alone
    assert by_image.heatmaps is after.image_heatmaps
    assert by_image.scores is after.image_scores


def test_no_words_are_exchanged_in_the_last_epochs(rich_labels: RichLabels) -> None:
    examples = list(rich_labels.examples.values())
    plain = RichDataLoader(
        model(),
        ImageCache(rich_labels.paths),
        HeatmapCache(rich_labels, 8),
        examples,
        20,
        1,
        3,
        Augmentation(crop=0),
    )
    mixed = replace(plain, exchanges=words_of_the_world(), exchanged=1.0, plain_from=1.5)
    assert plain.steps_per_epoch == 2
    same = [mixed(step, 0).prompts == plain(step, 0).prompts for step in range(4)]
    assert same == [False, False, False, True]


def test_more_words_of_a_prompt_are_exchanged(rich_labels: RichLabels) -> None:
    examples = list(rich_labels.examples.values())
    exchanges = words_of_the_world()
    plain = RichDataLoader(
        model(),
        ImageCache(rich_labels.paths),
        HeatmapCache(rich_labels, 8),
        examples,
        20,
        1,
        3,
        Augmentation(crop=0),
    )
    before, once, often = (
        training(0, 0)
        for training in (
            plain,
            replace(plain, exchanges=exchanges, exchanged=1.0),
            replace(plain, exchanges=exchanges, exchanged=1.0, again=0.7),
        )
    )
    marks = [[sum(words or ()) for words in flags.misaligned] for flags in (before, once, often)]
    added = [np.subtract(flags, marks[0]) for flags in marks[1:]]
    assert added[0].max() == 1
    assert added[1].max() > 1
    assert (added[1] >= added[0]).all()


def _pixel_means(loader: RichDataLoader, step: int, part: int) -> list[float]:
    return [round(float(pixels.mean()), 6) for pixels in loader(step, part).pixels]


def test_words_that_are_not_the_prompts_are_left_out(rich_study: Path) -> None:
    store = Store(rich_study)
    labels = store.read("labels")
    image = labels.filter(pl.col("word").is_not_null())["image"][0]
    wrong = labels.with_columns(
        word=pl.when((pl.col("image") == image) & (pl.col("word") == 0)).then(99).otherwise("word")
    )
    store.write({"labels": wrong}, Provenance("consolidate", {}, 0, {}))
    rich_labels = read_rich_labels(store)
    assert rich_labels.examples[image].misaligned is None
    assert sum(example.misaligned is None for example in rich_labels.examples.values()) == 1


def test_refused(painted_study: Callable[..., Path]) -> None:
    folder = painted_study(RatingQuestion(name="mos", design=Design(raters=4, trials=10)))
    with pytest.raises(LabelsError, match="questions of rich feedback: none; expected exactly one"):
        read_rich_labels(Store(folder))
    with pytest.raises(LabelsError, match="expected one named 'other'"):
        read_rich_labels(Store(painted_study(RichFeedbackQuestion(name="feedback"))), "other")
