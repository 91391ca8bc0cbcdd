"""The rich-feedback model from the ``[model]`` table of a recipe; see :mod:`beholder.models.architectures`."""

from collections.abc import Mapping, Sequence

from pydantic import ValidationError

from beholder.errors import RecipeError
from beholder.models.rich_feedback.model import RichFeedbackModel
from beholder.models.rich_feedback.pieces import vocabulary
from beholder.models.rich_feedback.settings import SCORES, RichFeedbackSettings
from beholder.models.rich_feedback.weights import load_pretrained
from beholder.models.trainable import Config
from beholder.study.faults import faults_of
from beholder.tables.provenance import Plain


def configure(settings: Mapping[str, Plain], prompts: Sequence[str], aspects: Sequence[str]) -> Config:
    """All that is needed to build the model; it scores the aspects of the study unless others are named."""
    scored = sorted(aspects, key=lambda one: SCORES.index(one) if one in SCORES else len(SCORES))
    try:
        chosen = RichFeedbackSettings.model_validate({"scores": scored, **settings})
    except ValidationError as error:
        raise RecipeError("[model]", faults_of(error, RichFeedbackSettings)) from error
    if not chosen.words and not chosen.text.weights:
        chosen = chosen.model_copy(update={"words": vocabulary(prompts, *chosen.tasks)})
    return chosen.model_dump(mode="json")


def build(config: Config, *, fresh: bool) -> RichFeedbackModel:
    """The model of a configuration."""
    model = RichFeedbackModel(RichFeedbackSettings.model_validate(dict(config)))
    if fresh:
        load_pretrained(model)
    return model
