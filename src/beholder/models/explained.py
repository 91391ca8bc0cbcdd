"""An image with the feedback of models and raters on it; its readers need no torch."""

from dataclasses import dataclass

from beholder.feedback.image_feedback import ImageFeedback
from beholder.images.sources import ImageSource


@dataclass(frozen=True, eq=False)
class Explained:
    """An image and its prompt, the feedback of models, and that of raters where they judged it."""

    picture: ImageSource
    prompt: str
    model: ImageFeedback
    people: ImageFeedback | None
    note: str = ""
    """Why raters' feedback is not shown, where the study has the image."""
    shift: float | None = None
    """How unlike the training images of the models it is; above 1: unlike those of one of them."""
