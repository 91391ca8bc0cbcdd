"""What does not add up in a Layer 6 set: its file by person against its file by image."""

from collections.abc import Iterator

import polars as pl

from beholder.formats.layer6_files import Layer6Set

SHOWN = 5

CLASSES = {"generated": 1, "real": 0}


def differences_of(one: Layer6Set) -> list[str]:
    """Sentences on models, people, doubled rows and wrong answers of which the two files tell differently."""
    if one.images is None:
        return [f"{one.name}: there is no file by image, so no image has a label"]
    return [f"{one.name}: {line}" for line in (*_people(one), *_doubled(one.images), *_answers(one, one.images))]


def _people(one: Layer6Set) -> Iterator[str]:
    for model in one.differences:
        if model.by_image is None:
            yield f"{model.model} has {model.participants} people, but no row in the file by image"
        elif not model.participants:
            yield f"{model.model} is in the file by image ({model.by_image:g} people), but no person judged it"
        else:
            yield (
                f"{model.model} has {model.participants} people, but guesses of {model.by_image:g} in the file by "
                f"image ({model.by_image - model.participants:+g})"
            )


def _doubled(images: pl.DataFrame) -> Iterator[str]:
    key = ("model", "generated", "image_path")
    twice = images.filter(images.select(key).is_duplicated()).unique(key, maintain_order=True)
    if twice.height:
        named = [f"{model} {path}" for model, path in twice.head(SHOWN).select("model", "image_path").iter_rows()]
        more = f" and {twice.height - SHOWN} more" if twice.height > SHOWN else ""
        yield f"images with several rows, counted together: {', '.join(named)}{more}"


def _answers(one: Layer6Set, images: pl.DataFrame) -> Iterator[str]:
    """Answers and wrong answers by class, of the models for which the files tell of as many people."""
    half = (one.trials or 0) / 2
    agreed = [model.model for model in one.reconciliation if model.agrees]
    for name, generated in CLASSES.items():
        said = pl.col("number_guesses_generated").sum()
        wrong = pl.col("number_guesses").sum() - said if generated else said
        by_image = (
            images.filter(pl.col("generated") == generated)
            .group_by("model")
            .agg(answers=pl.col("number_guesses").sum(), wrong=wrong)
        )
        share = pl.col("f_err_rt" if generated else "r_err_rt")
        by_person = one.participants.group_by("model").agg(
            expected=pl.len() * half, missed=(share * half).round().sum()
        )
        joined = (
            by_person.join(by_image, on="model", how="left").fill_null(0).filter(pl.col("model").is_in(agreed))
        )
        for model, expected, missed, answers, found in joined.sort("model").iter_rows():
            if answers != expected:
                yield f"{model}: {expected:,.0f} answers on {name} images by person, {answers:,} by image"
            elif found != missed:
                yield f"{model}: {missed:,.0f} wrong answers on {name} images by person, {found:,} by image"
