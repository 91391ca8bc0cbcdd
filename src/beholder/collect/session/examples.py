"""Example images of the instructions: files of the study folder, encoded when they are asked for."""

from functools import lru_cache
from pathlib import Path

from beholder.errors import RefusedError, StudyError
from beholder.images.display import encode
from beholder.images.formats import UndecodableError
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.study import FILE_NAME, Study

SIDE = 640
"""Longest side of an example."""


def example_faults(folder: Path, study: Study) -> list[str]:
    """Return which images of the instructions and of options are missing."""
    return [
        f"questions '{question.name}': there is no file {folder / file}"
        for question in study.questions
        for file in question.files.values()
        if not (folder / file).is_file()
    ]


def require_examples(folder: Path, study: Study) -> None:
    """Refuse a study whose example images are not all there."""
    faults = example_faults(folder, study)
    if faults:
        raise StudyError(
            str(folder / FILE_NAME),
            faults,
            advice="Put the files there, or correct the paths: [[questions.examples]], [[questions.offered]].",
        )


def example_content(folder: Path, study: Study, question: AnyQuestion, number: int) -> bytes:
    """Return an example, or the image of an option, as WebP, by its number in ``question.files``.

    Refused if there is none, or if its file cannot be shown.
    """
    if number not in question.files:
        raise RefusedError(404, "no-example", "there is no such example")
    path = folder / question.files[number]
    try:
        version = path.stat().st_mtime_ns
        return _encoded(path, version, study.collect.image_quality, study.images.background)
    except (UndecodableError, OSError) as error:
        raise RefusedError(404, "broken-image", "the file of this example cannot be shown") from error


@lru_cache(48)
def _encoded(path: Path, version: int, quality: int, background: str) -> bytes:  # noqa: ARG001 - a changed file is read again
    return encode(path, SIDE, quality, background)
