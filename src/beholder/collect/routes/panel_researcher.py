"""The HTTP interface of the researcher's pages of a panel."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Response
from pydantic import Field
from sqlalchemy import select

from beholder.collect.database.schema import persons
from beholder.collect.panel import opening, voices
from beholder.collect.panel.board import propose_rule, vote
from beholder.collect.panel.live_work import note_work
from beholder.collect.panel.payments import GRACE_SECONDS, decide
from beholder.collect.panel.requests import Name, Text
from beholder.collect.panel.researcher.frozen_reports import set_frozen
from beholder.collect.panel.researcher.overview import panel_overview
from beholder.collect.panel.rules_page import require_own_vote
from beholder.collect.panel.schema import appeals, members
from beholder.collect.panel.server.service import PanelService
from beholder.collect.researcher import access
from beholder.collect.researcher.actions import include, set_paused
from beholder.collect.researcher.child_processes import run_module
from beholder.collect.routes.panel import Panel
from beholder.collect.routes.researcher import Manager, SignedIn, from_own_page, may_change, signed_in
from beholder.collect.server.child_process import run_child
from beholder.collect.session.messages import Message, Nothing

REPORT = "beholder.collect.panel.researcher.report"

JsonObject = dict[str, Any]
Reason = Annotated[Text, Field(min_length=1)]

router = APIRouter(prefix="/researcher/api", tags=["panel"], dependencies=[Depends(signed_in)])
changing = APIRouter(prefix="/researcher/api", tags=["panel"], dependencies=[Depends(may_change)])


class StudyAction(Message):
    """An action on a study of the panel."""

    study: Name
    reason: Text = ""


class Publish(StudyAction):
    """What came of a study, for its raters."""

    text: Reason
    link: Annotated[str, Field(max_length=500)] = ""


class DecidePayments(Message):
    """A researcher's word on proposed payments."""

    payments: Annotated[list[Name], Field(min_length=1, max_length=10_000)]
    approve: bool
    without_grace: bool = False


class Freeze(Message):
    """A report of time that counts or does not."""

    study: Name
    session: Name
    frozen: bool
    reason: Reason


class DecideAppeal(Message):
    """A decision on an appeal."""

    appeal: Annotated[int, Field(ge=1)]
    accept: bool
    reason: Reason


class RateRater(Message):
    """When a rater sees the researcher's next study."""

    study: Name
    rater: Name
    rating: Annotated[int, Field(ge=1, le=3)]


class Propose(Message):
    """A change of the panel's rules."""

    title: Name
    text: Text = ""


class Vote(Message):
    """A vote of a member of the board."""

    proposal: Annotated[int, Field(ge=1)]
    member: Name
    choice: Literal["yes", "no", "abstain"]
    reason: Text = ""


@router.get("/overview")
def get_overview(panel: Panel, login: SignedIn) -> JsonObject:
    """Return the overview, the signed-in account, and the token that every change must carry."""
    with panel.database.reading() as connection:
        content = panel_overview(connection, panel.served, panel.progress, now=panel.now())
    you = {"name": login.name, "role": login.role, "may_change": login.may_change}
    return content | {"you": you, "csrf": login.csrf}


@router.post("/sign-out", dependencies=[Depends(from_own_page)])
def post_sign_out(body: Nothing, response: Response, panel: Panel, login: SignedIn) -> JsonObject:  # noqa: ARG001
    """Invalidate the cookie of this request."""
    with panel.database.writing() as connection:
        access.sign_out(connection, login)
    response.delete_cookie(access.COOKIE, path="/researcher")
    return {"signed_out": True}


@router.get("/results/raters")
def get_raters(panel: Panel, researcher: Annotated[str, Query(max_length=64)] = "") -> JsonObject:
    """Return the raters over sessions, with intervals, drift alarms and the gold that comes next."""
    return _report(panel, "raters", researcher)


@router.get("/results/pay")
def get_pay(panel: Panel, study: Annotated[str, Query(max_length=64)]) -> JsonObject:
    """Return the effective hourly pay of a study, what is missing, and payments."""
    return _report(panel, "pay", study)


@router.get("/results/credit")
def get_credit(panel: Panel) -> JsonObject:
    """Return the credit of contributors."""
    return _report(panel, "credit", "")


@changing.post("/results/refresh")
def post_refresh(body: Nothing, panel: Panel) -> JsonObject:  # noqa: ARG001
    """Export the answers of all studies, and compute standings again."""
    return {"message": run_child("beholder.collect.panel.refresh", panel.folder, url=panel.url)}


@changing.post("/results/propose")
def post_top_ups(body: StudyAction, panel: Panel) -> JsonObject:
    """Propose what is missing to the minimum wage in a study."""
    return _report(panel, "propose", body.study)


@changing.post("/payments")
def post_payments(body: DecidePayments, panel: Panel, login: Manager) -> JsonObject:
    """Approve or decline proposed payments; nothing is paid without it."""
    grace = 0.0 if body.without_grace or not body.approve else GRACE_SECONDS
    with panel.database.writing() as connection:
        count = decide(
            connection, body.payments, by=login.name, approve=body.approve, now=panel.now(), grace_seconds=grace
        )
    return {"decided": count}


@changing.post("/freeze")
def post_freeze(body: Freeze, panel: Panel, login: Manager) -> JsonObject:
    """Freeze a report of time, or let it count again."""
    with panel.database.writing() as connection:
        set_frozen(
            connection,
            body.study,
            body.session,
            frozen=body.frozen,
            reason=body.reason,
            by=login.name,
            now=panel.now(),
        )
    return {"frozen": body.frozen}


@changing.post("/appeal")
def post_appeal(body: DecideAppeal, panel: Panel, login: Manager) -> JsonObject:
    """Decide an appeal; an accepted one lets an excluded rater in again."""
    with panel.database.writing() as connection:
        row = connection.execute(select(appeals).where(appeals.c.id == body.appeal)).first()
        voices.decide_appeal(
            connection, body.appeal, accept=body.accept, by=login.name, reason=body.reason, now=panel.now()
        )
        names = (
            connection.scalars(
                select(members.c.pseudonym).where(members.c.study == row.study, members.c.rater == row.rater)
            ).all()
            if row is not None
            else []
        )
    if body.accept and row is not None and row.study in panel.services:
        service = panel.services[row.study]
        with service.database.writing() as connection:
            for name in names:
                if connection.scalar(select(persons.c.excluded).where(persons.c.person == name)):
                    include(connection, name, reason=body.reason, now=service.now(), who=login.name)
        with panel.database.writing() as connection:
            note_work(connection, service.study, service.database, row.rater)
    return {"accepted": body.accept}


@changing.post("/rate")
def post_rate(body: RateRater, panel: Panel) -> JsonObject:
    """Rate a rater: 3 sees the researcher's next study first, 1 last."""
    with panel.database.writing() as connection:
        voices.rate(connection, body.study, body.rater, body.rating, giver="researcher", now=panel.now())
    return {"rating": body.rating}


@changing.post("/resume")
def post_resume(body: StudyAction, panel: Panel, login: Manager) -> JsonObject:
    """Resume a study that flags had paused."""
    with panel.database.writing() as connection:
        opening.resume_study(connection, body.study, by=login.name, reason=body.reason, now=panel.now())
    service = panel.services.get(body.study)
    if service is not None:
        with service.database.writing() as connection:
            set_paused(connection, paused=False, reason=body.reason, now=service.now(), who=login.name)
    return {"paused": False}


@changing.post("/close")
def post_close(body: StudyAction, panel: Panel) -> JsonObject:
    """Close a study: nobody new begins, and raters see their accuracy on its gold trials."""
    with panel.database.writing() as connection:
        opening.close_study(connection, body.study, now=panel.now())
    return {"closed": True}


@changing.post("/publish")
def post_publish(body: Publish, panel: Panel) -> JsonObject:
    """Tell raters what came of a study."""
    with panel.database.writing() as connection:
        opening.publish_results(connection, body.study, body.text, body.link, now=panel.now())
    return {"published": True}


@changing.post("/propose")
def post_propose(body: Propose, panel: Panel, login: Manager) -> JsonObject:
    """Propose a change of the panel's rules."""
    with panel.database.writing() as connection:
        number = propose_rule(connection, body.title, body.text, by=login.name, now=panel.now())
    return {"proposal": number}


@changing.post("/vote")
def post_vote(body: Vote, panel: Panel) -> JsonObject:
    """Enter the vote of a member of the board who has no own page: raters of the panel vote themselves."""
    with panel.database.writing() as connection:
        require_own_vote(connection, body.member)
        outcome = vote(connection, body.proposal, body.member, body.choice, body.reason, now=panel.now())
    return {"status": outcome.status}


def _report(panel: PanelService, name: str, about: str) -> JsonObject:
    content: JsonObject = run_module(REPORT, panel.url, panel.folder, name, about)
    return content


router.routes.extend(changing.routes)
