"""Sentences about the steps of an improvement, by hand."""

import polars as pl

from beholder.report.sections.improvement_steps import build_steps, step_sentences
from beholder.tables.catalogue import TABLES

SETTINGS = {"filter": {"scorer": "rich@1:plausibility"}, "tune": {"scorer": "rich@1:plausibility"}}


def gains() -> pl.DataFrame:
    rows: list[dict[str, object]] = [
        {"step": step, "measure": measure, "name": name, "gain": gain, "low": gain - 0.01, "high": gain + 0.01}
        | {"improvement": "loop", "level": 0.95, "method": "t", "images": 4, "prompts": 4}
        | {"possible": possible, "worse": 0.25}
        for step, measure, name, gain, possible in (
            ("filter", "own", "rich@1:plausibility", 0.3, None),
            ("filter", "ground truth", "plausibility", 0.1, 0.2),
            ("tune", "ground truth", "overall", 0.02, 0.2),
            ("tune", "ground truth", "plausibility", -0.03, 0.2),
            ("tune", "control", "overall", 0.5, 0.2),
            ("tune", "control", "plausibility", 0.001, 0.2),
        )
    ]
    return TABLES["gains"].frame(rows)


def changes() -> pl.DataFrame:
    rows: list[dict[str, object]] = [
        {"improvement": "loop", "change": step, "method": step, "generator": "g", "prompt": "p", "before": "a"}
        | {"after": "b", "tries": 4, "kept": True, "reason": ""}
        for step in ("filter", "tune")
    ]
    return TABLES["changes"].frame(rows)


def test_cards_and_sentences_are_about_the_scorer_s_own_aspect() -> None:
    filtered, tuned = step_sentences(changes(), gains(), SETTINGS)
    assert filtered == (
        "Filter: +0.100 by the ground truth (plausibility, 95 % CI +0.090 to +0.110); 50 % of what was possible; "
        "25 % of the images below the mean of their candidates."
    )
    assert tuned == (
        "Tune: −0.030 by the ground truth (plausibility, 95 % CI −0.040 to −0.020); 25 % of the images truly "
        "worse. The control gains +0.001."
    )
    cards = {card.title: card for card in build_steps(changes(), gains(), SETTINGS, [])}
    assert ("ground truth", "+0.100", "up") in cards["Filter"].gains
    assert cards["Tune"].gains == (("ground truth", "−0.030", "down"),)
    assert cards["Repair"].left_out == "it was not done yet"


def test_an_unknown_aspect_leaves_the_first() -> None:
    *_, tuned = step_sentences(changes(), gains(), {"tune": {"scorer": "clip-similarity"}})
    assert tuned.startswith("Tune: +0.020 by the ground truth (overall")
    assert tuned.endswith("The control gains +0.500.")
