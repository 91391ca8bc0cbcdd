"""A worker that runs elsewhere, reached over HTTP."""

import io
import os

import httpx

from beholder.errors import WorkerError
from beholder.workers.connection import Limits
from beholder.workers.frames import Frame, FrameError, pack_frame, read_frame
from beholder.workers.identity import Identity, read_greeting
from beholder.workers.serve_http import FRAME_TYPE, TOKEN


class HttpConnection:
    """Frames in the bodies of requests; the token comes from the environment variable BEHOLDER_WORKER_TOKEN."""

    def __init__(self, url: str, *, limits: Limits | None = None) -> None:
        """Remember the address; nothing is sent yet."""
        self._url = url
        self._limits = limits or Limits()
        token = os.environ.get(TOKEN, "")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        timeout = httpx.Timeout(self._limits.reply_seconds, connect=min(30.0, self._limits.start_seconds))
        self._client = httpx.Client(headers=headers, timeout=timeout)
        self._identity: Identity | None = None

    @property
    def label(self) -> str:
        """The address."""
        return self._url

    def open(self) -> Identity:
        """Ask for the greeting, once."""
        if self._identity is None:
            self._identity = read_greeting(self._send("GET", None).header, self.label)
        return self._identity

    def exchange(self, request: Frame) -> Frame:
        """Post a request and return its reply."""
        reply = self._send("POST", request)
        if reply.header.get("id") != request.header.get("id"):
            raise WorkerError(f"{self.label}: not a reply: it answers another request")
        return reply

    def close(self) -> None:
        """Close the connection; the service goes on."""
        self._client.close()

    def _send(self, method: str, frame: Frame | None) -> Frame:
        content = pack_frame(frame) if frame else None
        headers = {"Content-Type": FRAME_TYPE} if frame else {}
        try:
            with self._client.stream(method, self._url, content=content, headers=headers) as response:
                body = self._read(response)
        except httpx.TimeoutException as error:
            message = f"{self.label}: timeout: no reply for {self._limits.reply_seconds:g} s"
            raise WorkerError(message, fault="timeout") from error
        except httpx.HTTPError as error:
            raise WorkerError(f"{self.label}: cannot be reached ({error})") from error
        try:
            reply = read_frame(io.BytesIO(body), largest=self._limits.reply_bytes)
        except FrameError as fault:
            message = f"{self.label}: not a reply: status {response.status_code}, {fault}"
            raise WorkerError(message, fault="not-a-reply") from fault
        if reply is None or response.status_code >= 400:
            reason = reply.header.get("error", "") if reply else "an empty reply"
            raise WorkerError(f"{self.label}: status {response.status_code}: {reason}")
        return reply

    def _read(self, response: httpx.Response) -> bytes:
        """Return the body, unless it is larger than allowed."""
        body = bytearray()
        for part in response.iter_bytes():
            body += part
            if len(body) > self._limits.reply_bytes:
                raise WorkerError(f"{self.label}: not a reply: more than {self._limits.reply_bytes:,} bytes")
        return bytes(body)
