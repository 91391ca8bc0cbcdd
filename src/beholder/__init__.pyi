from beholder import errors as errors
from beholder import metrics as metrics
from beholder.api.auditing import audit as audit
from beholder.api.benchmark.bench import bench as bench
from beholder.api.benchmark.board_planning import plan_board as plan_board
from beholder.api.distances import distance as distance
from beholder.api.explaining import explain as explain
from beholder.api.frame_studies import study_from_ratings as study_from_ratings
from beholder.api.frame_studies import study_from_votes as study_from_votes
from beholder.api.improving.loop import improve as improve
from beholder.api.learning import learn as learn
from beholder.api.measuring import measure as measure
from beholder.api.planning import plan as plan
from beholder.api.replication.replicate import replicate as replicate
from beholder.api.scoring import differentiable_scores as differentiable_scores
from beholder.api.scoring import load_scorer as load_scorer
from beholder.api.scoring import score as score
from beholder.api.studies import import_study as import_study
from beholder.api.studies import new_study as new_study
from beholder.api.studies import open_study as open_study
from beholder.api.study_folder import StudyFolder as StudyFolder
from beholder.stats.frames.active_pairs import active_pairs as active_pairs
from beholder.stats.frames.aggregate import aggregate as aggregate
from beholder.stats.frames.agreement import agreement as agreement
from beholder.stats.frames.bradley_terry import bradley_terry as bradley_terry
from beholder.stats.frames.calibration import calibration as calibration
from beholder.stats.frames.calibration import conformal_interval as conformal_interval
from beholder.stats.frames.compare_correlations import compare_correlations as compare_correlations
from beholder.stats.frames.confidence_sequence import confidence_sequence as confidence_sequence
from beholder.stats.frames.confidence_sequence import sequential_separation as sequential_separation
from beholder.stats.frames.correlate import correlate as correlate
from beholder.stats.frames.detection import detection as detection
from beholder.stats.frames.examples import example_ratings as example_ratings
from beholder.stats.frames.examples import example_votes as example_votes
from beholder.stats.frames.group_means import mean_scores as mean_scores
from beholder.stats.frames.group_means import proportions as proportions
from beholder.stats.frames.group_tests import group_tests as group_tests
from beholder.stats.frames.group_tests import t_test as t_test
from beholder.stats.frames.label_errors import label_errors as label_errors
from beholder.stats.frames.mean_opinion_scores import mean_opinion_scores as mean_opinion_scores
from beholder.stats.frames.plackett_luce import plackett_luce as plackett_luce
from beholder.stats.frames.prediction_powered import prediction_powered_mean as prediction_powered_mean
from beholder.stats.frames.psychometric import psychometric as psychometric
from beholder.stats.frames.result_table import ResultTable as ResultTable
from beholder.stats.frames.sample_size import interval_widths as interval_widths
from beholder.stats.frames.sample_size import power as power
from beholder.stats.frames.sample_size import raters_needed as raters_needed
from beholder.stats.frames.thurstone import thurstone as thurstone

__version__: str
__all__: list[str]

LATE: dict[str, str]
MODULES: tuple[str, ...]
