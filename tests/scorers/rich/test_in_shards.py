"""Rich feedback by an engine: what one process predicts, and all faults of all shards at once."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image
from tests.engines.pickling import PicklingEngine

from beholder.errors import ImageError
from beholder.images.sources import ImageSource, find_images
from beholder.scorers.rich.explain import Explanations, explain
from beholder.scorers.rich.in_shards import SHARD, NamedModels, explain_in_shards
from beholder.scorers.rich.members import load_members
from beholder.scorers.rich.rater_feedback import open_rater_feedback

SaveModel = Callable[..., Path]


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> list[ImageSource]:
    folder, rng = tmp_path_factory.mktemp("images"), np.random.default_rng(1)
    for number in range(SHARD + 3):
        Image.fromarray(rng.integers(0, 256, (20, 30, 3), np.uint8)).save(folder / f"{number:04d}.png")
    return list(find_images(folder))


def numbers(explanations: Explanations) -> bytes:
    """All that was predicted, as bytes."""
    rows = [image.model for image in explanations.explained]
    maps = [heatmap for row in rows for heatmap in row.heatmaps.values()]
    values = [score.value for row in rows for score in row.scores.values()]
    missed = [row.missed for row in rows if row.missed is not None]
    return b"".join(np.asarray(part).tobytes() for part in (*maps, values, *missed))


def test_shards_are_explained_as_all_images_are(images: list[ImageSource], save_model: SaveModel) -> None:
    folders, prompts = (save_model(0), save_model(1)), ["a red cat" for _ in images]
    engine, calls = PicklingEngine(), list[int]()
    sharded = explain_in_shards(
        engine, images, prompts, NamedModels(folders), progress=lambda done, _: calls.append(done)
    )
    direct = explain(images, prompts, load_members(folders), workers=1)
    assert engine.done == 2
    assert calls == [SHARD, SHARD + 3]
    assert [image.picture.name for image in sharded.explained] == [image.name for image in images]
    assert numbers(sharded) == numbers(direct)


def test_raters_feedback_is_looked_up_in_the_workers(rich_study: Path, save_model: SaveModel) -> None:
    pictures, folder = find_images(rich_study / "x.png", rich_study / "z.png"), save_model(0)
    models = NamedModels((folder,), study=rich_study)
    sharded = explain_in_shards(PicklingEngine(), pictures, [None, None], models)
    direct = explain(
        pictures, [None, None], load_members([folder]), rater_feedback=open_rater_feedback(rich_study), workers=1
    )
    assert sharded.to_frame("polars").equals(direct.to_frame("polars"))
    assert sharded.explained[0].people is not None


def test_a_stopped_run_goes_on(images: list[ImageSource], save_model: SaveModel, tmp_path: Path) -> None:
    models, prompts = NamedModels((save_model(0),)), ["a red cat" for _ in images]
    with pytest.raises(KeyboardInterrupt):
        explain_in_shards(PicklingEngine(most=2), images, prompts, models, folder=tmp_path)
    resumed, idle, other = PicklingEngine(), PicklingEngine(), PicklingEngine()
    explained = explain_in_shards(resumed, images, prompts, models, folder=tmp_path)
    assert resumed.done == 2  # the hashes, and the second shard
    direct = explain(images, prompts, load_members(models.folders), workers=1)
    again = explain_in_shards(idle, images, prompts, models, folder=tmp_path)
    assert idle.done == 1
    assert numbers(explained) == numbers(again) == numbers(direct)
    assert again.to_frame("polars").equals(direct.to_frame("polars"))
    explain_in_shards(other, images, ["a dog", *prompts[1:]], models, folder=tmp_path)
    assert other.done == 2  # of another prompt, the first shard is another one


def test_feedback_of_raters_is_kept_as_long_as_the_study_is_the_same(
    rich_study: Path, save_model: SaveModel, tmp_path: Path
) -> None:
    pictures, models = find_images(rich_study / "x.png", rich_study / "z.png"), NamedModels((save_model(0),))
    models, engines = replace(models, study=rich_study), [PicklingEngine() for _ in range(3)]
    first, second = (
        explain_in_shards(engine, pictures, [None, None], models, folder=tmp_path) for engine in engines[:2]
    )
    assert [engine.done for engine in engines] == [2, 1, 0]
    assert second.explained[0].people is not None
    assert second.to_frame("polars").equals(first.to_frame("polars"))
    for ours, theirs in zip(second.explained, first.explained, strict=True):
        assert (ours.picture.name, ours.prompt, ours.note) == (theirs.picture.name, theirs.prompt, theirs.note)
        for one, other in ((ours.model, theirs.model), (ours.people, theirs.people)):
            assert (one is None) == (other is None)
            if one is not None and other is not None:
                assert (dict(one.scores), one.people) == (dict(other.scores), other.people)
                assert {name: heatmap.tobytes() for name, heatmap in one.heatmaps.items()} == {
                    name: heatmap.tobytes() for name, heatmap in other.heatmaps.items()
                }
    labels = rich_study / "tables" / "labels.parquet"
    content = labels.read_bytes()
    pl.read_parquet(labels).head(1).write_parquet(labels)
    explain_in_shards(engines[2], pictures, ["a", "b"], models, folder=tmp_path)
    labels.write_bytes(content)
    assert engines[2].done == 2


def test_faults_of_all_shards_are_listed(images: list[ImageSource], save_model: SaveModel, tmp_path: Path) -> None:
    (tmp_path / "broken.png").write_bytes(b"no image")
    several = [*images, *find_images(tmp_path)]
    prompts = [None, *("a cat" for _ in several[1:])]
    with pytest.raises(ImageError, match=r"0000\.png: has no prompt(.|\n)*broken\.png"):
        explain_in_shards(PicklingEngine(), several, prompts, NamedModels((save_model(0),)))
