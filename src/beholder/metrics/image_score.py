"""The mean score of growing sets of images, by any scorer: PickScore, HPS v2, CLIP score, a trained model."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats as distributions

from beholder.errors import UserError
from beholder.images.background import DEFAULT_BACKGROUND, checked_background
from beholder.images.in_memory import InMemory
from beholder.metrics.metric import Metric
from beholder.scorers.catalogue import load_scorer
from beholder.scorers.scorer import Scorer


@dataclass(frozen=True, slots=True)
class MeanScore:
    """A mean over images, with its confidence interval over the sampling of images.

    Example:
        >>> print(MeanScore(20.5, 20.1, 20.9, 0.95, 400, "pickscore@1a2b"))
        20.5 [20.1, 20.9]
    """

    value: float
    low: float
    high: float
    level: float  # nominal coverage of [low, high], such as 0.95
    images: int
    scorer: str

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.value:.4g} [{self.low:.4g}, {self.high:.4g}]"


class ImageScore(Metric[MeanScore]):
    """The mean score of images by a scorer, seen in batches.

    Args:
        scorer: Its name, the folder of a trained model, or a scorer that was loaded.
        weights: Of its networks, by name: a folder, a file or a hub name.
        device: Where networks run: cpu, cuda, mps; ``None``: the fastest there is.
        background: What transparent images are flattened on, as #rrggbb.
        level: Of the confidence interval: Student's t over images.

    Example:
        >>> import numpy as np
        >>> brightness = ImageScore("brightness")
        >>> for level in (0.0, 0.5, 1.0):
        ...     brightness.update(np.full((2, 4, 4, 3), level))
        >>> round(float(brightness.compute()), 2)
        0.5
    """

    names = ("scores",)

    def __init__(
        self,
        scorer: str | Scorer,
        *,
        weights: dict[str, str] | None = None,
        device: str | None = None,
        background: str = DEFAULT_BACKGROUND,
        level: float = 0.95,
    ) -> None:
        super().__init__()
        if not 0 < level < 1:
            raise UserError(f"a level between 0 and 1 is expected; found {level}")
        self.scorer = load_scorer(scorer, weights, device) if isinstance(scorer, str) else scorer
        self.background = checked_background(background)
        self.level = level

    def update(self, images: InMemory | Sequence[InMemory], prompts: str | Sequence[str] | None = None) -> None:
        """Add the scores of a batch of images.

        Args:
            images: Pillow images, arrays with channels last or tensors with channels first, of bytes or of numbers
                from 0 to 1.
            prompts: One for all images, or one for each; left out where the scorer needs none.
        """
        self._append("scores", self.scorer(images=images, prompts=prompts, background=self.background))

    def compute(self) -> MeanScore:
        """Return the mean of all scores since the last reset; with one image the interval has no end.

        Returns:
            The mean with its confidence interval, and the number of images.
        """
        scores: NDArray[np.float64] = np.asarray(self._rows("scores"), np.float64).ravel()
        if not len(scores):
            raise UserError("no image was scored yet: call update(images, prompts) first")
        mean, reach = float(scores.mean()), np.inf
        if len(scores) > 1:
            error = float(scores.std(ddof=1)) / np.sqrt(len(scores))
            reach = float(distributions.t.ppf((1 + self.level) / 2, len(scores) - 1)) * error
        return MeanScore(mean, mean - reach, mean + reach, self.level, len(scores), self.scorer.identity)

    @property
    def identity(self) -> str:
        """The scorer with its weights, and the background of transparent images."""
        return f"{self.scorer.identity}, {self.background}"
