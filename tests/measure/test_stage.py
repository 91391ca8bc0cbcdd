"""The measure stage on a painted study with simulated raters' ratings."""

import logging
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.engines.pickling import PicklingEngine

from beholder.api.measuring import scorer_remarks
from beholder.errors import ImageError, TableError, UserError
from beholder.measure.correlations import generator_rows
from beholder.measure.joined import AgreementSettings
from beholder.measure.metric_values import of_scores
from beholder.measure.opinions import of_generators
from beholder.measure.settings import MeasureSettings
from beholder.measure.stage import run
from beholder.models.training_images import TrainingImages
from beholder.report.text.metric_verdict import verdicts
from beholder.scorers.catalogue import SCORERS, Weights
from beholder.scorers.scorer import Scorer
from beholder.study.kinds.rating import RatingQuestion
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store

QUICK = MeasureSettings(
    encoder="pixel", distances=("frechet", "kernel", "vendi"), scorers=("sharpness", "saturation", "prompt-length")
)


def rate(folder: Path, *, seed: int = 0) -> None:
    """Ratings and labels as the earlier stages would write them: generators rated in order, images at random."""
    store, rng = Store(folder), np.random.default_rng(seed)
    images = store.read("images").filter(~pl.col("real") & ~pl.col("gold"))
    generators = sorted(images["generator"].unique())
    question = {"question": "q", "aspect": "quality", "slice": "all"}
    ratings = [
        question
        | {"method": "mean-opinion", "generator": name, "rating": float(place), "se": 0.1, "level": 0.95}
        | {"rank_low": 1, "rank_high": 5, "answers": 24, "images": 24, "raters": 5}
        for place, name in enumerate(generators)
    ]
    labels = [
        {"question": "q", "aspect": "quality", "method": "mean", "image": image, "answers": 5, "raters": 5}
        | {"value": value, "low": value - 0.5, "high": value + 0.5}
        for image, value in zip(images["image"], rng.normal(size=images.height).tolist(), strict=True)
    ]
    store.write({"ratings": TABLES["ratings"].frame(ratings)}, Provenance("rank", {}, seed, {}))
    store.write({"labels": TABLES["labels"].frame(labels)}, Provenance("consolidate", {}, seed, {}))


@pytest.fixture
def study(painted_study: Callable[..., Path]) -> Path:
    folder = painted_study(RatingQuestion(name="q"), draws=200)
    rate(folder)
    return folder


def test_all_tables_are_written_and_an_unchanged_study_is_skipped(study: Path) -> None:
    outcome = run(study, measuring=QUICK)
    store = Store(study)
    images = store.read("images").filter(~pl.col("gold"))
    generated = images.filter(~pl.col("real"))
    assert outcome.rows["features"] == images.height
    assert store.read("features")["file"].str.starts_with("features/pixel-").all()
    prompted = images.filter(pl.col("prompt").is_not_null())
    assert outcome.rows["scores"] == 2 * images.height + prompted.height
    distances = store.read("distances")
    assert distances.height == 3 * generated["generator"].n_unique()
    assert (distances["low"] <= distances["value"]).all()
    alone = distances.filter(distance="vendi")
    assert (set(alone["reference"]), alone["reference_images"].null_count()) == ({"none"}, alone.height)
    correlations = store.read("correlations")
    assert set(correlations["metric"]) == {*QUICK.distances, *QUICK.scorers}
    assert set(correlations["level"]) == {"image", "generator"}
    assert correlations.filter(level="generator", statistic="kendall", metric="frechet")["items"].item() == 5
    assert store.read("metric_separations").height > 0
    assert len(verdicts(correlations, store.read("metric_separations"))) == 1
    assert run(study, measuring=QUICK).skipped


def test_new_answers_do_not_encode_images_again(study: Path) -> None:
    run(study, measuring=QUICK)
    before = Store(study).path("distances").stat().st_mtime_ns
    rate(study, seed=1)
    again = run(study, measuring=QUICK)
    assert set(again.rows) == {"correlations", "metric_separations"}
    assert Store(study).path("distances").stat().st_mtime_ns == before


def test_a_study_without_image_files_takes_published_figures(
    bare_study: Callable[..., Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = bare_study(RatingQuestion(name="q"), generators="abcdef")
    rate(folder)
    figures = tmp_path / "figures.csv"
    figures.write_text("generator,fd↓\n" + "".join(f"{name},{9 - place}\n" for place, name in enumerate("abcdef")))
    with caplog.at_level(logging.WARNING):
        run(folder, measuring=MeasureSettings(published=figures))
    assert "no image file is available" in caplog.text
    row = Store(folder).read("correlations").filter(statistic="spearman").row(0, named=True)
    assert (row["metric"], row["reference"], row["better"], row["value"]) == ("fd", "published", "lower", -1)
    figures.write_text("generator,fd↓\na,1\nb,2\n")
    assert not run(folder, measuring=MeasureSettings(published=figures)).skipped  # the file has changed


def test_without_real_images_one_line_names_what_is_left_out(
    study: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = Store(study)
    store.write({"images": store.read("images").filter(~pl.col("real"))}, Provenance("new", {}, 0, {}))
    parts = set()
    with caplog.at_level(logging.WARNING):
        run(study, measuring=QUICK, progress=lambda part, *_: parts.add(part))
    (line,) = [message for message in caplog.messages if "real images" in message]
    assert line == "the study has no real images, so these are left out: frechet, kernel"
    assert set(store.read("distances")["distance"]) == {"vendi"}
    assert parts == {"images", "distances", "comparisons with raters"}


def test_a_table_that_cannot_be_read_is_found_before_any_image_is(
    study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Store(study).path("ratings")
    pl.read_parquet(path).with_columns(colour=pl.lit("red")).write_parquet(path)
    monkeypatch.setattr("beholder.measure.stage.score", lambda *_, **__: pytest.fail("images were scored"))
    with pytest.raises(TableError, match="column 'colour' is not known"):
        run(study, measuring=QUICK)


def test_nothing_is_encoded_that_no_distance_needs(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(study)
    store.write({"images": store.read("images").filter(~pl.col("real"))}, Provenance("new", {}, 0, {}))
    monkeypatch.setattr("beholder.measure.stage.load_encoder", lambda *_: pytest.fail("an encoder was loaded"))
    outcome = run(study, measuring=replace(QUICK, distances=("frechet", "kernel")))
    assert outcome.rows["features"] == 0
    assert outcome.rows["scores"] > 0


def test_a_missing_image_is_listed_or_skipped(study: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = Store(study)
    images = store.read("images")
    lost = images.filter(~pl.col("gold"))["image"][0]
    moved = images.with_columns(path=pl.when(pl.col("image") == lost).then(pl.lit("gone.png")).otherwise("path"))
    store.write({"images": moved}, Provenance("new", {}, 1, {}))
    with pytest.raises(ImageError, match="no such file"):
        run(study, measuring=QUICK)
    assert not store.has("scores")
    skipping = MeasureSettings(encoder="pixel", distances=("kernel",), scorers=("sharpness",), skip_broken=True)
    run(study, measuring=skipping)
    assert lost not in store.read("scores")["image"]
    assert "1 broken images were left out" in caplog.text


def test_unknown_names_are_listed_at_once(study: Path) -> None:
    wrong = MeasureSettings(encoder="dino", distances=("fid",), scorers=("sharp",))
    with pytest.raises(UserError, match=r"(?s)encoder 'dino'.*pixel.*distance 'fid'.*frechet.*scorer 'sharp'"):
        run(study, measuring=wrong)


def predict(store: Store, scores: dict[str, float], better: str, *, held_out: bool = True) -> None:
    """A model ``mine`` with these predictions."""
    common = {"model": "mine", "fold": 0, "aspect": "quality", "better": better, "held_out": held_out}
    rows = [{**common, "image": image, "score": score} for image, score in scores.items()]
    store.write({"predictions": TABLES["predictions"].frame(rows)}, Provenance("learn", {}, 0, {}))


def scores_in_rated_order(store: Store) -> dict[str, float]:
    """The rating of its generator for every generated image, plus a little by image."""
    generated = store.read("images").filter(~pl.col("real") & ~pl.col("gold"))
    rating = dict(store.read("ratings").select("generator", "rating").iter_rows())
    pairs = enumerate(generated.select("image", "generator").iter_rows())
    return {image: rating[generator] + 0.001 * (place % 7) for place, (image, generator) in pairs}


@pytest.fixture
def eight(bare_study: Callable[..., Path]) -> Path:
    """A study of eight generators without image files: a perfect order of so many is no chance."""
    folder = bare_study(RatingQuestion(name="q"), generators="abcdefgh")
    rate(folder)
    return folder


def test_a_trained_model_gets_the_verdict_of_any_scorer_that_agrees_as_well(eight: Path) -> None:
    """The study's own model orders the generators as raters do: it is to be trusted, as HPS v2 would be."""
    store = Store(eight)
    scores = scores_in_rated_order(store)
    predict(store, scores, "higher")
    run(eight, measuring=QUICK)
    verdict = verdicts(store.read("correlations"), store.read("metric_separations"))[0]
    assert (verdict.trusted, verdict.alongside) == (("mine/out-of-fold",), ())
    assert verdict.sentences[0].startswith("Trust mine/out-of-fold: ρ = +1.00")
    rows = [{"scorer": "hps-v2", "aspect": "preference", "image": i, "score": s} for i, s in scores.items()]
    metrics = of_scores(TABLES["scores"].frame(rows), store.read("predictions"), store.read("images"))[1]
    settings = AgreementSettings(0.95, 200, 0)
    rows = generator_rows(of_generators(store.read("ratings")), metrics, settings).correlations
    by_metric = {
        name: [row | {"metric": ""} for row in rows if row["metric"] == name]
        for name in ("hps-v2", "mine/out-of-fold")
    }
    assert by_metric["hps-v2"] == by_metric["mine/out-of-fold"]
    assert {row["statistic"] for row in by_metric["hps-v2"]} >= {"spearman", "kendall", "pearson"}


def test_a_model_of_proportions_is_better_where_it_predicts_less(eight: Path) -> None:
    """It predicts the proportion who call an image generated: the direction is that of the table."""
    store = Store(eight)
    predict(store, {image: -score for image, score in scores_in_rated_order(store).items()}, "lower")
    run(eight, measuring=QUICK)
    rows = store.read("correlations").filter(metric="mine/out-of-fold", level="generator", statistic="spearman")
    assert rows.select("better", "value").rows() == [("lower", pytest.approx(-1))]
    verdict = verdicts(store.read("correlations"), store.read("metric_separations"))[0]
    assert (verdict.trusted, verdict.against) == (("mine/out-of-fold",), ())


def test_predictions_are_read_and_left_alone(study: Path) -> None:
    store = Store(study)
    run(study, measuring=QUICK)
    scored, table = store.hash("scores"), store.read("scores")
    predict(store, scores_in_rated_order(store), "higher")
    before = store.hash("predictions")
    again = run(study, measuring=QUICK)
    assert set(again.rows) == {
        "correlations",
        "metric_separations",
        "powered_ratings",
    }  # no image is looked at again
    assert (store.hash("scores"), store.hash("predictions")) == (scored, before)
    assert "mine/out-of-fold" in store.read("correlations")["metric"]
    run(study, measuring=QUICK, force=True)
    assert store.hash("predictions") == before
    assert store.read("scores").equals(table)


def test_predictions_of_images_that_were_trained_on_do_not_count(study: Path) -> None:
    store = Store(study)
    predict(store, scores_in_rated_order(store), "higher", held_out=False)
    run(study, measuring=QUICK)
    assert not store.read("correlations")["metric"].str.starts_with("mine").any()


def test_scores_of_training_images_are_left_out_and_counted(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    images = Store(study).read("images").filter(~pl.col("gold"))
    trained = TrainingImages.of_hashes("some set", images["sha256"][:7])
    count = sum(sha256 in trained for sha256 in images["sha256"])
    recipe = SCORERS["saturation"]

    def load(name: str, weights: Weights, device: str | None) -> Scorer:
        return replace(recipe.load(name, weights, device), training_images=trained)

    monkeypatch.setitem(
        SCORERS, "saturation", replace(recipe, load=load, training_images=lambda: trained, companion="sharpness")
    )
    settings = MeasureSettings(encoder="pixel", distances=(), scorers=("sharpness", "saturation"))
    run(study, measuring=settings)
    scores = Store(study).read("scores")
    assert scores.filter(scorer="sharpness").height == images.height
    assert scores.filter(scorer="saturation").height == images.height - count
    assert not set(scores.filter(scorer="saturation")["image"]) & set(images["image"][:7])
    remarks = scorer_remarks(Store(study), settings.scorers)
    assert remarks[0].startswith(f"saturation was trained on {count} of these {images.height} images (some set)")
    assert remarks[1].startswith("saturation: ")  # sharpness is far above 1, and stands for the shift here
    assert "unlike those it was trained on" in remarks[1]


def test_an_engine_leaves_the_same_tables(study: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(study, other)
    engine = PicklingEngine()
    run(study, measuring=QUICK, engine=engine)
    run(other, measuring=QUICK)
    assert engine.done >= 1
    for name in ("scores", "distances", "correlations"):
        assert Store(study).read(name).equals(Store(other).read(name)), name
