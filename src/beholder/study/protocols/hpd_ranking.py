"""Rankings as in HPD v2's test set (Wu et al., *Human Preference Score v2*, 2023).

Nine images of one prompt, ranked from best to worst by ten raters.
"""

from beholder.study.kinds.ranking import RankingQuestion
from beholder.study.protocols.protocol import Protocol
from beholder.study.question import Design, Screening


def questions() -> tuple[RankingQuestion, ...]:
    """One ranking question."""
    return (
        RankingQuestion(
            name="ranking",
            protocol="hpd-ranking",
            images=9,
            design=Design(raters=30, trials=20, raters_per_item=10, attention_every=10),
            screening=Screening(min_seconds=5, max_attention_failures=0),
        ),
    )


HPD_RANKING = Protocol(
    name="hpd-ranking",
    summary="Nine images of one prompt, ranked by ten raters.",
    source="Wu et al., 2023 (HPD v2)",
    departures=(
        "Raters are screened by attention checks and a minimum response time; HPD v2 relied on training.",
    ),
    questions=questions,
    needs_prompts=True,
)
