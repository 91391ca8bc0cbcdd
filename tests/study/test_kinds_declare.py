"""What is particular to a question kind stands with the kind: nobody else tests which kind a question is of."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import beholder
from beholder.consolidate.labels import LABELLERS
from beholder.design.checks import KNOWN_ITEMS
from beholder.design.draw import DRAW_TRIALS
from beholder.design.items import GENERATED_ITEMS
from beholder.design.plan import POWER_MODELS, Plan
from beholder.rank.methods import METHODS
from beholder.simulate.expectation import EXPECTATIONS
from beholder.study.kinds.catalogue import KINDS
from beholder.study.protocols.catalogue import PROTOCOLS
from beholder.study.study import Study
from beholder.study.wages import session_minutes

SOURCE = Path(beholder.__file__).parent
MOST = 5
"""Tests of a question's kind outside of ``study/kinds``; formats of files with one kind of answers have some."""


def kind_tests(code: str) -> Iterator[int]:
    """Lines that ask which kind a question is of: isinstance of its class, or a comparison of its ``kind``."""
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Call(func=ast.Name("isinstance"), args=[_, classes]):
                named = {part.id for part in ast.walk(classes) if isinstance(part, ast.Name)}
                if any(name.endswith("Question") or name == "Choosing" for name in named):
                    yield node.lineno
            case ast.Compare():
                sides = [node.left, *node.comparators]
                if any(isinstance(side, ast.Attribute) and _is_kind(side) for side in sides):
                    yield node.lineno
            case ast.Subscript(slice=ast.Attribute() as key) if _is_kind(key) and not _is_kinds(node.value):
                yield node.lineno


def _is_kind(attribute: ast.Attribute) -> bool:
    """``question.kind``, but neither NumPy's ``dtype.kind``, nor a column, nor the kind of something else."""
    if attribute.attr != "kind":
        return False
    owner = attribute.value
    name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
    return name not in (
        "dtype",
        "c",
        "mark",
        "rule",
        "answered",
        "group",
        "first",
        "claim",
        "generator",
        "payment",
    )


def _is_kinds(mapping: ast.expr) -> bool:
    return isinstance(mapping, ast.Name) and mapping.id == "KINDS"


def test_a_test_of_the_kind_is_noticed() -> None:
    code = (
        "isinstance(q, PairQuestion | RatingQuestion)\nq.kind == 'pair'\nself.question.kind not in SECONDS\n"
        "SECONDS[q.kind]\nKINDS[q.kind]\nvalues.dtype.kind in 'iu'\nisinstance(kind, Choosing)"
    )
    assert sorted(kind_tests(code)) == [1, 2, 3, 4, 7]


def test_hardly_anyone_tests_the_kind_of_a_question() -> None:
    places = [
        f"{file.relative_to(SOURCE)}:{line}"
        for file in sorted(SOURCE.rglob("*.py"))
        if SOURCE / "study" / "kinds" not in file.parents
        for line in kind_tests(file.read_text(encoding="utf-8"))
    ]
    assert len(places) <= MOST, places


@pytest.mark.parametrize("name", KINDS)
def test_what_a_kind_names_is_there(name: str) -> None:
    kind = KINDS[name]
    traits = kind.traits
    assert kind.settings.model_fields["kind"].default == name
    assert traits.rated_by in METHODS
    assert set(traits.labelled_by) <= set(LABELLERS)
    assert traits.items in DRAW_TRIALS
    assert traits.items in GENERATED_ITEMS
    assert traits.gold is None or traits.gold in KNOWN_ITEMS
    assert traits.power_model is None or traits.power_model in POWER_MODELS
    assert traits.expected_by is None or traits.expected_by in EXPECTATIONS
    assert (SOURCE / "collect" / "pages" / "kinds" / f"{traits.page}.js").is_file()
    assert not (traits.shows_real and traits.shows_prompt)  # only generated images have one


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_raters_are_told_what_a_plan_bills(protocol: str) -> None:
    for question in PROTOCOLS[protocol].questions():
        study = Study(name="s", title="S", questions=(question,))
        assert session_minutes(study, question) == round(60 * Plan(question, 0.05).hours_each)
