"""Which images the packaged head was trained on; readable without torch."""

from functools import lru_cache
from pathlib import Path

from beholder.models.training_images import TrainingImages

FOLDER = Path(__file__).parent
TRAINING_IMAGES, DATA_SET = "agiqa-quality.images", "AGIQA-3K"


@lru_cache(maxsize=1)
def training_images() -> TrainingImages:
    """Return the images of AGIQA-3K that the head was trained on."""
    return TrainingImages.read(DATA_SET, FOLDER / TRAINING_IMAGES)
