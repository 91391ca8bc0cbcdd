"""What does not add up in a Layer 6 set: its file by rater against its file by image."""

from collections.abc import Iterator

import polars as pl

from beholder.formats.layer6_files import Layer6Set

LISTED = 5

CLASSES = {"generated": 1, "real": 0}


def describe_differences(release_set: Layer6Set) -> list[str]:
    """Sentences on models, raters, doubled rows and wrong answers of which the two files tell differently."""
    if release_set.images is None:
        return [f"{release_set.name}: there is no file by image, so no image has a label"]
    images = release_set.images
    lines = (*_raters(release_set), *_doubled(images), *_answers(release_set, images))
    return [f"{release_set.name}: {line}" for line in lines]


def _raters(release_set: Layer6Set) -> Iterator[str]:
    for model in release_set.differences:
        if model.by_image is None:
            yield f"{model.model} has {model.participants} raters, but no row in the file by image"
        elif not model.participants:
            yield f"{model.model} is in the file by image ({model.by_image:g} raters), but no rater judged it"
        else:
            yield (
                f"{model.model} has {model.participants} raters, but guesses of {model.by_image:g} in the file by "
                f"image ({model.by_image - model.participants:+g})"
            )


def _doubled(images: pl.DataFrame) -> Iterator[str]:
    key = ("model", "generated", "image_path")
    twice = images.filter(images.select(key).is_duplicated()).unique(key, maintain_order=True)
    if twice.height:
        named = [f"{model} {path}" for model, path in twice.head(LISTED).select("model", "image_path").iter_rows()]
        more = f" and {twice.height - LISTED} more" if twice.height > LISTED else ""
        yield f"images with several rows, counted together: {', '.join(named)}{more}"


def _answers(release_set: Layer6Set, images: pl.DataFrame) -> Iterator[str]:
    """Answers and wrong answers by class, of the models for which the files tell of as many raters."""
    half = (release_set.trials or 0) / 2
    agreed = [model.model for model in release_set.reconciliation if model.agrees]
    for name, generated in CLASSES.items():
        called_generated = pl.col("number_guesses_generated").sum()
        wrong = pl.col("number_guesses").sum() - called_generated if generated else called_generated
        by_image = (
            images.filter(pl.col("generated") == generated)
            .group_by("model")
            .agg(answers=pl.col("number_guesses").sum(), wrong=wrong)
        )
        error_rate = pl.col("f_err_rt" if generated else "r_err_rt")
        by_rater = release_set.participants.group_by("model").agg(
            expected=pl.len() * half, missed=(error_rate * half).round().sum()
        )
        joined = by_rater.join(by_image, on="model", how="left").fill_null(0).filter(pl.col("model").is_in(agreed))
        for model, expected, missed, answers, wrong_by_image in joined.sort("model").iter_rows():
            if answers != expected:
                yield f"{model}: {expected:,.0f} answers on {name} images by rater, {answers:,} by image"
            elif wrong_by_image != missed:
                yield (
                    f"{model}: {missed:,.0f} wrong answers on {name} images by rater, {wrong_by_image:,} by image"
                )
