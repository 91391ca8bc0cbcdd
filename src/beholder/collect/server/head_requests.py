"""HEAD for whatever can be got: the same headers as for GET, and no body."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Heads:
    """The middleware: answers HEAD as it would answer GET, and keeps the body back."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on as it is, or as GET."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def headers_only(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        await self._app({**scope, "method": "GET"}, receive, headers_only)
