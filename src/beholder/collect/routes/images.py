"""Images under tokens that only one session can use, and only around the trial they belong to."""

from typing import Annotated

from fastapi import APIRouter, Cookie, Path, Response

from beholder.collect.pictures import MEDIA_TYPE, served_bytes
from beholder.collect.routes.rater import Serving
from beholder.collect.service import COOKIE
from beholder.collect.showing import window
from beholder.collect.threads import ImageRoute
from beholder.errors import RefusedError

router = APIRouter(prefix="/api/image", tags=["rater"], route_class=ImageRoute)


@router.get("/{token}", response_class=Response)
def get_image(
    token: Annotated[str, Path(max_length=64)],
    service: Serving,
    beholder: Annotated[str | None, Cookie(alias=COOKIE)] = None,
) -> Response:
    """The image of the current trial or of one of the next few; anything else is not found."""
    with service.database.reading() as connection:
        session = service.session(connection, beholder, locked=False)
        image = window(service.catalogue, session).get(token)
        if image is None:
            raise RefusedError(404, "no-image", "there is no such image for this session now")
    picture = service.catalogue.pictures[image]
    quality = service.study.collect.image_quality
    content = served_bytes(service.folder, picture.path, picture.sha256, service.side, quality)
    return Response(content, media_type=MEDIA_TYPE, headers={"Cache-Control": "private, max-age=3600"})
