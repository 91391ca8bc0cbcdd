from beholder.measure.explaining import explain as explain
from beholder.measure.scoring import differentiable_scores as differentiable_scores
from beholder.measure.scoring import score as score

__version__: str
