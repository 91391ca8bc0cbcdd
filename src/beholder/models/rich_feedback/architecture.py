"""The rich-feedback model from the ``[model]`` table of a recipe; see :mod:`beholder.models.architectures`."""

from collections.abc import Mapping, Sequence

from beholder.models.recipe_settings import validate_settings
from beholder.models.rich_feedback.model import RichFeedbackModel
from beholder.models.rich_feedback.pretrained import load_pretrained
from beholder.models.rich_feedback.settings import SCORES, RichFeedbackSettings
from beholder.models.rich_feedback.tokenizer import collect_vocabulary
from beholder.models.trainable import Config
from beholder.tables.provenance import Plain


def configure(settings: Mapping[str, Plain], prompts: Sequence[str], aspects: Sequence[str]) -> Config:
    """Everything needed to build the model; it scores the aspects of the study unless others are named."""
    scored = sorted(aspects, key=lambda aspect: SCORES.index(aspect) if aspect in SCORES else len(SCORES))
    chosen = validate_settings(RichFeedbackSettings, {"scores": scored, **settings})
    if not chosen.words and not chosen.text.weights:
        chosen = chosen.model_copy(update={"words": collect_vocabulary(prompts, *chosen.tasks)})
    return chosen.model_dump(mode="json")


def build(config: Config, *, fresh: bool) -> RichFeedbackModel:
    """Build the model from its configuration."""
    model = RichFeedbackModel(RichFeedbackSettings.model_validate(dict(config)))
    if fresh:
        load_pretrained(model)
    return model
