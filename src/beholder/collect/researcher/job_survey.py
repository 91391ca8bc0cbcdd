"""Scores of the job survey of a study, for the researcher's page; runs in a process of its own.

python -m beholder.collect.researcher.job_survey
"""

import json
import math
import os
import sys
from typing import Any

from sqlalchemy import select

from beholder.care.job_survey import score_survey
from beholder.collect.database.address import DATABASE
from beholder.collect.database.schema import Database, job_surveys
from beholder.collect.researcher.child_processes import report_failure
from beholder.errors import UserError
from beholder.stats.estimate import Estimate


def job_scores(database: Database) -> dict[str, Any]:
    """Return the scores as JSON; without rows where nobody has answered.

    Args:
        database: Of the study.

    Returns:
        One row per characteristic, and the motivating potential score.
    """
    with database.reading() as connection:
        answers = [row.answers for row in connection.execute(select(job_surveys)) if row.answers]
    if not answers:
        return {"raters": 0, "rows": [], "motivating": None, "weakest": None}
    scores = score_survey(answers)
    return {
        "raters": len(answers),
        "rows": [{"name": name, **_json(estimate)} for name, estimate in scores.characteristics.items()],
        "motivating": scores.motivating and _json(scores.motivating),
        "weakest": scores.weakest,
    }


def _json(estimate: Estimate) -> dict[str, Any]:
    bounded = math.isfinite(estimate.low)
    return {
        "value": estimate.value,
        "low": estimate.low if bounded else None,
        "high": estimate.high if bounded else None,
        "raters": estimate.raters,
    }


def main() -> int:
    """Run the command of this module."""
    database = Database(os.environ[DATABASE])
    try:
        json.dump(job_scores(database), sys.stdout)
    except UserError as error:
        return report_failure(error)
    finally:
        database.engine.dispose()
    return 0


if __name__ == "__main__":
    sys.exit(main())
