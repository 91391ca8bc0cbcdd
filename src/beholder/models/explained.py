"""An image with all that is said of it; what reads it needs no torch."""

from dataclasses import dataclass

from beholder.feedback.image_feedback import ImageFeedback
from beholder.images.sources import ImageSource


@dataclass(frozen=True, eq=False)
class Explained:
    """An image and its prompt, what models say of it, and what people said of it where they were asked."""

    picture: ImageSource
    prompt: str
    model: ImageFeedback
    people: ImageFeedback | None
    note: str = ""
    """Why people's feedback is not shown, where the image is known."""
