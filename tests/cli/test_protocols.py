"""``beholder protocols``: every protocol and kind is listed, in words and in JSON."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from beholder.study.kinds.catalogue import KINDS
from beholder.study.protocols.catalogue import PROTOCOLS


def test_all_are_listed(run: Callable[..., Any]) -> None:
    ran = run("protocols")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0].split() == ["protocol", "kind", "summary", "source"]
    assert [line.split()[0] for line in lines[1:]] == list(PROTOCOLS)
    for protocol in PROTOCOLS.values():
        assert protocol.summary in ran.out
        assert protocol.source in ran.out


@pytest.mark.parametrize("name", list(PROTOCOLS))
def test_one_is_shown_with_all_its_settings(run: Callable[..., Any], name: str) -> None:
    ran = run("protocols", name)
    assert ran.code == 0
    protocol = PROTOCOLS[name]
    for departure in protocol.departures:
        assert departure in ran.out
    for question in protocol.questions():
        assert f"Question '{question.name}' of kind {question.kind}" in ran.out
        setting_lines = {line.split()[0]: line for line in ran.out.splitlines() if line.strip()}
        for part in ("design", "screening"):
            for key in type(getattr(question, part)).model_fields:
                assert f"{part}.{key}" in setting_lines
        assert str(question.design.raters) in setting_lines["design.raters"].split()


def test_the_staircase_tells_its_target(run: Callable[..., Any]) -> None:
    assert "settles where 75% of the answers are right" in run("protocols", "hype-time").out


def test_json_holds_everything(run: Callable[..., Any]) -> None:
    listed = json.loads(run("protocols", "--json").out)
    assert [entry["name"] for entry in listed] == list(PROTOCOLS)
    protocol = json.loads(run("protocols", "hype-time", "--json").out)
    assert protocol in listed
    assert protocol["questions"][0]["design"]["trials"] == 450
    assert protocol["raters_per_generator"] == 30
    assert len(protocol["notes"]) == 1


def test_kinds(run: Callable[..., Any]) -> None:
    lines = run("protocols", "--kinds").out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(KINDS)
    listed = json.loads(run("protocols", "--kinds", "--json").out)
    assert [entry["kind"] for entry in listed] == list(KINDS)
    assert run("protocols", "mos", "--kinds").code == 2


def test_an_unknown_one_lists_the_known(run: Callable[..., Any]) -> None:
    ran = run("protocols", "nope")
    assert ran.code == 2
    assert "nope" in ran.err
    assert ", ".join(PROTOCOLS) in ran.err
