"""The HTTP interface of an arena."""

import hmac
from typing import Annotated, Any

from fastapi import APIRouter, Cookie, Depends, Path, Request, Response
from pydantic import BaseModel, ConfigDict
from sqlalchemy import Row, insert, select

from beholder.collect.arena.ballots import CAP, OUTCOMES, Vote, serve_ballot, take_vote
from beholder.collect.arena.board import OWN_VOTES, own_board
from beholder.collect.arena.schema import ballots, voters
from beholder.collect.arena.service import ArenaService
from beholder.collect.routes.images import HEADERS
from beholder.collect.routes.pages import PAGES, get_health, get_texts
from beholder.collect.server.static_files import page_file
from beholder.collect.server.threads import ImageRoute
from beholder.collect.session.cookies import RATER_COOKIE, stamped
from beholder.collect.session.identity import hash_of, new_token
from beholder.errors import RefusedError
from beholder.images.display import MEDIA_TYPE, display_size
from beholder.study.question import Language

router = APIRouter(tags=["arena"])
image_router = APIRouter(prefix="/api/image", tags=["arena"], route_class=ImageRoute)

VoterCookie = Annotated[str | None, Cookie(alias=RATER_COOKIE)]
State = dict[str, Any]

SIDES = ("first", "second")


async def service_of(request: Request) -> ArenaService:
    """Return the service of this arena."""
    service: ArenaService = request.app.state.service
    return service


Serving = Annotated[ArenaService, Depends(service_of)]


class Enter(BaseModel):
    """What the page sends when somebody agrees to take part."""

    model_config = ConfigDict(extra="forbid")

    language: Language = "en"
    agreed: bool


@router.get("/", include_in_schema=False)
async def get_page() -> Response:
    """Return the page of voters."""
    return await page_file(PAGES / "arena" / "index.html", {"Cache-Control": "no-cache"})


@router.get("/board", include_in_schema=False)
async def get_board_page() -> Response:
    """Return the page of the board."""
    return await page_file(PAGES / "arena" / "board.html", {"Cache-Control": "no-cache"})


router.add_api_route("/api/texts/{language}", get_texts)
router.add_api_route("/api/health", get_health)


@router.post("/api/enter")
def post_enter(
    body: Enter, request: Request, response: Response, service: Serving, beholder: VoterCookie = None
) -> State:
    """Take part: make a voter where there is none, and return the first pair."""
    if not body.agreed:
        raise RefusedError(403, "no-consent", "nobody votes who has not agreed")
    token = None
    with service.database.writing() as connection:
        try:
            voter = service.voter(connection, beholder)
        except RefusedError:
            token = new_token()
            connection.execute(
                insert(voters).values(
                    voter=f"v-{hash_of(token)[:16]}",
                    token_hash=hash_of(token),
                    language=body.language,
                    created=service.now(),
                    votes=0,
                )
            )
            voter = connection.execute(select(voters).where(voters.c.token_hash == hash_of(token))).one()
        state = _state(service, connection, voter)
    if token is not None:
        response.set_cookie(
            RATER_COOKIE,
            stamped(service.key, token),
            httponly=True,
            secure=request.url.scheme == "https",
            samesite="lax",
            path="/",
            max_age=30 * 86_400,
        )
    return state


@router.get("/api/state")
def get_state(service: Serving, beholder: VoterCookie = None) -> State:
    """Return the pair that this voter is to judge now."""
    with service.database.writing() as connection:
        return _state(service, connection, service.voter(connection, beholder))


@router.post("/api/answer")
def post_vote(vote: Vote, service: Serving, beholder: VoterCookie = None) -> State:
    """Take a vote, reveal who made the images, and return the next pair; the vote is on the disk by then."""
    with service.database.writing() as connection:
        voter = service.voter(connection, beholder)
        ballot = take_vote(connection, voter, vote, now=service.now())
        state = _state(service, connection, service.voter(connection, beholder))
    return {"revealed": {"left": ballot.first, "right": ballot.second, "check": ballot.is_check}, "state": state}


@image_router.get("/{token}", response_class=Response)
def get_image(
    token: Annotated[str, Path(max_length=64)], service: Serving, beholder: VoterCookie = None
) -> Response:
    """Return an image of the voter's open pair or of the one before."""
    with service.database.reading() as connection:
        voter = service.voter(connection, beholder)
        near = connection.execute(
            select(ballots).where(ballots.c.voter == voter.voter).order_by(ballots.c.number.desc()).limit(2)
        ).all()
    for ballot in near:
        for side in SIDES:
            own = service.image_token(voter.voter, ballot.ballot, side)
            if hmac.compare_digest(own.encode(), token.encode()):
                name = ballot.first_image if side == "first" else ballot.second_image
                return Response(service.served.content(name), media_type=MEDIA_TYPE, headers=HEADERS)
    raise RefusedError(404, "no-image", "there is no such image for this voter now")


@router.get("/api/board")
async def get_board(service: Serving) -> dict[str, Any]:
    """Return the board as it was last computed; it names no voter."""
    return service.board


@router.get("/api/own")
def get_own(service: Serving, beholder: VoterCookie = None) -> State:
    """Return the voter's own board, once there are enough votes."""
    with service.database.reading() as connection:
        voter = service.voter(connection, beholder)
    return {"votes": voter.votes, "needed": OWN_VOTES, "entries": own_board(service.table, voter.voter)}


def _state(service: ArenaService, connection: Any, voter: Row[Any]) -> State:  # noqa: ANN401 - SQLAlchemy's connection
    ballot = serve_ballot(connection, voter, service.draw, service.images, service.draw_rng(), now=service.now())
    common = {"votes": voter.votes, "cap": CAP, "title": service.study.title}
    if ballot is None:
        return common | {"step": "capped"}
    images = []
    for side, name in zip(SIDES, (ballot.first_image, ballot.second_image), strict=True):
        picture = service.images.pictures[name]
        width, height = display_size(picture.width, picture.height, service.side)
        token = service.image_token(voter.voter, ballot.ballot, side)
        images.append({"token": token, "width": width, "height": height})
    return common | {
        "step": "vote",
        "ballot": ballot.ballot,
        "prompt": ballot.prompt,
        "images": images,
        "options": list(OUTCOMES),
    }
