"""All question kinds. A new one is a file beside this, and a line in each of the two places below."""

from typing import Annotated, Any

from pydantic import Field

from beholder.study.kinds.kind import Kind
from beholder.study.kinds.pair import PAIR, PairQuestion
from beholder.study.kinds.ranking import RANKING, RankingQuestion
from beholder.study.kinds.rating import RATING, RatingQuestion
from beholder.study.kinds.realism import REALISM, RealismQuestion
from beholder.study.kinds.rich_feedback import RICH_FEEDBACK, RichFeedbackQuestion
from beholder.study.kinds.side_by_side import SIDE_BY_SIDE, SideBySideQuestion
from beholder.study.kinds.sweep import SWEEP, SweepQuestion
from beholder.study.kinds.timed_realism import TIMED_REALISM, TimedRealismQuestion

AnyQuestion = Annotated[
    RealismQuestion
    | TimedRealismQuestion
    | PairQuestion
    | RankingQuestion
    | SideBySideQuestion
    | RatingQuestion
    | RichFeedbackQuestion
    | SweepQuestion,
    Field(discriminator="kind"),
]
"""A question of any kind; the study file tells which by ``kind``."""

KINDS: dict[str, Kind[Any]] = {
    kind.name: kind for kind in (REALISM, TIMED_REALISM, PAIR, RANKING, SIDE_BY_SIDE, RATING, RICH_FEEDBACK, SWEEP)
}
