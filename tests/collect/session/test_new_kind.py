"""A question kind that the package does not know is served, answered and exported like any other."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.api.test_new_kind import PLACES, QUESTION, registered

from beholder.collect.exchange.export import export
from beholder.consolidate.stage import run as consolidate
from beholder.study.question import Design
from beholder.tables.store import Store

Serve = Callable[..., Any]

__all__ = ["registered"]


@pytest.mark.usefixtures("registered")
def test_from_the_link_to_judgements(serve: Serve) -> None:
    design = Design(raters=2, trials=4, attention_every=2)
    served = serve(QUESTION.model_copy(update={"design": design}))
    visitor = served.visitor().begin()
    assert visitor.trial["kind"] == "best-of-three"
    assert len(visitor.trial["images"]) == 3
    refused = visitor.choose("fourth")
    assert refused.status_code >= 400
    assert "expected one of first, second, third" in refused.text
    visitor.walk()
    export(served.folder, served.url)
    answers = Store(served.folder).read("answers")
    assert answers.height == 4 + 2
    assert set(answers["choice"]) <= set(PLACES)
    consolidate(served.folder)
    assert Store(served.folder).read("judgements").height == 4 * 3  # a rank for each image of the test trials
