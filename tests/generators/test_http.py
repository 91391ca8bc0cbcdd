"""A service over HTTP: the user's own request, refusals, retries, rate limit; and secrets that never leak."""

import base64
import json
from collections.abc import Callable

import httpx
import pytest

from beholder.errors import FaultsError, RefusalError, StudyError, WorkerError
from beholder.generators.http import HttpService
from beholder.generators.pace import Pace
from beholder.study.generating import HttpGenerator
from beholder.study.study import checked_generators
from beholder.workers.messages import ImageRequest

REQUEST = ImageRequest(prompt='a "red" {seed} ball', seed=7, width=64, height=32)

Answer = Callable[[httpx.Request], httpx.Response]


def service(answer: Answer, sleeps: list[float] | None = None, **settings: object) -> HttpService:
    options = {"name": "api", "url": "https://images.example/v1", **settings}
    transport = httpx.MockTransport(answer)
    slept: list[float] = [] if sleeps is None else sleeps
    return HttpService(HttpGenerator.model_validate(options), transport=transport, sleep=slept.append)


def test_the_request_is_the_users_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_KEY", "top-secret")
    sent: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(200, content=b"an image")

    body = '{"input": {"prompt": "{prompt}", "seed": "{seed}", "s": "{width}x{height}"}, "w": "{width}", "n": 1}'
    headers = ["Authorization: Bearer ${API_KEY}", "X-Run: 3"]
    generator = service(answer, body=body, headers=headers, url="https://images.example/v1?seed={seed}&q={prompt}")
    assert generator.generate(REQUEST).content == b"an image"
    (request,) = sent
    assert json.loads(request.content) == {
        "input": {"prompt": 'a "red" {seed} ball', "seed": 7, "s": "64x32"},
        "w": 64,
        "n": 1,
    }
    assert request.headers["Authorization"] == "Bearer top-secret"
    assert request.headers["Content-Type"] == "application/json"
    assert request.url.params["q"] == 'a "red" {seed} ball'
    assert "top-secret" not in generator.identity.model_dump_json()
    assert "${API_KEY}" in generator.identity.model_dump_json()


def test_an_image_in_json() -> None:
    encoded = base64.b64encode(b"pixels").decode()
    reply = {"data": [{"b64_json": encoded, "revised_prompt": "a crimson ball"}]}
    generator = service(
        lambda _: httpx.Response(200, json=reply), image="data.0.b64_json", rewritten="data.0.revised_prompt"
    )
    image = generator.generate(REQUEST)
    assert (image.content, image.prompt) == (b"pixels", "a crimson ball")
    url = service(lambda _: httpx.Response(200, json={"a": f"data:image/png;base64,{encoded}"}), image="a")
    assert url.generate(REQUEST).content == b"pixels"


def test_an_image_at_an_address() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.host == "cdn.example":
            return httpx.Response(200, content=b"from elsewhere")
        return httpx.Response(200, json={"url": "https://cdn.example/1.png"})

    assert service(answer, image="url").generate(REQUEST).content == b"from elsewhere"


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (httpx.Response(200, json={"data": []}), r"no image at 'data\.0' in the reply"),
        (httpx.Response(200, json={"data": ["§§"]}), "neither base64 nor an address"),
        (httpx.Response(200, text="<html>"), "the reply is no JSON: <html>"),
        (httpx.Response(404, text="nothing here"), "status 404: nothing here"),
        (httpx.Response(302, headers={"Location": "https://elsewhere.example"}), "status 302"),
    ],
)
def test_what_is_no_image_is_a_failure(reply: httpx.Response, message: str) -> None:
    with pytest.raises(WorkerError, match=message):
        service(lambda _: reply, image="data.0").generate(REQUEST)


def test_a_refusal_is_no_failure() -> None:
    policy = httpx.Response(400, json={"error": {"code": "content_policy_violation"}})
    with pytest.raises(RefusalError, match=r"status 400: .*content_policy_violation"):
        service(lambda _: policy).generate(REQUEST)
    with pytest.raises(RefusalError, match="status 451"):
        service(lambda _: httpx.Response(451), refused_status=[451]).generate(REQUEST)


def test_passing_faults_are_retried_with_growing_pauses() -> None:
    replies = iter([httpx.Response(503), httpx.Response(429, headers={"Retry-After": "9"}), httpx.Response(200)])
    sleeps: list[float] = []
    service(lambda _: next(replies), sleeps).generate(REQUEST)
    assert sleeps == [1.0, 9.0]
    sleeps.clear()
    with pytest.raises(WorkerError, match="after 3 attempts: status 503"):
        service(lambda _: httpx.Response(503), sleeps, retries=2).generate(REQUEST)
    assert sleeps == [1.0, 2.0]


def test_a_lost_connection_is_retried_and_a_timeout_is_not() -> None:
    def lost(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    def slow(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadTimeout("slow", request=request)

    sleeps: list[float] = []
    with pytest.raises(WorkerError, match="cannot be reached"):
        service(lost, sleeps, retries=1).generate(REQUEST)
    assert sleeps == [1.0]
    with pytest.raises(WorkerError, match="timeout: no reply for 5 s") as caught:
        service(slow, sleeps, timeout=5.0).generate(REQUEST)
    assert (caught.value.fault, sleeps) == ("timeout", [1.0])


def test_secrets_come_from_the_environment_and_stay_out_of_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("API_KEY", raising=False)
    with pytest.raises(FaultsError, match="the environment variable API_KEY is not set"):
        service(lambda _: httpx.Response(200), headers=["Authorization: Bearer ${API_KEY}"])
    monkeypatch.setenv("API_KEY", "top-secret")
    echo = service(
        lambda request: httpx.Response(403, text=f"bad key {request.headers['Authorization']}"),
        headers=["Authorization: Bearer ${API_KEY}"],
    )
    with pytest.raises(WorkerError, match=r"bad key Bearer \$\{API_KEY\}") as caught:
        echo.generate(REQUEST)
    assert "top-secret" not in str(caught.value)
    section = {
        "name": "api",
        "kind": "http",
        "url": "https://x.example",
        "headers": ["Authorization: Bearer sk-1"],
    }
    with pytest.raises(StudyError, match="Authorization holds a secret, which must not stand in a file"):
        checked_generators([section], "study.toml")


def test_a_rate_limit_spaces_requests_evenly() -> None:
    """30 per minute: 2 s between two; by hand, requests at 0, 0, 0 and 5 wait 0, 2, 4 and 1 s."""
    now, sleeps = [0.0], list[float]()
    pace = Pace(30, clock=lambda: now[0], sleep=sleeps.append)
    for moment in (0.0, 0.0, 0.0, 5.0):
        now[0] = moment
        pace.wait()
    assert sleeps == [2.0, 4.0, 1.0]
    Pace(None, sleep=sleeps.append).wait()
    assert len(sleeps) == 3


def test_a_body_that_is_no_json() -> None:
    with pytest.raises(WorkerError, match="generator 'api': body is not JSON"):
        service(lambda _: httpx.Response(200), body="{prompt}")
