"""A service over HTTP as a generator: a request of the user's own, retries, a rate limit, secrets by name."""

import base64
import binascii
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from beholder.errors import RefusalError, WorkerError
from beholder.generators.pace import Pace
from beholder.generators.secrets import Secrets
from beholder.generators.template import fill, filling_of
from beholder.study.generating import HttpGenerator
from beholder.workers.identity import Identity
from beholder.workers.messages import ImageReply, ImageRequest

LARGEST_REPLY = 256_000_000
TOO_MANY, SERVER_FAULT, USER_FAULT = 429, 500, 400
LONGEST_WAIT = 60.0
"""Seconds between two attempts, at most; a longer ``Retry-After`` is cut to it."""
QUOTED = 300


class HttpService:
    """Sends the request of one image, again where that may help, and reads the image from the reply."""

    seeded = True

    def __init__(
        self,
        settings: HttpGenerator,
        _: Path | None = None,
        *,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Look up the secrets; an error lists those that are missing, and a body that is no JSON."""
        self._settings = settings
        self._secrets = Secrets([settings.url, settings.body, *settings.headers], f"generator '{settings.name}'")
        self._body = _parsed(settings)
        self._pace = Pace(settings.per_minute, sleep=sleep)
        self._sleep = sleep
        self._client = httpx.Client(timeout=settings.timeout, transport=transport)
        recorded = settings.model_dump(
            mode="json", include={"url", "method", "headers", "body", "image", "version"}, exclude_defaults=True
        )
        self._identity = Identity(name=httpx.URL(settings.url).host, tasks=("generate",), settings=recorded)

    @property
    def identity(self) -> Identity:
        """The request as the study has it, secrets by their names; the weights are not known."""
        return self._identity

    @property
    def concurrency(self) -> int:
        """As the settings allow."""
        return self._settings.concurrency

    def generate(self, request: ImageRequest) -> ImageReply:
        """Ask for one image."""
        try:
            response = self._send(request)
            if self._settings.image == "raw":
                return ImageReply(response.content)
            content = _json(response)
            image = self._bytes_of(_at(content, self._settings.image))
            rewritten = _at(content, self._settings.rewritten) if self._settings.rewritten else None
            return ImageReply(image, rewritten if isinstance(rewritten, str) else None)
        except WorkerError as error:
            raise WorkerError(self._secrets.hidden(str(error)), fault=error.fault) from None
        except RefusalError as error:
            raise RefusalError(self._secrets.hidden(str(error))) from None

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _send(self, request: ImageRequest) -> httpx.Response:
        """Return the first reply that is no passing fault, or raise what the last attempt showed."""
        for attempt in range(self._settings.retries + 1):
            self._pace.wait()
            last = attempt == self._settings.retries
            try:
                response = self._client.send(self._built(request))
            except httpx.TimeoutException as error:
                raise WorkerError(
                    f"timeout: no reply for {self._settings.timeout:g} s", fault="timeout"
                ) from error
            except httpx.HTTPError as error:
                if last:
                    raise WorkerError(f"cannot be reached ({str(error) or type(error).__name__})") from error
                self._sleep(_pause(attempt, None))
                continue
            if response.status_code == TOO_MANY or response.status_code >= SERVER_FAULT:
                if last:
                    attempts = f"after {attempt + 1} attempts: " if attempt else ""
                    raise WorkerError(f"{attempts}status {response.status_code}: {_quoted(response)}")
                self._sleep(_pause(attempt, response.headers.get("Retry-After")))
                continue
            return self._accepted(response)
        raise AssertionError("the last attempt returns or raises")

    def _built(self, request: ImageRequest) -> httpx.Request:
        filling = filling_of(request)
        in_url = {key: quote(text, safe="") for key, text in filling.items()}
        url = self._secrets.filled(fill(self._settings.url, in_url))
        parts = [header.partition(":") for header in self._settings.headers]
        headers = [(name.strip(), self._secrets.filled(content.strip())) for name, _, content in parts]
        body = None
        if self._body is not None:
            headers = [("Content-Type", "application/json"), *headers]
            body = json.dumps(self._filled(self._body, filling, request), ensure_ascii=False).encode()
        return self._client.build_request(self._settings.method, url, headers=headers, content=body)

    def _filled(self, node: Any, filling: dict[str, str], request: ImageRequest) -> Any:  # noqa: ANN401 - JSON
        """Fill the texts of a JSON document; ``"{seed}"`` and sizes alone become numbers, or null."""
        if isinstance(node, dict):
            return {key: self._filled(inner, filling, request) for key, inner in node.items()}
        if isinstance(node, list):
            return [self._filled(inner, filling, request) for inner in node]
        if not isinstance(node, str):
            return node
        numbers = {"{seed}": request.seed, "{width}": request.width, "{height}": request.height}
        return numbers[node] if node in numbers else fill(self._secrets.filled(node), filling)

    def _accepted(self, response: httpx.Response) -> httpx.Response:
        """Return a reply with an image; a refusal or a failure is raised."""
        status, settings = response.status_code, self._settings
        if status in settings.refused_status:
            raise RefusalError(f"status {status}: {_quoted(response)}")
        if USER_FAULT <= status < SERVER_FAULT:
            text = response.text.lower()
            if any(word.lower() in text for word in settings.refused_words):
                raise RefusalError(f"status {status}: {_quoted(response)}")
        if not response.is_success:
            raise WorkerError(f"status {status}: {_quoted(response)}")
        if len(response.content) > LARGEST_REPLY:
            raise WorkerError(f"a reply of more than {LARGEST_REPLY:,} bytes", fault="not-an-image")
        return response

    def _bytes_of(self, place: object) -> bytes:
        """Return the image that a text of the reply holds: base64, a data URL, or an address to fetch it from."""
        if not isinstance(place, str) or not place:
            message = f"no image at '{self._settings.image}' in the reply"
            raise WorkerError(message, fault="not-an-image")
        if place.startswith(("https://", "http://")):
            try:
                return self._client.get(place).raise_for_status().content
            except httpx.HTTPError as error:
                raise WorkerError(f"the image cannot be fetched ({error})") from error
        try:
            return base64.b64decode(place.partition("base64,")[2] or place, validate=True)
        except (binascii.Error, ValueError) as error:
            message = f"what is at '{self._settings.image}' is neither base64 nor an address: {place[:60]!r}"
            raise WorkerError(message, fault="not-an-image") from error


def _parsed(settings: HttpGenerator) -> Any:  # noqa: ANN401 - JSON
    if not settings.body:
        return None
    try:
        return json.loads(settings.body)
    except ValueError as error:
        raise WorkerError(f"generator '{settings.name}': body is not JSON ({error})", fault="start") from error


def _json(response: httpx.Response) -> object:
    try:
        return response.json()
    except ValueError as error:
        raise WorkerError(f"the reply is no JSON: {_quoted(response)}", fault="not-an-image") from error


def _at(content: object, path: str) -> object:
    """Follow a path such as ``data.0.b64_json``; ``None`` where it leads nowhere."""
    for key in path.split("."):
        if isinstance(content, dict):
            content = content.get(key)
        elif isinstance(content, list) and key.isdigit() and int(key) < len(content):
            content = content[int(key)]
        else:
            return None
    return content


def _pause(attempt: int, retry_after: str | None) -> float:
    """Seconds until the next attempt: what the service asks for, or 1, 2, 4, …"""
    if retry_after and retry_after.isdigit():
        return min(float(retry_after), LONGEST_WAIT)
    return min(2.0**attempt, LONGEST_WAIT)


def _quoted(response: httpx.Response) -> str:
    text = " ".join(response.text.split())
    return text if len(text) <= QUOTED else f"{text[:QUOTED]}…"
