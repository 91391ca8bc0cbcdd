from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch

from beholder.errors import LabelsError
from beholder.feedback.heatmap import decode_heatmap
from beholder.learn.feed import Pictures
from beholder.learn.rich.examples import RichJudged, heatmap_aspects, rich_judged
from beholder.learn.rich.exchange import Exchanges, exchanges
from beholder.learn.rich.feed import RichFeed, rich_batch
from beholder.learn.rich.maps import SizedMaps
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
def judged(rich_study: Path) -> RichJudged:
    return rich_judged(Store(rich_study))


def model() -> RichFeedbackModel:
    torch.manual_seed(0)
    return RichFeedbackModel(
        RichFeedbackSettings(
            image=ImageTower(side=32, patch=8, width=16, layers=1, heads=2),
            text=TextModel(width=16, head_width=8, heads=2, inner=16, layers=1, decoder_layers=1, longest=32),
            heads=Heads(heatmap=(8,), score=(8,), dense=()),
        )
    )


def test_everything_people_said_is_there(judged: RichJudged) -> None:
    assert len(judged.examples) == len(judged.items) == 40  # 6 people × 20 images / 3 people an image
    assert judged.aspects == ("aesthetics", "alignment", "overall", "plausibility")
    assert heatmap_aspects(judged) == ("implausibility", "misalignment")
    for one in judged.examples.values():
        assert set(one.scores) == set(judged.aspects)
        assert all(0 <= score <= 1 for score in one.scores.values())
        assert one.misaligned is not None
        assert len(one.misaligned) == len(split_words(one.prompt))
    assert any(any(one.misaligned or ()) for one in judged.examples.values())


def test_scores_are_shares_of_the_scale(judged: RichJudged) -> None:
    thirds = {round(score * 12) for one in judged.examples.values() for score in one.scores.values()}
    assert thirds <= set(range(13))  # means of three whole scores from 1 to 5
    assert len(thirds) > 5


def test_a_batch_holds_maps_at_the_networks_size(judged: RichJudged) -> None:
    one = model()
    mine = list(judged.examples.values())[:6]
    batch = rich_batch(mine, one, Pictures(judged.paths), SizedMaps(judged, 8))
    assert batch.pixels.shape == (6, 3, 32, 32)
    assert batch.heatmaps.shape == (6, 2, 8, 8)
    assert batch.prompts == tuple(each.prompt for each in mine)
    assert torch.isfinite(one.loss(batch))
    for place, each in enumerate(mine):
        whole = decode_heatmap(judged.maps[each.image, "implausibility"])
        assert float(batch.heatmaps[place, 0].mean()) == pytest.approx(whole.mean(), abs=0.02)


def test_maps_are_the_same_with_and_without_room_to_keep_them(judged: RichJudged) -> None:
    aspects = ("misalignment", "implausibility")
    kept, fleeting = SizedMaps(judged, 8), SizedMaps(judged, 8, cache_bytes=0)
    for one in list(judged.examples.values())[:6]:
        first, again, never = kept.of(one, aspects), kept.of(one, aspects), fleeting.of(one, aspects)
        assert (first == again).all()
        assert (first == never).all()
        assert first.max() <= 1
        first[:] = 9  # what was given away is the taker's
        assert (kept.of(one, aspects) == again).all()


def test_what_was_not_asked_is_nan(judged: RichJudged) -> None:
    first = next(iter(judged.examples.values()))
    bare = type(first)(first.image, first.prompt, {}, None, ())
    batch = rich_batch([bare], model(), Pictures(judged.paths), SizedMaps(judged, 8))
    assert batch.heatmaps.isnan().all()
    assert batch.scores.isnan().all()
    assert batch.misaligned == (None,)
    assert model().loss(batch).item() == 0


def test_batches_follow_from_the_step_alone(judged: RichJudged) -> None:
    def feed() -> RichFeed:
        examples = list(judged.examples.values())
        return RichFeed(
            model(), Pictures(judged.paths), SizedMaps(judged, 8), examples, 8, 2, 3, Augmentation(crop=1)
        )

    one, again = feed(), feed()
    assert one.steps_an_epoch == 5
    for step, part in ((7, 1), (0, 0), (7, 1)):
        first, second = one(step, part), again(step, part)
        assert (first.pixels == second.pixels).all()
        assert (first.heatmaps == second.heatmaps).all()
        assert first.prompts == second.prompts
    seen = {name for step in range(5) for part in range(2) for name in _images(one, step, part)}
    assert len(seen) == 40
    assert not (one(0, 0).pixels == one(5, 0).pixels).all()


def words_of_the_world() -> Exchanges:
    """Every word fits where any of many prompts has it, and each is missed at times."""
    texts = [prompt_text(request) for request in draw_requests(3000, np.random.default_rng(0))]
    counts = [len(split_words(text)) for text in texts]
    one_each = [tuple(place == n % count for place in range(count)) for n, count in enumerate(counts)]
    return exchanges(zip(texts, one_each, strict=True))


def test_exchanged_prompts_leave_what_depends_on_them_unknown(judged: RichJudged) -> None:
    examples = list(judged.examples.values())
    known = words_of_the_world()
    plain = RichFeed(
        model(), Pictures(judged.paths), SizedMaps(judged, 8), examples, 20, 1, 3, Augmentation(crop=0)
    )
    mixed = replace(plain, exchanges=known, exchanged=0.5)
    before, after = plain(0, 0), mixed(0, 0)
    changed = [one != other for one, other in zip(before.prompts, after.prompts, strict=True)]
    assert 3 < sum(changed) < 17
    aspects = model().settings.scores
    for place, here in enumerate(changed):
        unknown = {aspect for aspect, score in zip(aspects, after.scores[place], strict=True) if score.isnan()}
        assert unknown == ({"alignment", "overall"} if here else set())
        assert bool(after.heatmaps[place, 1].isnan().all()) == here
        assert not after.heatmaps[place, 0].isnan().any()
        assert sum(after.misaligned[place] or ()) == sum(before.misaligned[place] or ()) + here


def test_no_words_are_exchanged_in_the_last_passes(judged: RichJudged) -> None:
    examples = list(judged.examples.values())
    plain = RichFeed(
        model(), Pictures(judged.paths), SizedMaps(judged, 8), examples, 20, 1, 3, Augmentation(crop=0)
    )
    mixed = replace(plain, exchanges=words_of_the_world(), exchanged=1.0, plain_from=1.5)
    assert plain.steps_an_epoch == 2
    same = [mixed(step, 0).prompts == plain(step, 0).prompts for step in range(4)]
    assert same == [False, False, False, True]


def test_more_words_of_a_prompt_are_exchanged(judged: RichJudged) -> None:
    examples = list(judged.examples.values())
    known = words_of_the_world()
    plain = RichFeed(
        model(), Pictures(judged.paths), SizedMaps(judged, 8), examples, 20, 1, 3, Augmentation(crop=0)
    )
    before, once, often = (
        one(0, 0)
        for one in (
            plain,
            replace(plain, exchanges=known, exchanged=1.0),
            replace(plain, exchanges=known, exchanged=1.0, again=0.7),
        )
    )
    marks = [[sum(words or ()) for words in each.misaligned] for each in (before, once, often)]
    added = [np.subtract(each, marks[0]) for each in marks[1:]]
    assert added[0].max() == 1
    assert added[1].max() > 1
    assert (added[1] >= added[0]).all()


def _images(feed: RichFeed, step: int, part: int) -> list[float]:
    return [round(float(pixels.mean()), 6) for pixels in feed(step, part).pixels]


def test_words_that_are_not_the_prompts_are_left_out(rich_study: Path) -> None:
    store = Store(rich_study)
    labels = store.read("labels")
    image = labels.filter(pl.col("word").is_not_null())["image"][0]
    wrong = labels.with_columns(
        word=pl.when((pl.col("image") == image) & (pl.col("word") == 0)).then(99).otherwise("word")
    )
    store.write({"labels": wrong}, Provenance("consolidate", {}, 0, {}))
    found = rich_judged(store)
    assert found.examples[image].misaligned is None
    assert sum(one.misaligned is None for one in found.examples.values()) == 1


def test_refused(painted_study: Callable[..., Path]) -> None:
    folder = painted_study(RatingQuestion(name="mos", design=Design(raters=4, trials=10)))
    with pytest.raises(LabelsError, match="questions of rich feedback: none; expected exactly one"):
        rich_judged(Store(folder))
    with pytest.raises(LabelsError, match="expected one named 'other'"):
        rich_judged(Store(painted_study(RichFeedbackQuestion(name="feedback"))), "other")
