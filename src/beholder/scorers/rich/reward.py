"""An aspect of a rich-feedback model as a scorer, with gradients: end to end, through its frozen encoder."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray

from beholder.errors import UserError
from beholder.models.encoders.torch_network import share_cores
from beholder.models.rich_feedback.trainable import FeedbackTensors
from beholder.scorers.rich.members import Member, load_members
from beholder.scorers.scorer import Differentiable, Scorer, ScorerInput


@runtime_checkable
class HasGradients(Protocol):
    """A rich-feedback model that can be followed back to the pixels."""

    def with_gradients(self, images: torch.Tensor, prompts: Sequence[str]) -> FeedbackTensors:
        """Scores and heatmaps of images (n, 3, height, width) of 0 to 1."""
        ...


def load(folder: Path, aspect: str | None, device: str | None) -> Scorer:
    """Load the scorer of an aspect; ``None`` stands for *overall*, or for the only aspect of the model."""
    (member,) = load_members([folder], device)
    scored = member.model.settings.scores
    chosen = aspect or (scored[0] if len(scored) == 1 else "overall")
    if chosen not in scored:
        raise UserError(f"{folder} does not score '{chosen}'; it scores: {', '.join(scored)}")

    def score(inputs: Sequence[ScorerInput]) -> NDArray[np.float64]:
        images = [scorer_input.image for scorer_input in inputs if scorer_input.image is not None]
        feedback = member.feedback(images, [scorer_input.prompt or "" for scorer_input in inputs])
        return np.asarray(feedback.scores[chosen], np.float64)

    name = f"{folder}:{chosen}"
    gradients = _score_gradients(member, chosen) if isinstance(member.model, HasGradients) else None
    return Scorer(name, f"{member.identity}:{chosen}", score, None, share_cores, gradients)


def load_feedback(folder: Path, device: str | None = None) -> HasGradients:
    """A rich-feedback model whose scores and heatmaps have gradients."""
    (member,) = load_members([folder], device)
    if not isinstance(member.model, HasGradients):
        raise UserError(f"{folder}: the model has no gradients; rich-feedback and rich-cnn models do")
    return member.model


def _score_gradients(member: Member, aspect: str) -> Differentiable:
    def scores(images: torch.Tensor, prompts: Sequence[str]) -> torch.Tensor:
        assert isinstance(member.model, HasGradients)
        return member.model.with_gradients(images.to(member.device), prompts).scores[aspect]

    return scores
