"""The HTTP interface of images: each token is valid for one session, around the trial of the image."""

import re
from typing import Annotated

from fastapi import APIRouter, Cookie, Header, Path, Response
from fastapi.responses import RedirectResponse

from beholder.collect.display.offloaded_images import VALID_SECONDS
from beholder.collect.routes.rater import Serving
from beholder.collect.server.service import COOKIE
from beholder.collect.server.threads import ImageRoute
from beholder.collect.session.examples import example_content
from beholder.collect.session.trial_view import fetchable_images
from beholder.errors import RefusedError
from beholder.images.display import MEDIA_TYPE

HEADERS = {"Cache-Control": "private, max-age=3600, immutable", "Accept-Ranges": "bytes"}
"""A token always names the same image, so the browser may cache it."""

ELSEWHERE = {"Cache-Control": f"private, max-age={VALID_SECONDS / 3:.0f}"}
"""A signed address may be cached for less time than it is valid."""

RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")

router = APIRouter(prefix="/api/image", tags=["rater"], route_class=ImageRoute)
examples = APIRouter(prefix="/api/example", tags=["rater"], route_class=ImageRoute)


@router.head("/{token}", response_class=Response, include_in_schema=False)
@router.get("/{token}", response_class=Response)
def get_image(
    token: Annotated[str, Path(max_length=64)],
    service: Serving,
    beholder: Annotated[str | None, Cookie(alias=COOKIE)] = None,
    part: Annotated[str | None, Header(alias="Range")] = None,
    unless: Annotated[str | None, Header(alias="If-Range")] = None,
) -> Response:
    """Return an image of the current trial or of the next few, or a range of its bytes; 404 otherwise."""
    with service.database.reading() as connection:
        session = service.session(connection, beholder, locked=False)
        image = fetchable_images(service.catalogue, session, prototype=service.prototype is not None).get(token)
        if image is None:
            raise RefusedError(404, "no-image", "there is no such image for this session now")
    elsewhere = None if service.offloaded is None else service.offloaded.address(image)
    if elsewhere is not None:
        return RedirectResponse(elsewhere, 307, headers=ELSEWHERE)
    content = service.images.content(image)
    if part is None or unless is not None:  # no validator is issued, so none can match
        return Response(content, media_type=MEDIA_TYPE, headers=HEADERS)
    return _partial(content, part)


@examples.get("/{number}", response_class=Response)
def get_example(
    number: Annotated[int, Path(ge=0, le=99)],
    service: Serving,
    beholder: Annotated[str | None, Cookie(alias=COOKIE)] = None,
) -> Response:
    """Return an example image of the instructions of the session's question."""
    with service.database.reading() as connection:
        session = service.session(connection, beholder, locked=False)
    question = service.catalogue.questions[session.question]
    content = example_content(service.folder, service.study, question, number)
    return Response(content, media_type=MEDIA_TYPE, headers={"Cache-Control": "private, no-cache"})


def _partial(content: bytes, part: str) -> Response:
    """Return one range of bytes; for several ranges or a malformed one the full image, as RFC 9110 allows."""
    match = RANGE.fullmatch(part.strip())
    if match is None or match.group(1, 2) == ("", ""):
        return Response(content, media_type=MEDIA_TYPE, headers=HEADERS)
    size, (first, last) = len(content), match.group(1, 2)
    if not first:  # a suffix range
        start, stop = max(size - int(last), 0), size
    else:
        start, stop = int(first), min(int(last) + 1, size) if last else size
        if last and int(last) < int(first):
            return Response(content, media_type=MEDIA_TYPE, headers=HEADERS)
    if start >= stop:
        return Response(status_code=416, headers={"Content-Range": f"bytes */{size}", "Accept-Ranges": "bytes"})
    about = {"Content-Range": f"bytes {start}-{stop - 1}/{size}"}
    return Response(content[start:stop], status_code=206, media_type=MEDIA_TYPE, headers=HEADERS | about)


router.routes.extend(examples.routes)
