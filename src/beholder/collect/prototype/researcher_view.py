"""What the researcher sees of a prototype round: votes, feedback beside the trials it concerns, revised texts."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select

from beholder.care.prototype_round import rule_properties
from beholder.collect.database.schema import prototype_feedback, responses, sessions, trials
from beholder.collect.prototype.rounds import Round
from beholder.collect.prototype.votes import read_tally
from beholder.study.study import Study, load_study

JsonObject = dict[str, Any]


def prototype_view(connection: Connection, folder: Path, study: Study, held: Round) -> JsonObject:
    """Return all that the page shows.

    Args:
        connection: To the round's database, in any transaction.
        folder: Of the round.
        study: That it serves.
        held: The round.

    Returns:
        As JSON.
    """
    rule, tally = held.rule, read_tally(connection, held.rule)
    rows = connection.execute(
        select(prototype_feedback, sessions.c.question, sessions.c.active_seconds)
        .join(sessions, sessions.c.session == prototype_feedback.c.session)
        .order_by(prototype_feedback.c.at)
    ).all()
    feedback = [
        {
            name: getattr(row, name)
            for name in ("vote", "clear", "minutes", "pay", "examples", "text", "question", "trials")
        }
        | {"active_minutes": row.active_seconds / 60}
        for row in rows
    ]
    return {
        "round": held.number,
        "publish": tally.publish,
        "revise": tally.revise,
        "decision": tally.decision,
        "first_raters": rule.first_raters,
        "most_raters": rule.most_raters,
        "missed": 1 - rule_properties(rule, rule.notice).stopped,
        "stopped": rule_properties(rule, rule.false_report).stopped,
        "notice": rule.notice,
        "false_report": rule.false_report,
        "minutes": study.collect.minutes,
        "pay": study.pay.base,
        "currency": study.pay.currency,
        "minimum_hourly": study.pay.minimum_hourly,
        "feedback": feedback,
        "trials": list(_trials(connection, feedback)),
        "changes": compare_texts(folder, held),
    }


def compare_texts(folder: Path, held: Round) -> list[JsonObject]:
    """Return the texts that differ from the round before, each as it was and as it is.

    Args:
        folder: Of the round.
        held: The round.

    Returns:
        One row per text; empty in the first round.
    """
    earlier = folder.parent / str(held.number - 1)
    if not earlier.is_dir():
        return []
    before, after = texts_of(load_study(earlier)), texts_of(load_study(folder))
    places = list(dict.fromkeys([*before, *after]))
    return [
        {"place": place, "before": before.get(place, ""), "after": after.get(place, "")}
        for place in places
        if before.get(place, "") != after.get(place, "")
    ]


def texts_of(study: Study) -> dict[str, str]:
    """Return all that raters read in a study, by its place; time and pay are read, too.

    Args:
        study: Whose.

    Returns:
        The texts.
    """
    texts = {"title": study.title, "description": study.description}
    texts["pay"] = f"{study.pay.base} {study.pay.currency} for {study.collect.minutes:g} min"
    texts |= {f"consent ({code})": text for code, text in study.collect.consent.items()}
    for section in study.collect.consent_sections[:-1]:  # the last is that of the round
        texts |= {f"consent, {section.title[code]} ({code})": text for code, text in section.text.items()}
    for question in study.questions:
        texts[question.name] = question.text
        texts |= {f"{question.name}, instructions ({code})": text for code, text in question.instructions.items()}
        texts |= {f"{question.name}, word for {choice}": word for choice, word in question.labels.items()}
        for number, example in enumerate(question.examples, start=1):
            captions = " / ".join(f"{code}: {text}" for code, text in example.caption.items())
            texts[f"{question.name}, example {number}"] = f"{example.verdict}, {example.image} {captions}"
    return texts


def _trials(connection: Connection, feedback: list[JsonObject]) -> Iterator[JsonObject]:
    """Yield the trials that were answered or found unclear, the most often unclear first."""
    unclear = [name for row in feedback for name in row["trials"]]
    answered = set(connection.scalars(select(responses.c.trial).where(responses.c.valid.is_(True))))
    names = sorted({*answered, *unclear}, key=lambda name: (-unclear.count(name), name))
    rows = {row.trial: row for row in connection.execute(select(trials).where(trials.c.trial.in_(names)))}
    for name in names:
        yield {
            "trial": name,
            "question": rows[name].question,
            "role": rows[name].role,
            "images": rows[name].images,
            "prompt": rows[name].prompt,
            "notes": [{"vote": row["vote"], "text": row["text"]} for row in feedback if name in row["trials"]],
        }
