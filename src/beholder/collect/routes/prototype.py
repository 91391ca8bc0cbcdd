"""The HTTP interface of prototype rounds: the raters' feedback, and the researcher's page of it."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from beholder.collect.prototype.researcher_view import prototype_view
from beholder.collect.prototype.rounds import Round
from beholder.collect.prototype.votes import Feedback, store_feedback
from beholder.collect.researcher.requests import LINE
from beholder.collect.routes.rater import Serving, SessionCookie
from beholder.collect.routes.researcher import SignedIn
from beholder.collect.server.service import Service
from beholder.collect.session.completion import end_session
from beholder.collect.session.trial_view import trial_token
from beholder.errors import RefusedError
from beholder.images.display import MEDIA_TYPE

router = APIRouter(tags=["prototype"])


@router.post("/api/prototype")
def post_prototype(body: Feedback, service: Serving, beholder: SessionCookie = None) -> dict[str, Any]:
    """Store the feedback and the vote on a prototype, and complete the session."""
    held = _round_of(service)
    with service.database.writing() as connection:
        session = service.session(connection, beholder)
        service.require_owner(session, beholder)
        if service.progress(connection, session).step != "debrief":
            raise RefusedError(409, "other-step", "the feedback comes after the trials")
        now, key = service.now(), service.catalogue.secret("token")
        by_token = {trial_token(key, session.session, name): name for name in session.plan or []}
        concerned = [by_token[token] for token in body.trials if token in by_token]
        store_feedback(connection, session, body, concerned, held.rule, now=now)
        session = service.record_activity(connection, session, debriefed=now, reported_seconds=60 * body.minutes)
        return service.state(connection, end_session(connection, service.study, session, "complete", now=now))


@router.get("/researcher/api/prototype")
def get_prototype(service: Serving, login: SignedIn) -> dict[str, Any]:  # noqa: ARG001 - must be signed in
    """Return votes, feedback and revised texts of the round."""
    held = _round_of(service)
    with service.database.reading() as connection:
        return prototype_view(connection, service.folder, service.study, held)


@router.get("/researcher/api/prototype/image", response_class=Response)
def get_image(
    service: Serving,
    login: SignedIn,  # noqa: ARG001 - must be signed in
    image: Annotated[str, Query(max_length=500, pattern=LINE)],
) -> Response:
    """Return an image of the round, to be shown beside the feedback on its trial."""
    if image not in service.catalogue.pictures:
        raise RefusedError(404, "no-image", "there is no such image in this study")
    return Response(service.images.content(image), media_type=MEDIA_TYPE)


def _round_of(service: Service) -> Round:
    if service.prototype is None:
        raise RefusedError(404, "no-prototype", "this study is no prototype round")
    return service.prototype
