"""A worker over HTTP: ``GET /`` is answered with its greeting, ``POST /`` with the reply to a frame."""

import hmac
import io
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from beholder.errors import UserError
from beholder.workers.frames import LARGEST_FRAME, Frame, FrameError, pack_frame, read_frame
from beholder.workers.identity import greeting
from beholder.workers.service import Service, reply_to

TOKEN = "BEHOLDER_WORKER_TOKEN"
"""The environment variable with the secret that both sides share."""

FRAME_TYPE = "application/x-beholder-frame"
LOCAL_HOSTS = ("127.0.0.1", "::1", "localhost")


def serve_http(service: Service, address: str) -> None:
    """Serve at ``HOST:PORT`` until the process ends; other machines are served only with a token."""
    server = make_server(service, address, os.environ.get(TOKEN, ""))
    host, port = server.server_address[:2]
    sys.stderr.write(f"serving {service.identity()} at http://{host!s}:{port}\n")
    sys.stderr.flush()
    server.serve_forever()


def make_server(service: Service, address: str, token: str) -> ThreadingHTTPServer:
    """Return the server, bound to its port; port 0 is any that is free."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit():
        raise UserError(f"'{address}' is not of the form HOST:PORT, such as 127.0.0.1:8200")
    if host not in LOCAL_HOSTS and not token:
        raise UserError(f"{address}: other machines could use this worker; set a secret in ${TOKEN} on both sides")
    turn = threading.Lock()  # networks are used by one request at a time

    class Handler(BaseHTTPRequestHandler):
        """Greeting and replies."""

        def do_GET(self) -> None:
            """Send the greeting."""
            if self._allowed():
                self._send(200, greeting(service.identity()))

        def do_POST(self) -> None:
            """Send the reply to the frame in the body."""
            if not self._allowed():
                return
            length = int(self.headers.get("Content-Length") or 0)
            if length > LARGEST_FRAME:
                self._send(413, Frame({"error": f"a request of more than {LARGEST_FRAME:,} bytes"}))
                return
            try:
                request = read_frame(io.BytesIO(self.rfile.read(length)))
            except FrameError as fault:
                self._send(400, Frame({"error": f"not a frame: {fault}"}))
                return
            if request is None:
                self._send(400, Frame({"error": "an empty request"}))
                return
            with turn:
                reply = reply_to(request, service)
            self._send(200, reply)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
            """Keep quiet."""

        def _allowed(self) -> bool:
            sent = self.headers.get("Authorization", "").removeprefix("Bearer ")
            if token and not hmac.compare_digest(sent.encode(), token.encode()):
                self._send(401, Frame({"error": "the token is missing or wrong"}))
                return False
            return True

        def _send(self, status: int, frame: Frame) -> None:
            content = pack_frame(frame)
            self.send_response(status)
            self.send_header("Content-Type", FRAME_TYPE)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    try:
        return ThreadingHTTPServer((host, int(port)), Handler)
    except (OSError, OverflowError) as error:
        raise UserError(f"{address}: cannot be served ({error})") from error
