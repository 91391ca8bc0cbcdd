"""Pairwise preferences as in HPD v2 (Wu et al., *Human Preference Score v2*, 2023).

Two images of one prompt; which is preferred? HPD v2 derives its 798,090 choices over 433,760 pairs from rankings;
here pairs are asked directly.
"""

from beholder.study.kinds.pair import PairQuestion
from beholder.study.protocols.protocol import Protocol
from beholder.study.question import Design, Screening


def questions() -> tuple[PairQuestion, ...]:
    """One pair question, sides counterbalanced, some pairs asked again with the sides flipped."""
    return (
        PairQuestion(
            name="preference",
            protocol="hpd-pairs",
            design=Design(raters=30, trials=100, repeats=10, attention_every=25),
            screening=Screening(min_seconds=0.5, max_same_share=0.95, max_attention_failures=1, above_chance=0.05),
        ),
    )


HPD_PAIRS = Protocol(
    name="hpd-pairs",
    summary="Two images of one prompt: which is better? Bradley–Terry ratings.",
    source="Wu et al., 2023 (HPD v2)",
    departures=(
        "Pairs are asked directly, with a tie allowed; HPD v2 takes them from rankings.",
        "Raters are screened by attention checks and agreement with the majority; HPD v2 relied on training.",
    ),
    questions=questions,
    needs_prompts=True,
)
