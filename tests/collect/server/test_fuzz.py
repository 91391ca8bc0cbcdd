"""Generated requests against the interface's own description; ``benchmarks/fuzz_api.py`` makes many more."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Design

Serve = Callable[..., Any]

CALLS = 8
"""Of each operation, well-formed and malformed: about 200 together."""

TRUTH = ("zephyr", "quasar", "nimbus", "attention", "sha256", "Traceback", "sqlalchemy")


@pytest.mark.parametrize("mode", ["POSITIVE", "NEGATIVE"])
def test_no_request_makes_the_server_fail_or_tell(serve: Serve, mode: str) -> None:
    schemathesis = pytest.importorskip("schemathesis")  # not by all who collect the tests: it imports for seconds
    served = serve(RealismQuestion(name="q", design=Design(raters=40, trials=4)), limited=False)
    document = served.client().get("/openapi.json").json()
    schema = schemathesis.openapi.from_dict(document)
    statuses: list[int] = []
    for result in schema.get_all_operations():
        operation = result.ok()
        if not operation.path.startswith("/api/"):
            continue
        if mode == "NEGATIVE" and not (operation.body or operation.path_parameters):
            continue
        visitor = served.visitor().begin()
        strategy = operation.as_strategy(generation_mode=getattr(schemathesis.GenerationMode, mode))
        _fuzz(operation, strategy, served.address, visitor.client.cookies["beholder"], statuses)
    assert len(statuses) > 60
    assert max(statuses) < 500
    assert any(status < 300 for status in statuses) or mode == "NEGATIVE"


def _fuzz(
    operation: Any,  # noqa: ANN401
    strategy: Any,  # noqa: ANN401
    address: str,
    cookie: str,
    statuses: list[int],
) -> None:
    @seed(1)
    @settings(
        max_examples=CALLS,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=strategy)
    def run(case: Any) -> None:  # noqa: ANN401
        reply = case.call(base_url=address, cookies={"beholder": cookie}, timeout=30)
        statuses.append(reply.status_code)
        assert reply.status_code < 500, (operation.label, reply.text)
        sent = str(case.body)  # an unknown key is named in the refusal
        assert [word for word in TRUTH if word in reply.text and word not in sent] == []

    run()
