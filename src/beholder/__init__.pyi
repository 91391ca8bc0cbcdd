from beholder import errors as errors
from beholder import metrics as metrics
from beholder.api.distances import distance as distance
from beholder.api.explaining import explain as explain
from beholder.api.frame_studies import study_from_ratings as study_from_ratings
from beholder.api.frame_studies import study_from_votes as study_from_votes
from beholder.api.learning import learn as learn
from beholder.api.measuring import measure as measure
from beholder.api.planning import plan as plan
from beholder.api.scoring import differentiable_scores as differentiable_scores
from beholder.api.scoring import load_scorer as load_scorer
from beholder.api.scoring import score as score
from beholder.api.studies import import_study as import_study
from beholder.api.studies import new_study as new_study
from beholder.api.studies import open_study as open_study

__version__: str

LATE: dict[str, str]
MODULES: tuple[str, ...]
