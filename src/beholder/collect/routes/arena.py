"""The HTTP interface of an arena."""

import hmac
from typing import Annotated, Any

from fastapi import APIRouter, Cookie, Depends, Path, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Row, insert, select

from beholder.collect.arena.ballots import CAP, OUTCOMES, Vote, near_ballots, serve_ballot, take_vote
from beholder.collect.arena.board import OWN_VOTES, own_board
from beholder.collect.arena.own_prompts import OWN, ask_for_pair, drop_ballot, own_images
from beholder.collect.arena.schema import voters
from beholder.collect.arena.service import ArenaService
from beholder.collect.live.room import LiveRoom
from beholder.collect.routes.images import HEADERS
from beholder.collect.routes.pages import PAGES, get_health, get_texts
from beholder.collect.server.static_files import page_file
from beholder.collect.server.threads import ImageRoute
from beholder.collect.session.cookies import RATER_COOKIE, stamped
from beholder.collect.session.identity import hash_of, new_token
from beholder.collect.session.messages import NO_NUL
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


class OwnPrompt(BaseModel):
    """A prompt of the voter's own."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(max_length=4000, pattern=NO_NUL)


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
    return {
        "revealed": {"left": ballot.first, "right": ballot.second, "check": ballot.first == ballot.second},
        "state": state,
    }


@image_router.get("/{token}", response_class=Response)
def get_image(
    token: Annotated[str, Path(max_length=64)], service: Serving, beholder: VoterCookie = None
) -> Response:
    """Return an image of the voter's open pair or of the one before."""
    with service.database.reading() as connection:
        voter = service.voter(connection, beholder)
        near = near_ballots(connection, voter)
    for ballot in near:
        for side in SIDES:
            own = service.image_token(voter.voter, ballot.ballot, side)
            if hmac.compare_digest(own.encode(), token.encode()):
                name = ballot.first_image if side == "first" else ballot.second_image
                return Response(_content(service, voter.voter, name), media_type=MEDIA_TYPE, headers=HEADERS)
    raise RefusedError(404, "no-image", "there is no such image for this voter now")


def _content(service: ArenaService, voter: str, name: str) -> bytes:
    """An image of the study, or one that was made for this voter; all are encoded alike."""
    if not name.startswith(OWN):
        return service.served.content(name)
    collecting, background = service.study.collect, service.study.images.background
    return _room(service).content(
        voter, name.removeprefix(OWN), side=service.side, quality=collecting.image_quality, background=background
    )


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


@router.post("/api/own/agree")
def post_agree(service: Serving, beholder: VoterCookie = None) -> State:
    """Go on after the warning, before the first prompt of one's own."""
    with service.database.reading() as connection:
        voter = service.voter(connection, beholder)
    _room(service).agree(voter.voter)
    return {"agreed": True}


@router.post("/api/own/prompt")
def post_own(body: OwnPrompt, service: Serving, beholder: VoterCookie = None) -> State:
    """Ask for a pair on one's own prompt; its images are made meanwhile."""
    room = _room(service)
    with service.database.writing() as connection:
        voter = service.voter(connection, beholder)
        refused = ask_for_pair(
            connection, room, voter, body.text, service.draw, service.draw_rng(), now=service.now()
        )
        return {"refused": refused, "state": _state(service, connection, voter)}


def _room(service: ArenaService) -> LiveRoom:
    if service.live is None:
        raise RefusedError(404, "not-live", "this arena takes no prompts of voters: it runs without --own-prompts")
    return service.live


def _state(service: ArenaService, connection: Any, voter: Row[Any]) -> State:  # noqa: ANN401 - SQLAlchemy's connection
    ballot = serve_ballot(connection, voter, service.draw, service.images, service.draw_rng(), now=service.now())
    common: State = {
        "votes": voter.votes,
        "cap": CAP,
        "title": service.study.title,
        "own_prompts": service.live is not None,
    }
    if ballot is None:
        return common | {"step": "capped"}
    if not ballot.first_image.startswith(OWN):
        pictures = [service.images.pictures[name] for name in (ballot.first_image, ballot.second_image)]
        sizes = [(picture.width, picture.height) for picture in pictures]
    elif service.live is None:  # the server was started again without --own-prompts
        drop_ballot(connection, ballot)
        return _state(service, connection, voter)
    else:
        status, views = own_images(service.live, ballot)
        if status == "waiting":
            return common | {"step": "making", "prompt": ballot.prompt}
        if status != "made":
            drop_ballot(connection, ballot)
            note = next((view["note"] for view in views if view["note"]), "")
            return _state(service, connection, voter) | {"unmade": {"status": status, "note": note}}
        sizes = [(view["width"], view["height"]) for view in views]
    images = []
    for side, size in zip(SIDES, sizes, strict=True):
        width, height = display_size(*size, service.side)
        token = service.image_token(voter.voter, ballot.ballot, side)
        images.append({"token": token, "width": width, "height": height})
    return common | {
        "step": "vote",
        "ballot": ballot.ballot,
        "prompt": ballot.prompt,
        "images": images,
        "options": list(OUTCOMES),
    }
