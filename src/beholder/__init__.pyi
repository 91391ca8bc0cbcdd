from beholder.api.explaining import explain as explain
from beholder.api.scoring import differentiable_scores as differentiable_scores
from beholder.api.scoring import score as score

__version__: str
