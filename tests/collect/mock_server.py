"""A stand-in for the study server: speaks the raters' HTTP contract from canned trials with synthetic images.

``python tests/collect/mock_server.py --port 8100`` serves the pages for work on them; the link says what a visit
shows: ``/?kind=pair&from=consent&trials=3&images=9&points=0&exposure=100&feedback=1&blocks=2``.
"""

import argparse
import io
import json
import re
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import numpy as np
from PIL import Image
from pydantic import TypeAdapter

from beholder.simulate.grammar import draw_requests
from beholder.simulate.painter import Policy, paint
from beholder.study.kinds.catalogue import KINDS, AnyQuestion
from beholder.study.kinds.choice import MONK_TONES
from beholder.study.question import Aspect

COLLECT = Path(__file__).parents[2] / "src" / "beholder" / "collect"
CSP = "default-src 'self'; img-src 'self' blob:; style-src 'self'; script-src 'self'"
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
PROMPT = "two small orange cats left of a purple flower, in the snow, photo style"
STEPS = ("consent", "check", "instructions", "trial", "debrief", "done")
POLICY = Policy("synthetic", 1.5, 0.2, 0.1)

Json = dict[str, Any]


@dataclass
class Visit:
    """One session: what the link asked for, where it stands, and all that was posted."""

    wishes: dict[str, str]
    language: str
    step: str = "consent"
    done: int = 0
    attempt: int = 1
    rested: int = 0
    skipped: int = 0
    outcome: str = "complete"
    answers: list[Json] = field(default_factory=list)
    posts: list[tuple[str, Json]] = field(default_factory=list)
    replies: dict[str, Json] = field(default_factory=dict)
    agreed: bool = False
    prompts: list[str] = field(default_factory=list)
    name: str = field(default_factory=lambda: secrets.token_hex(4))

    @property
    def trial(self) -> str:
        """Name of the current trial, known to this visit alone."""
        return f"{self.name}-{self.done}"

    @property
    def trials(self) -> int:
        return int(self.wishes.get("trials", "3"))


class Mock:
    """The visits and the ways in which a test can make life hard."""

    def __init__(self, pictures: list[bytes], size: int) -> None:
        self.pictures = pictures
        self.size = size
        self.url = ""
        self.reset()

    def reset(self) -> None:
        """Forget all visits; be kind again."""
        self.visits: dict[str, Visit] = {}
        self.down = False
        self.swallow_next_reply = False
        self.refuse_next_answer = False
        self.broken_images = False
        self.preparing_images = False
        self.doubt_next_answer = False

    @property
    def visit(self) -> Visit:
        """The latest visit."""
        return list(self.visits.values())[-1]

    def enter(self, token: str | None, body: Json) -> tuple[str, Json]:
        """The visit of this link: the cookie's, or an earlier one, or a new one."""
        visit = self.visits.get(token or "")
        if token is None or visit is None or visit.wishes != body["parameters"]:
            earlier = [name for name, visit in self.visits.items() if visit.wishes == body["parameters"]]
            token = earlier[0] if earlier and "r" in body["parameters"] else secrets.token_hex(8)
            visit = self.visits.setdefault(token, Visit(body["parameters"], body["language"]))
            if not earlier:
                visit.step = visit.wishes.get("from", "consent")
        visit.language = body["language"]
        return token, self.state(visit)

    def state(self, visit: Visit) -> Json:
        question = question_for(visit.wishes)
        state: Json = {
            "step": visit.step,
            "study": {"title": "How do you see images?", "language": visit.language, "languages": ["en", "de"]},
            "progress": {"done": visit.done, "total": visit.trials},
            "resume": "k3v9-x7q2-m4t8",
        }
        if visit.step == "consent":
            texts = json.loads((COLLECT / "texts" / f"{visit.language}.json").read_text())
            state["consent"] = {
                "text": texts["consent.default"], "hash": "abc", "version": "1", "language": visit.language,
                "pay": {"currency": "USD", "base": 2.5, "per_right": 0.02}, "minutes": 12,
                "masked": visit.wishes.get("kind") == "timed-realism",
            }  # fmt: skip
        elif visit.step == "check":
            state["check"] = {"needs_timing": question.kind in ("timed-realism", "sweep"), "min_hz": 45}
        elif visit.step == "instructions":
            ratio = 0.5 if "realism" in question.kind else None
            state["instructions"] = {
                **_asked(question), "trials": visit.trials, "disclosed_ratio": ratio,
                "own": visit.wishes.get("own", ""), "has_checks": "attention" in visit.wishes,
                "examples": [{"verdict": word, "caption": f"it is {word}"}
                             for word in visit.wishes.get("examples", "").split()],
            }  # fmt: skip
        elif visit.step == "trial":
            state["trial"] = self._trial(visit, question)
        elif visit.step == "break":
            state["break"] = {"block": visit.rested + 1, "blocks": int(visit.wishes.get("blocks", "1"))}
        elif visit.step == "done":
            complete = visit.outcome == "complete"
            state["done"] = {
                "outcome": visit.outcome, "message_key": f"done.{visit.outcome}",
                "code": "C7F3K9QX" if complete else None, "personal_code": "6QKM4-9QPDY",
                "redirect": "https://app.prolific.com/" if complete else None,
            }  # fmt: skip
        return state

    def _trial(self, visit: Visit, question: AnyQuestion) -> Json:
        kind = KINDS[question.kind]
        image_count = kind.shows(question)
        exposure = float(visit.wishes.get("exposure", "500")) if question.kind == "timed-realism" else None
        prompted = question.kind not in ("realism", "timed-realism", "sweep")
        words = re.findall(r"[^\s,.?!\":;]+", PROMPT) if question.kind == "rich-feedback" else None
        images = [self._image(visit.done, position) for position in range(image_count)]
        ahead = [self._image(visit.done + 1, position)["token"] for position in range(min(image_count, 10))]
        return {
            **_asked(question), "trial": visit.trial, "attempt": visit.attempt, "images": images,
            "prompt": PROMPT if prompted else None, "words": words,
            "instruction": visit.wishes.get("instruction"), "feedback": "feedback" in visit.wishes,
            "exposure_ms": exposure, "prefetch": ahead, "phase": visit.wishes.get("phase", "test"),
            "break_offered": visit.done == int(visit.wishes.get("offer", "-1")),
            "skips_left": max(int(visit.wishes.get("skips", "3")) - visit.skipped, 0),
        }  # fmt: skip

    def _image(self, trial: int, position: int) -> Json:
        number = (3 * trial + position) % len(self.pictures)
        return {"token": f"x{number}", "width": self.size, "height": self.size}

    def post(self, visit: Visit, path: str, body: Json) -> tuple[int, Json]:
        visit.posts.append((path, body))
        if path == "/api/answer":
            return self._answer(visit, body)
        if path.startswith("/api/live"):
            return self._ask(visit, path, body)
        if path == "/api/consent":
            visit.step, visit.outcome = ("check", visit.outcome) if body["agreed"] else ("done", "no-consent")
        elif path == "/api/withdraw":
            visit.step, visit.outcome = "done", "withdrawn"
        elif path == "/api/skip":
            self._skip(visit, body)
        elif path == "/api/break":
            visit.rested += 1
            visit.step = "trial"
        else:
            visit.step = STEPS[STEPS.index(visit.step) + 1]
        return 200, self.state(visit)

    def _answer(self, visit: Visit, body: Json) -> tuple[int, Json]:
        if body["key"] in visit.replies:
            return 200, visit.replies[body["key"]]
        if self.refuse_next_answer or body["trial"] != visit.trial or body["attempt"] != visit.attempt:
            self.refuse_next_answer = False
            return 409, {"detail": {"code": "not-current", "message": "another trial is current"}}
        visit.answers.append(body)
        feedback = None
        spoiled = body["spoiled"] or self.doubt_next_answer
        self.doubt_next_answer = False
        if spoiled:
            visit.attempt += 1
        else:
            if "feedback" in visit.wishes:
                right = body["said"][0].get("choice") == visit.wishes["feedback"]
                feedback = {"right": right, "expected": visit.wishes["feedback"]}
            self._advance(visit)
        reply = visit.replies[body["key"]] = {
            "state": self.state(visit),
            "feedback": feedback,
            "spoiled": spoiled,
        }
        return 200, reply

    def _ask(self, visit: Visit, path: str, body: Json) -> tuple[int, Json]:
        """A prompt: one with *forbidden* is refused, and one with *unpaintable* by the generator."""
        if path == "/api/live/agree":
            visit.agreed = True
        elif "forbidden" in body["text"]:
            return 200, {"attempts": [], "refused": "banned"}
        else:
            visit.prompts.append(body["text"])
        return 200, {"attempts": [str(len(visit.prompts))], "refused": None}

    def live(self, visit: Visit, path: str) -> Json:
        if path == "/api/live":
            return {"agreed": visit.agreed, "left": 5 - len(visit.prompts), "last": None, "others": []}
        text = visit.prompts[int(Path(path).name) - 1]
        refused = "unpaintable" in text
        return {
            "attempt": Path(path).name, "status": "refused" if refused else "made", "text": text,
            "note": "no such object" if refused else "", "words": text.split(), "scores": None, "picked": None,
            "width": self.size, "height": self.size,
        }  # fmt: skip

    def _skip(self, visit: Visit, body: Json) -> None:
        visit.skipped += 1
        self._advance(visit)
        if body["end"]:
            visit.step, visit.outcome = "done", "returned"

    def _advance(self, visit: Visit) -> None:
        visit.done += 1
        visit.attempt = 1
        blocks = int(visit.wishes.get("blocks", "1"))
        if visit.done >= visit.trials:
            visit.step = "debrief"
        elif visit.done % -(-visit.trials // blocks) == 0:
            visit.step = "break"


def question_for(wishes: dict[str, str]) -> AnyQuestion:
    """The question that a link asks for."""
    kind = wishes.get("kind", "pair")
    aspects = (
        Aspect(name="quality", text="Quality", labels=tuple(wishes.get("words", "").split())),
        Aspect(name="beauty", text="Beauty", low="ugly", high="beautiful"),
    )
    several = (*aspects, Aspect(name="match", text="Fits the text", low="not at all", high="completely"))
    own: dict[str, Json] = {
        "realism": {"viewing_ms": int(wishes["viewing"]) if "viewing" in wishes else None},
        "timed-realism": {
            "countdown_ms": int(wishes.get("countdown", "500")),
            "mask_ms": int(wishes.get("mask", "30")),
        },
        "pair": {
            "ties": wishes.get("ties", "1") == "1",
            "labels": {"left": wishes["left"]} if "left" in wishes else {},
        },
        "ranking": {"images": int(wishes.get("images", "4"))},
        "rating": {"aspects": several, "points": int(wishes.get("points", "5"))},
        "choice": {"offered": MONK_TONES, "several": True},
        "sweep": {"images": int(wishes.get("images", "20"))},
    }
    return TypeAdapter[AnyQuestion](AnyQuestion).validate_python({"name": "q", "kind": kind, **own.get(kind, {})})


def _asked(question: AnyQuestion) -> Json:
    kind = KINDS[question.kind]
    settings = question.model_dump(
        mode="json",
        exclude={"name", "kind", "protocol", "text", "instructions", "examples", "design", "screening"},
    )
    settings["labels"] = question.words
    options = getattr(kind, "options", lambda _question: ())(question)
    return {"kind": question.kind, "text": question.text, "settings": settings, "options": list(options)}


def paint_pictures(count: int, size: int) -> list[bytes]:
    """Synthetic images as WebP."""
    rng = np.random.default_rng(7)
    pictures = []
    for request in draw_requests(count, rng):
        stream = io.BytesIO()
        Image.fromarray(paint(request, POLICY, size=size, rng=rng).pixels).save(stream, "WEBP", quality=90)
        pictures.append(stream.getvalue())
    return pictures


def _handler(mock: Mock) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = urlparse(self.path).path
            if mock.down:
                self._send(503, b"", "text/plain")
            elif path.startswith("/api/texts/"):
                self._send(200, (COLLECT / "texts" / f"{Path(path).name}.json").read_bytes(), "application/json")
            elif path.startswith("/api/example/"):
                self._picture(int(Path(path).name))
            elif path.startswith("/api/image/"):
                self._picture(int(Path(path).name[1:]))
            elif path.startswith("/api/live/image/"):
                self._picture(int(Path(path).name))
            elif path.startswith("/api/live"):
                self._json(200, mock.live(mock.visits[self._token() or ""], path))
            elif path == "/api/state":
                self._state(mock.visits.get(self._token() or ""))
            else:
                self._file(path.removeprefix("/static/") if path.startswith("/static/") else "index.html")

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if mock.down:
                self._send(503, b"", "text/plain")
            elif self.path == "/api/enter":
                token, state = mock.enter(self._token(), body)
                self._json(200, state, cookie=token)
            elif self.path == "/api/heartbeat":
                self._send(204, b"", "text/plain")
            else:
                self._post(mock.visits.get(self._token() or ""), body)

        def _post(self, visit: Visit | None, body: Json) -> None:
            if visit is None:
                self._json(401, {"detail": {"code": "no-session"}})
                return
            status, reply = mock.post(visit, self.path, body)
            if mock.swallow_next_reply:
                mock.swallow_next_reply = False
                self._send(503, b"", "text/plain")
                return
            self._json(status, reply)

        def _picture(self, number: int) -> None:
            if mock.preparing_images:
                self._json(503, {"detail": {"code": "preparing"}})
            elif mock.broken_images:
                self._send(404, b"", "text/plain")
            else:
                self._send(200, mock.pictures[number], "image/webp")

        def _state(self, visit: Visit | None) -> None:
            if visit is None:
                self._json(401, {"detail": {"code": "no-session"}})
            else:
                self._json(200, mock.state(visit))

        def _token(self) -> str | None:
            match = re.search(r"beholder=(\w+)", self.headers.get("cookie", ""))
            return match and match[1]

        def _file(self, name: str) -> None:
            path = COLLECT / "pages" / name
            if path.is_file():
                self._send(200, path.read_bytes(), TYPES[path.suffix])
            else:
                self._send(404, b"", "text/plain")

        def _json(self, status: int, body: Json, cookie: str = "") -> None:
            self._send(status, json.dumps(body).encode(), "application/json", cookie)

        def _send(self, status: int, content: bytes, kind: str, cookie: str = "") -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-security-policy", CSP)
            keep = kind in ("text/javascript", "text/css")
            self.send_header("cache-control", "max-age=60" if keep else "no-store")
            if cookie:
                self.send_header("set-cookie", f"beholder={cookie}; HttpOnly; SameSite=Lax; Path=/")
            if status != 204:
                self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
            """Silence."""

    return Handler


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that goes away in mid-sentence is no news."""


@contextmanager
def serving(mock: Mock, port: int = 0) -> Iterator[Mock]:
    """Serve in a thread; the address is in ``mock.url``."""
    server = _Server(("127.0.0.1", port), _handler(mock))
    mock.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield mock
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8100)
    parser.add_argument("--size", type=int, default=512)
    arguments = parser.parse_args()
    with serving(Mock(paint_pictures(12, arguments.size), arguments.size), arguments.port) as mock:
        print(mock.url)
        threading.Event().wait()


if __name__ == "__main__":
    main()
