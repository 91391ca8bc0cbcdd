"""The steps of a walk at a glance: what each changed, by what, and what it gained by every measure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from beholder.report.text.words import count, percent

TITLES = {"filter": "Filter", "repair": "Repair", "tune": "Tune"}
SHORT_MEASURES = {"own": "own scorer", "held-out": "held-out scorer", "ground truth": "ground truth"}
"""Measures that every step is compared by -> what they are called here."""
METHOD_NAMES = {"draft": "DRaFT", "refl": "ReFL", "sft": "chosen images", "dpo": "Diffusion-DPO", "ddpo": "DDPO"}
DECIMALS = 3

Row = Mapping[str, Any]
"""A row of the table ``gains``."""


@dataclass(frozen=True, slots=True)
class StepCard:
    """One step: what was done, what came of it, or why it was left out."""

    title: str
    about: str
    gains: tuple[tuple[str, str, str], ...]
    """Measure, gain, and whether its interval lies above 0 (up), below (down) or has it inside (flat)."""
    left_out: str = ""


def build_steps(
    changes: pl.DataFrame, gains: pl.DataFrame, settings: Mapping[str, object], notes: Sequence[str]
) -> Iterator[StepCard]:
    """Yield a card for each step of a walk, in order; none for an improvement of one step."""
    why = dict(note.split(": left out: ", 1) for note in notes if ": left out: " in note)
    if not (why or any(gains["step"].is_in(list(TITLES)).to_list())):
        return
    for step, title in TITLES.items():
        of_step = gains.filter(step=step)
        if of_step.is_empty():
            yield StepCard(title, "", (), why.get(step, "it was not done yet"))
            continue
        part = changes.filter(method=step)
        about = _about(step, part, settings.get(step) or {})
        yield StepCard(title, about, tuple(_gain_lines(of_step, settings.get(step) or {})))


def _about(step: str, changes: pl.DataFrame, settings: object) -> str:
    """Return in a sentence what a step did."""
    settings_of_step = settings if isinstance(settings, Mapping) else {}
    images = count(changes.height, "image")
    if step == "filter":
        tries = changes["tries"].drop_nulls()
        number = tries[0] if len(tries) else "several"
        return f"The best of {number} images for each of {count(changes.height, 'prompt')}."
    if step == "repair":
        painter = settings_of_step.get("inpainter", "an inpainter")
        return f"{int(changes['kept'].sum())} of {images} painted again where they were wrong, by {painter}."
    kept_step, steps_taken = settings_of_step.get("kept step", 0), settings_of_step.get("steps taken", 0)
    ended = f"the weights of step {kept_step} of {steps_taken} are kept"
    method = METHOD_NAMES.get(str(settings_of_step.get("method")), "a reward")
    return f"A LoRA by {method}, {ended}; {images} of unseen prompts."


def _gain_lines(gains: pl.DataFrame, settings: object) -> Iterator[tuple[str, str, str]]:
    """Yield the gain by each measure; of the ground truth, the aspect that the scorer is about."""
    for measure, words in SHORT_MEASURES.items():
        rows = gains.filter(measure=measure)
        if not rows.is_empty():
            row = _main_row(rows, settings)
            yield words, _signed(row["gain"]), _direction(row)


def _main_row(rows: pl.DataFrame, settings: object) -> Row:
    """Return the row of the aspect that the scorer is about, or else the first."""
    settings_of_step = settings if isinstance(settings, Mapping) else {}
    about = rows.filter(name=str(settings_of_step.get("scorer", "")).rpartition(":")[2])
    return (rows if about.is_empty() else about).row(0, named=True)


def _direction(row: Row) -> str:
    low, high = row["low"], row["high"]
    if not isinstance(low, float) or not isinstance(high, float):
        return "flat"
    return "up" if low > 0 else "down" if high < 0 else "flat"


def step_sentences(changes: pl.DataFrame, gains: pl.DataFrame, settings: Mapping[str, object]) -> Iterator[str]:
    """Yield a sentence per step: its true gain where that is known, else the held-out scorer's, else its own."""
    words = {
        "ground truth": "by the ground truth",
        "held-out": "by the held-out scorer, the ground truth being unknown",
        "own": "by the scorer that chose, which overstates it",
    }
    for (step,), part in gains.group_by("step", maintain_order=True):
        rows = next((rows for measure in words if not (rows := part.filter(measure=measure)).is_empty()), None)
        if rows is None:
            continue
        row = _main_row(rows, settings.get(str(step)) or settings)
        name = str(step or (changes["method"][0] if changes.height else "")).capitalize()
        interval = "" if row["low"] is None else f", 95 % CI {_signed(row['low'])} to {_signed(row['high'])}"
        sentence = f"{name}: {_signed(row['gain'])} {words[row['measure']]} ({short_name(row['name'])}{interval})"
        if row["measure"] == "ground truth":
            if row["possible"] and row["gain"] > 0:
                sentence += f"; {percent(row['gain'] / row['possible'])} of what was possible"
            worse = "below the mean of their candidates" if name == TITLES["filter"] else "truly worse"
            sentence += f"; {percent(row['worse'] or 0.0)} of the images {worse}"
            control = part.filter(measure="control", name=row["name"])
            if not control.is_empty():
                sentence += f". The control gains {_signed(control['gain'][0])}"
        yield sentence + "."


def short_name(name: str) -> str:
    """Return the name of a scorer without the folders that its own lies in.

    >>> short_name("demo-feedback/models/tiny-rich-cnn:plausibility"), short_name("overall")
    ('demo-feedback tiny-rich-cnn:plausibility', 'overall')
    """
    parts = [part for part in name.split("/") if part and part != "models"]
    return " ".join(parts[-2:])


def _signed(number: float) -> str:
    return f"{number:+.{DECIMALS}f}".replace("-", "−")
