"""How long a session takes: the one figure that raters are told and that a plan bills."""

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
