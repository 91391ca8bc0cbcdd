"""What the people of a study said of an image, found by its content or its place."""

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
class KnownImage:
    """An image of the study and its prompt."""

    image: str
    prompt: str | None


@dataclass(frozen=True, eq=False)
class People:
    """The people of a study, and the images that it knows."""

    labels: RichLabels
    by_hash: Mapping[str, KnownImage]
    by_path: Mapping[Path, KnownImage]

    def known(self, picture: ImageSource, sha256: bytes) -> KnownImage | None:
        """The image of the study with this content, or at this place; nothing where there is none."""
        found = self.by_hash.get(sha256.hex())
        if found is None and isinstance(picture, ImageFile):
            found = self.by_path.get(picture.path.resolve())
        return found

    def feedback(self, known: KnownImage) -> ImageFeedback | None:
        """What people said of an image; nothing where none was asked."""
        return self.labels.feedback(known.image, len(split_words(known.prompt or "")))


def open_people(folder: Path) -> People:
    """The people of a study; an error says what it lacks. Of several questions, the one with the most labels."""
    study, store = load_study(folder), Store(folder)
    questions = marked_questions(study.questions)
    if not questions:
        asked = ", ".join(f"{one.name} ({one.kind})" for one in study.questions)
        raise StudyError(str(folder / FILE_NAME), [f"no question of rich feedback; found: {asked}"])
    labels = store.read("labels")
    question = max(questions, key=lambda one: labels.filter(pl.col("question") == one.name).height)
    texts = dict(store.read_or_empty("prompts").select("prompt", "text").iter_rows())
    columns = store.read("images").select("image", "prompt", "sha256", "path")
    known = [
        (KnownImage(image, texts.get(prompt)), sha256, path) for image, prompt, sha256, path in columns.iter_rows()
    ]
    return People(
        RichLabels(
            question.name,
            tuple(aspect.name for aspect in question.aspects),
            question.scale(),
            labels.filter(pl.col("question") == question.name),
            open_regions(store) if store.has("regions") else None,
        ),
        by_hash={sha256: one for one, sha256, _ in known},
        by_path={folder.resolve() / path: one for one, _, path in known},
    )
