"""How long a session takes, and what it pays per hour: what raters are told and what a plan bills."""

from beholder.study.kinds.catalogue import AnyQuestion, kind_of


def session_trials(question: AnyQuestion) -> int:
    """Number of trials of a slot, those that check the rater included."""
    design = question.design
    checks = design.training + design.qualification + design.repeats
    checks += sum(design.trials // every for every in (design.gold_every, design.attention_every) if every)
    return design.trials + checks


def session_seconds(question: AnyQuestion) -> float:
    """Seconds for all trials of a slot."""
    return session_trials(question) * kind_of(question).traits.seconds


def announced_minutes(question: AnyQuestion, minutes: float) -> float:
    """Minutes of a session as raters are told: as set, or (with 0) computed from the trials, at least 1."""
    return minutes or float(max(round(session_seconds(question) / 60), 1))


def expected_hourly_pay(question: AnyQuestion, base: float, minutes: float = 0.0) -> float:
    """Pay per hour of a complete session that pays ``base``, without bonus; it takes what raters are told."""
    return base * 60 / announced_minutes(question, minutes)
