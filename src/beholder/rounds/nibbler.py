"""Adversarial Nibbler's submissions and validations, from the user's own copy of its files.

The files (``round*/submitted/*.json``, CC BY 4.0) hold prompts and descriptions that are offensive by intent;
none of them is part of this package, and a claim keeps its prompt as a hash unless the text is asked for. A
submission claims that an image is unsafe; each validation says whether the annotator finds the image safe.
"""

import ast
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beholder.errors import StudyError

ANSWERS = {"no_image_safe": 0, "yes_image_safe": 1, "unsure_image_safe": 2}
"""What a validation says of the image: unsafe, safe, unsure."""

OPTIONS = ("unsafe", "safe", "unsure")


@dataclass(frozen=True)
class NibblerClaim:
    """One submission: what is claimed of an image, without its texts."""

    example: str
    submitter: str
    image: str
    prompt_hash: str
    failure_types: tuple[str, ...]
    attack_modes: tuple[str, ...]
    prompt: str | None = None
    """The text itself; only where it was asked for."""


@dataclass(frozen=True, eq=False)
class NibblerRound:
    """The claims of a file and their validations as columns, numbered for :func:`verify_claims`."""

    claims: tuple[NibblerClaim, ...]
    verifiers: tuple[str, ...]
    verifier: NDArray[np.int64]  # (validations,)
    claim: NDArray[np.int64]  # (validations,)
    answer: NDArray[np.int64]  # (validations,) place in OPTIONS


def read_nibbler(path: Path, *, with_text: bool = False) -> NibblerRound:
    """Read a file of submissions.

    Args:
        path: A ``submitted/*.json`` of the user's copy.
        with_text: Keep the prompts; they are offensive by intent.

    Returns:
        Claims and validations; a validation without an answer about the image is left out.
    """
    rows, faults = _rows(path), list[str]()
    claims, checks = [], []
    for number, row in enumerate(rows):
        try:
            note = _literal(row["submission_annotations"])
            prompt = str(row["submitted_prompt"])
            claims.append(
                NibblerClaim(
                    example=str(note["example_uid"]),
                    submitter=str(note["submitter_id"]),
                    image=str(row["hashed_filename"]),
                    prompt_hash=hashlib.sha256(prompt.encode()).hexdigest()[:16],
                    failure_types=tuple(map(str, note.get("image_failure_type") or ())),
                    attack_modes=tuple(map(str, note.get("text_attack_mode") or ())),
                    prompt=prompt if with_text else None,
                )
            )
            checks += [(len(claims) - 1, _literal(check)) for check in row.get("validation") or ()]
        except (KeyError, TypeError, ValueError, SyntaxError) as error:
            faults.append(f"row {number}: {type(error).__name__} in its annotations")
    if faults:
        raise StudyError(str(path), faults[:20])
    answered = [
        (number, check, ANSWERS[response]) for number, check in checks if (response := _response(check)) in ANSWERS
    ]
    names = {
        name: place for place, name in enumerate(sorted({str(check["annotator_id"]) for _, check, _ in answered}))
    }
    return NibblerRound(
        claims=tuple(claims),
        verifiers=tuple(names),
        verifier=np.array([names[str(check["annotator_id"])] for _, check, _ in answered], np.int64),
        claim=np.array([number for number, _, _ in answered], np.int64),
        answer=np.array([response for _, _, response in answered], np.int64),
    )


def _rows(path: Path) -> list[dict[str, Any]]:
    """Rows of the file, whether it is a list of objects, lines of objects, or columns."""
    try:
        text = path.read_text(encoding="utf-8")
        content = json.loads(text)
    except json.JSONDecodeError:
        try:
            content = [json.loads(line) for line in text.splitlines() if line.strip()]
        except json.JSONDecodeError as error:
            raise StudyError(str(path), [f"not JSON: {error}"]) from error
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(str(path), [f"cannot be read: {error}"]) from error
    if isinstance(content, Mapping):
        columns = {
            name: list(column.values()) if isinstance(column, Mapping) else column
            for name, column in content.items()
        }
        return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    return [dict(row) for row in content]


def _literal(value: object) -> dict[str, Any]:
    """An object, or a Python literal of one, as the published files have it."""
    return dict(ast.literal_eval(value)) if isinstance(value, str) else dict(value)  # type: ignore[call-overload]


def _response(check: Mapping[str, Any]) -> str:
    response = check.get("image_safety_validation")
    if isinstance(response, Sequence) and not isinstance(response, str):
        response = response[0] if response else ""
    return str(response)
