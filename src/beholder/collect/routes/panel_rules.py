"""The HTTP interface of a panel's rules on a rater's own page."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import Field

from beholder.collect.panel.board import vote
from beholder.collect.panel.requests import Name, Text
from beholder.collect.panel.rules_page import propose_as_rater, rules_page
from beholder.collect.panel.schema import seats
from beholder.collect.routes.panel import Changing, Panel, SignedIn
from beholder.collect.session.messages import Message
from beholder.errors import RefusedError

router = APIRouter(prefix="/api/rules", tags=["panel"])

JsonObject = dict[str, Any]


class RaterProposal(Message):
    """A change of the panel's rules that a rater wants."""

    title: Name
    text: Annotated[Text, Field(min_length=1)]


class RaterVote(Message):
    """A vote of a rater who sits on the board."""

    proposal: Annotated[int, Field(ge=1, le=2**31 - 1)]
    choice: Literal["yes", "no", "abstain"]
    reason: Text = ""


@router.get("")
def get_rules(panel: Panel, login: SignedIn) -> JsonObject:
    """Return the board, the proposals and the latest entries of the open log."""
    with panel.database.reading() as connection:
        return rules_page(connection, login.rater)


@router.post("/propose")
def post_proposal(body: RaterProposal, panel: Panel, login: Changing) -> JsonObject:
    """Propose a change of the rules; it is in the open log at once."""
    with panel.database.writing() as connection:
        number = propose_as_rater(connection, login.rater, body.title, body.text, now=panel.now())
    return {"proposal": number}


@router.post("/vote")
def post_vote(body: RaterVote, panel: Panel, login: Changing) -> JsonObject:
    """Vote, as a member of the board; a later vote replaces an earlier one until it is decided."""
    with panel.database.writing() as connection:
        held = connection.execute(seats.select().where(seats.c.member == login.rater)).first()
        if held is None:
            raise RefusedError(403, "no-seat", "only members of the board vote")
        outcome = vote(connection, body.proposal, login.rater, body.choice, body.reason, now=panel.now())
    return {"status": outcome.status}
