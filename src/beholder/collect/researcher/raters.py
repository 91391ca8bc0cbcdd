"""Conduct of raters while a study runs: speed, repeated answers, checks, hourly pay and flags, per session."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

from sqlalchemy import Connection, Row, Select, func, select, true

from beholder.collect.database.schema import comments, events, persons, responses, sessions, skips, trials
from beholder.collect.session.answers import TIMING
from beholder.collect.session.catalogue import Catalogue
from beholder.collect.session.completion import personal_code, session_of_code
from beholder.judgements.conduct import CheckedAnswer, SkippedTrial, conduct_of, proportion, tally
from beholder.judgements.rules import judge
from beholder.study.kinds.catalogue import AnyQuestion, kind_of
from beholder.study.kinds.kind import AspectAnswer
from beholder.study.question import Screening
from beholder.study.study import Study

LONGEST_GAP = 60.0
"""Longest gap between two answers, in seconds, that counts as active time."""

FAILURES_FORGIVEN = 1
"""Attention checks that may be failed where the study sets no limit."""

MOST_SKIPPED = 0.25
"""Proportion of test trials that may be skipped where the study sets no limit."""

CLAIMS_FORGIVEN = 2
"""Answers that may claim more time than had passed: a clock may have been adjusted."""

JsonObject = dict[str, Any]


FLAGS = {
    "fast": "fast",
    "same answer": "same answer",
    "skipped": "skipped often",
    "attention checks": "attention failed",
    "gold trials": "gold failed",
    "qualification": "qualification failed",
}
"""Flag on the page for each reason to exclude a rater."""


@dataclass(frozen=True, slots=True)
class SessionConduct:
    """The conduct of one session; ``None`` where there are no answers to compute a value from."""

    answers: int
    """valid ones of all roles"""
    spoiled: int
    skips: int
    skipped: float | None
    """proportion of the test trials that were skipped"""
    claims: int
    """answers that claimed more time than had passed by the server's clock"""
    median_seconds: float | None
    same_share: float | None
    gold_share: float | None
    attention_share: float | None
    attention_failures: int | None
    qualification_share: float | None
    active_seconds: float


def rater_rows(
    connection: Connection,
    catalogue: Catalogue,
    study: Study,
    *,
    question: str | None,
    offset: int,
    limit: int,
    code: str | None = None,
) -> tuple[int, list[JsonObject]]:
    """Return the number of sessions (of a question, or with a code) and the rows of one page, latest first."""
    selected = sessions.c.question == question if question else true()
    if code:
        ended = connection.execute(
            select(sessions.c.session, sessions.c.status).where(sessions.c.status != "running")
        ).all()
        selected &= sessions.c.session == session_of_code(
            catalogue.secret("token"), code, ((row.session, row.status) for row in ended)
        )
    total = connection.scalar(select(func.count()).select_from(sessions).where(selected)) or 0
    page = connection.execute(
        select(sessions, persons.c.platform, persons.c.excluded, persons.c.reason, persons.c.simulated)
        .join_from(sessions, persons, persons.c.person == sessions.c.person)
        .where(selected)
        .order_by(sessions.c.started.desc(), sessions.c.session)
        .offset(offset)
        .limit(limit)
    ).all()
    names = [row.session for row in page]
    answers, skipped = _answers_of(connection, names), _skips_of(connection, names)
    claims = _claims(connection, names)

    def conduct_in(session: Row[Any]) -> SessionConduct:
        name = session.session
        answering = kind_of(catalogue.questions[session.question]).traits.answering
        return conduct(
            session.begun,
            answers.get(name, []),
            skipped.get(name, []),
            claims=claims.get(name, 0),
            answering=answering if session.simulated else None,
        )

    return total, [_row(catalogue, study, row, conduct_in(row)) for row in page]


def comment_rows(connection: Connection) -> list[JsonObject]:
    """Return the comments on the task and on skipped images, latest first."""
    on_task = connection.execute(
        select(comments, sessions.c.person, sessions.c.question)
        .join_from(comments, sessions, sessions.c.session == comments.c.session)
        .where((comments.c.text != "") | comments.c.clear.is_not(None) | comments.c.fair.is_not(None))
    )
    on_skips = connection.execute(
        select(skips, sessions.c.person, sessions.c.question).join_from(
            skips, sessions, sessions.c.session == skips.c.session
        )
    )
    rows: list[JsonObject] = [
        {"at": r.at, "rater": r.person, "question": r.question, "clear": r.clear, "fair": r.fair, "text": r.text}
        for r in on_task
    ]
    rows += [
        {"at": r.at, "rater": r.person, "question": r.question, "skipped": r.reason, "text": r.comment}
        for r in on_skips
    ]
    return sorted(rows, key=lambda row: -row["at"])


def conduct(
    begun: float | None,
    answers: Sequence[Row[Any]],
    skipped: Sequence[Row[Any]],
    *,
    claims: int,
    answering: float | None = None,
) -> SessionConduct:
    """Compute the conduct of one session from its answers and skips, by the same rules as in consolidation.

    Active time is Σ min(gap, 60 s) over the gaps from the start to the first answer and from answer to answer.
    Simulated raters do not wait: their gaps are their simulated response times divided by ``answering``, the
    proportion of a trial that passes between the images and the answer.
    """
    valid = [row for row in answers if row.valid]
    counts = tally(
        (answer for row in valid for answer in _checked(row)),
        [SkippedTrial(row.role, row.expected) for row in skipped],
    )
    conduct_so_far = conduct_of(counts)
    moments = sorted([*([] if begun is None else [begun]), *(row.answered for row in answers)])
    gaps = [after - before for before, after in pairwise(moments)]
    if answering is not None:
        gaps = [row.seconds / answering for row in answers]
    return SessionConduct(
        answers=len(valid),
        spoiled=len(answers) - len(valid),
        skips=len(skipped),
        skipped=conduct_so_far.skipped,
        claims=claims,
        median_seconds=conduct_so_far.median_seconds,
        same_share=conduct_so_far.same_share,
        gold_share=conduct_so_far.gold_share,
        attention_share=proportion(counts.attention),
        attention_failures=conduct_so_far.attention_failures,
        qualification_share=conduct_so_far.qualification_share,
        active_seconds=sum(min(gap, LONGEST_GAP) for gap in gaps),
    )


def flags_of(
    session: SessionConduct, question: AnyQuestion, hourly: float | None, minimum_hourly: float
) -> list[str]:
    """Return flags by the study's screening rules, and for what no rater can do."""
    reasons = judge(asdict(session), _live_rules(question)).reasons
    flags = [FLAGS[reason.partition(":")[0]] for reason in reasons]
    if session.claims > CLAIMS_FORGIVEN:
        flags.append("claimed more time than had passed")
    if hourly is not None and hourly < minimum_hourly:
        flags.append("under the minimum wage")
    return flags


def _live_rules(question: AnyQuestion) -> Screening:
    """Return the screening rules that apply to a single session, with defaults where the study sets none."""
    rules = question.screening
    return Screening(
        min_seconds=max(rules.min_seconds or 0.0, kind_of(question).least_seconds(question)),
        max_same_share=rules.max_same_share,
        max_skipped=MOST_SKIPPED if rules.max_skipped is None else rules.max_skipped,
        min_qualification=rules.min_qualification,
        min_gold=rules.min_gold,
        max_attention_failures=(
            FAILURES_FORGIVEN if rules.max_attention_failures is None else rules.max_attention_failures
        ),
    )


def _checked(row: Row[Any]) -> Iterator[CheckedAnswer]:
    """Yield the answers to the aspects of one trial."""
    for answer in row.said:
        ranking = answer.get("ranking")
        text = AspectAnswer(
            answer["aspect"],
            answer.get("choice"),
            answer.get("value"),
            None if ranking is None else tuple(ranking),
        ).text
        yield CheckedAnswer(row.role, row.trial, answer["aspect"], text, row.expected, row.seconds)


def _row(catalogue: Catalogue, study: Study, session: Row[Any], conducted: SessionConduct) -> JsonObject:
    paid = session.pay is not None and conducted.active_seconds > 0
    hourly = session.pay / conducted.active_seconds * 3600 if paid else None
    question = catalogue.questions[session.question]
    key, has_ended = catalogue.secret("token"), session.status != "running"
    return {
        "code": personal_code(key, session.session, session.status) if has_ended else None,
        "other_device": session.guest_hash is not None,
        "rater": session.person,
        "session": session.session,
        "question": session.question,
        "platform": session.platform,
        "simulated": session.simulated,
        "status": session.status,
        "excluded": session.excluded,
        "reason": session.reason,
        "started": session.started,
        "seen": session.seen,
        "planned": len(session.plan or []),
        "frame_hz": 1000 / session.frame_ms if session.frame_ms else None,
        "pay": session.pay,
        "hourly": hourly,
        "flags": flags_of(conducted, question, hourly, study.pay.minimum_hourly),
    } | asdict(conducted)


def _answers_of(connection: Connection, names: Sequence[str]) -> dict[str, list[Row[Any]]]:
    columns = (
        responses.c.session,
        responses.c.trial,
        responses.c.said,
        responses.c.seconds,
        responses.c.valid,
        responses.c.right,
        responses.c.answered,
        trials.c.role,
        trials.c.expected,
    )
    query: Select[Any] = (
        select(*columns)
        .join_from(responses, trials, trials.c.trial == responses.c.trial)
        .where(responses.c.session.in_(names))
        .order_by(responses.c.session, responses.c.answered)
    )
    rows: Sequence[Row[Any]] = connection.execute(query).all()
    by_session: dict[str, list[Row[Any]]] = {}
    for row in rows:
        by_session.setdefault(row.session, []).append(row)
    return by_session


def _skips_of(connection: Connection, names: Sequence[str]) -> dict[str, list[Row[Any]]]:
    query: Select[Any] = (
        select(skips.c.session, trials.c.role, trials.c.expected)
        .join_from(skips, trials, trials.c.trial == skips.c.trial)
        .where(skips.c.session.in_(names))
    )
    rows: Sequence[Row[Any]] = connection.execute(query).all()
    by_session: dict[str, list[Row[Any]]] = {}
    for row in rows:
        by_session.setdefault(row.session, []).append(row)
    return by_session


def _claims(connection: Connection, names: Sequence[str]) -> dict[str, int]:
    """Count the answers of each session that claimed more time than had passed."""
    rows = connection.execute(
        select(events.c.session, func.count().label("claims"))
        .where(events.c.session.in_(names), events.c.kind == TIMING)
        .group_by(events.c.session)
    )
    return {row.session: row.claims for row in rows}
