"""What the raters of a study said of an image, which is found by its content or its path."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from beholder.errors import StudyError
from beholder.feedback.image_feedback import ImageFeedback
from beholder.feedback.labels import RichLabels
from beholder.feedback.regions import open_regions
from beholder.images.sources import ImageFile, ImageSource
from beholder.study.kinds.catalogue import marked_questions
from beholder.study.study import FILE_NAME, load_study
from beholder.study.words import split_words
from beholder.tables.store import Store


@dataclass(frozen=True, slots=True)
class StudyImage:
    """An image of the study and its prompt."""

    image: str
    prompt: str | None


@dataclass(frozen=True, eq=False)
class RaterFeedback:
    """The labels that raters gave in a study, and the images of the study."""

    labels: RichLabels
    by_hash: Mapping[str, StudyImage]
    by_path: Mapping[Path, StudyImage]

    def find_image(self, source: ImageSource, sha256: bytes) -> StudyImage | None:
        """The image of the study with this content, or at this path; ``None`` where there is none."""
        image = self.by_hash.get(sha256.hex())
        if image is None and isinstance(source, ImageFile):
            image = self.by_path.get(source.path.resolve())
        return image

    def feedback(self, image: StudyImage) -> ImageFeedback | None:
        """The raters' feedback on an image; ``None`` where nobody was asked about it."""
        return self.labels.feedback(image.image, len(split_words(image.prompt or "")))


def open_rater_feedback(folder: Path) -> RaterFeedback:
    """Read the rich feedback of a study; an error says what the study lacks.

    Of several questions of rich feedback, the one with the most labels is read.
    """
    study, store = load_study(folder), Store(folder)
    questions = marked_questions(study.questions)
    if not questions:
        kinds = ", ".join(f"{question.name} ({question.kind})" for question in study.questions)
        raise StudyError(str(folder / FILE_NAME), [f"no question of rich feedback; found: {kinds}"])
    labels = store.read("labels")
    question = max(questions, key=lambda marked: labels.filter(pl.col("question") == marked.name).height)
    texts = dict(store.read_or_empty("prompts").select("prompt", "text").iter_rows())
    columns = store.read("images").select("image", "prompt", "sha256", "path")
    study_images = [
        (StudyImage(image, texts.get(prompt)), sha256, path) for image, prompt, sha256, path in columns.iter_rows()
    ]
    return RaterFeedback(
        RichLabels(
            question.name,
            tuple(aspect.name for aspect in question.aspects),
            question.scale(),
            labels.filter(pl.col("question") == question.name),
            open_regions(store) if store.has("regions") else None,
        ),
        by_hash={sha256: image for image, sha256, _ in study_images},
        by_path={folder.resolve() / path: image for image, _, path in study_images},
    )
