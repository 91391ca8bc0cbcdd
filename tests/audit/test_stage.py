"""All audits on tables written by hand: what is found, what is said in words, and the page."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image
from tests.board.tables import MOMENT, RECORD, generation, judgement, score, write
from tests.cli.conftest import Ran, run

from beholder.api.auditing import audit
from beholder.audit.catalogue import AUDITS
from beholder.audit.stage import run as run_audit
from beholder.board.stage import run as run_board
from beholder.errors import FaultsError, UserError
from beholder.study.auditing import Auditing, Profile
from beholder.study.kinds.choice import MONK_TONES, ChoiceQuestion
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.study import FILE_NAME, dump_study, load_study
from beholder.tables.catalogue import TABLES
from beholder.tables.schemas.audit import AUDIT_NAMES
from beholder.tables.store import Store

__all__ = ["run"]

PROMPTS = 60
TEXTS = [
    f"a {who} at desk {letter}{row}" for who in ("man", "woman") for row in "xy" for letter in "abcdefghijklmno"
]


def set_texts(folder: Path, texts: list[str]) -> None:
    frame = pl.DataFrame({"prompt": [f"p{p:02d}" for p in range(len(texts))], "text": texts})
    Store(folder).write({"prompts": frame}, RECORD)


def set_audit(folder: Path, **settings: object) -> None:
    study = load_study(folder).model_copy(update={"audit": Auditing.model_validate(settings)})
    (folder / FILE_NAME).write_text(dump_study(study), encoding="utf-8")


def findings(folder: Path, audit: str) -> list[dict[str, object]]:
    return Store(folder).read("audits").filter(pl.col("audit") == audit).to_dicts()


@pytest.fixture
def rated(bare_study: Callable[..., Path]) -> Path:
    """Two generators × 60 prompts, 30 of a man and 30 of a woman in the same job; women are rated .8 lower."""
    folder = bare_study(
        RatingQuestion(name="opinion", text="How good?"), prompts=PROMPTS, generators=("a", "b"), reals=0
    )
    rng = np.random.default_rng(0)
    set_texts(folder, TEXTS)
    job = rng.normal(0, 1, 30)
    judged = [
        judgement(r, f"{g}/{p:02d}", 3 + lead + job[p % 30] - 0.8 * (p >= 30) + rng.normal(0, 0.3))
        for r in range(6)
        for p in range(PROMPTS)
        for g, lead in (("a", 0.5), ("b", 0.0))
    ]
    scores = [score("sharp", f"{g}/{p:02d}", rng.normal()) for g in "ab" for p in range(PROMPTS)]
    write(folder, judgements=judged, scores=scores)
    return folder


def test_every_audit_has_its_name_in_the_table_and_its_title_on_the_page() -> None:
    assert tuple(AUDITS) == AUDIT_NAMES


def test_people_see_a_gap_between_counterparts_and_a_scorer_without_one_does_not(rated: Path) -> None:
    audit(rated, ["counterfactual"])
    by_measure = {(row["measure"], row["subject"]): row for row in findings(rated, "counterfactual")}
    gap = by_measure["opinion: quality", "all"]
    assert gap["slice"] == "gender: male less female"
    assert gap["severity"] == "problem"
    assert gap["low"] < 0.8 < gap["high"]  # type: ignore[operator]
    assert by_measure["sharp", "all"]["severity"] in ("undecided", "clear")


def test_fewer_than_twenty_pairs_give_words(rated: Path) -> None:
    set_texts(rated, [text if p % 30 < 19 else f"a house {p}" for p, text in enumerate(TEXTS)])
    audit(rated, ["counterfactual"])
    (row,) = findings(rated, "counterfactual")
    assert (row["figure"], row["severity"], row["prompts"]) == (None, "undecided", 19)
    assert "19 pairs of prompts; at least 20 are needed" in str(row["finding"])


def test_a_study_with_nothing_to_audit_says_what_each_audit_needs(bare_study: Callable[..., Path]) -> None:
    folder = bare_study(RatingQuestion(name="opinion", text="How good?"))
    page = audit(folder).page.read_text(encoding="utf-8")
    table = Store(folder).read("audits")
    assert set(table["severity"]) == {"absent"}
    assert table.height == len(AUDITS)
    assert "No classifier is asked instead" in page
    assert "http" not in page.replace("http://www.w3.org", "")


def test_findings_are_skipped_while_nothing_changes(rated: Path) -> None:
    assert not run_audit(rated, names=["cost"]).skipped
    assert run_audit(rated, names=["cost"]).skipped
    assert not run_audit(rated, names=["cost", "drift"]).skipped


def test_all_faults_are_named_before_any_work(rated: Path) -> None:
    set_audit(rated, word_lists={"rude": "no.txt"})
    with pytest.raises(FaultsError, match=r"audit 'slicegap' is not known(.|\n)*there is no file") as caught:
        run_audit(rated, names=["slicegap"])
    assert len(caught.value.faults) == 2
    assert not Store(rated).has("audits")


def test_a_word_list_that_removes_a_group_is_a_problem(rated: Path) -> None:
    (rated / "rude.txt").write_text("woman\n")
    (rated / "even.txt").write_text("desk ax\n")
    set_audit(rated, word_lists={"rude": "rude.txt", "even": "even.txt"})
    audit(rated, ["filter"])
    rows = {(row["subject"], row["slice"]): row for row in findings(rated, "filter")}
    women = rows["word list rude", "gender: female"]
    assert (women["figure"], women["baseline"], women["severity"]) == (1.0, 0.0, "problem")
    assert rows["word list even", "gender: female"]["severity"] != "problem"


def test_every_monk_tone_can_be_answered_and_is_counted(bare_study: Callable[..., Path]) -> None:
    question = ChoiceQuestion(name="tone", text="Which tone?", offered=MONK_TONES, several=True)
    folder = bare_study(question, prompts=48, generators=("a",), reals=0)
    judged = [
        judgement(r, f"a/{p:02d}", float((p + r) % 12), kind="category") | {"question": "tone", "aspect": "choice"}
        for r in range(6)
        for p in range(48)
    ]
    write(folder, judgements=judged)
    answers = [
        {name: row[name] for name in ("trial", "session", "rater", "question", "aspect", "attempt")}
        | {"choice": question.names[int(row["value"])], "seconds": 2.0, "valid": True, "answered": MOMENT}  # type: ignore[call-overload]
        for row in judged
    ]
    Store(folder).write({"answers": TABLES["answers"].frame(answers)}, RECORD)
    page = audit(folder, ["perception"]).page.read_text(encoding="utf-8")
    assert all(f"background: {option.colour}" in page for option in MONK_TONES)
    rows = {row["slice"]: row for row in findings(folder, "perception")}
    assert set(rows) == {*question.names}
    assert {"cannot-tell", "several"} < set(rows)
    tones = [rows[option.name]["figure"] for option in MONK_TONES]
    assert tones == pytest.approx([0.1] * 10)  # of the answers that name one: 24 of 240 each
    assert rows["cannot-tell"]["figure"] == pytest.approx(1 / 12)


def test_a_practitioner_chooses_by_stated_weights_and_unknown_ones_are_refused(rated: Path) -> None:
    run_board(rated)
    own = Profile(name="me", weights={"opinion: quality": 1.0, "price": 1.0})
    set_audit(rated, profiles=[own.model_dump()])
    page = audit(rated, ["profiles"]).page.read_text(encoding="utf-8")
    chances = Store(rated).read("audit_profiles").filter(pl.col("profile") == "me")
    assert dict(chances.select("entry", "chance_best").iter_rows())["a"] > 0.95
    assert json.loads(chances["weights"][0]) == {"opinion: quality": 1.0}
    assert json.loads(chances["left_out"][0]) == ["price"]
    assert "not measured, so left out: price" in page
    set_audit(rated, profiles=[{"name": "me", "weights": {"beauty": 1.0}}])
    with pytest.raises(UserError, match="'beauty' is neither a measure of the board nor a role"):
        audit(rated, ["profiles"])


def test_a_scorer_is_asked_again_in_a_process_of_its_own(rated: Path) -> None:
    rng = np.random.default_rng(0)
    for generator in "ab":
        (rated / "images" / generator).mkdir(parents=True)
        for p in range(PROMPTS):
            pixels = rng.integers(0, 256, (24, 24, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(rated / "images" / generator / f"{p:02d}.png")
    audit(rated, ["scorer-robustness"], scorers=["sharpness", "nonsense"], images=24)
    rows = {(row["subject"], row["slice"]): row for row in findings(rated, "scorer-robustness")}
    summary = rows["sharpness", "summary"]
    assert "sharpness does not read the prompt at all" in str(summary["finding"])
    assert rows["sharpness", "blur"]["figure"] == 1.0  # noise loses all of its sharpness
    assert rows["sharpness", "another gender"]["figure"] == 0.5
    assert "scorer 'nonsense' is not known" in str(rows["nonsense", "summary"]["finding"])


def test_the_command_lists_audits_and_prints_findings(rated: Path, run: Callable[..., Ran]) -> None:
    assert "counterfactual" in run("audit", "--list").out
    assert run("audit").code == 2
    ran = run("audit", str(rated), "counterfactual")
    assert "problem: " in ran.out
    content = json.loads(run("audit", str(rated), "counterfactual", "--json").out)
    assert content["stage"]["skipped"]
    assert content["findings"][0]["audit"] == "counterfactual"


def test_a_style_that_people_rate_lower_is_a_shift(rated: Path) -> None:
    in_half = pl.when(pl.col("prompt") < "p30")
    images = Store(rated).read("images").with_columns(style=in_half.then(pl.lit("photo")).otherwise(pl.lit("ink")))
    Store(rated).write({"images": images}, RECORD)
    rng = np.random.default_rng(1)
    judged = [
        judgement(r, f"{g}/{p:02d}", 4 - 2 * (p >= 30) + rng.normal(0, 0.5))
        for r in range(6)
        for p in range(PROMPTS)
        for g in "ab"
    ]
    write(rated, judgements=judged)
    audit(rated, ["shift"])
    rows = {(row["measure"], row["subject"]): row for row in findings(rated, "shift")}
    gap = rows["opinion: quality", "all"]
    assert (gap["slice"], gap["severity"]) == ("ink against photo", "problem")
    assert gap["low"] < -2 < gap["high"]  # type: ignore[operator]
    assert rows["sharp", "all"]["severity"] != "problem"


def test_who_is_slow_and_no_better_is_not_worth_it(rated: Path) -> None:
    seconds = {"a": 1.0, "b": 4.0}  # a is rated higher, too
    prompts = [f"p{p:02d}" for p in range(PROMPTS)]
    costs: list[dict[str, object]] = [
        {"generator": g, "prompt": p, "sample": 0, "seconds": seconds[g]} for g in "ab" for p in prompts
    ]
    write(rated, generations=[generation(g, p) for g in "ab" for p in prompts], generation_costs=costs, scores=[])
    run_board(rated)
    audit(rated, ["cost"])
    rows = {(row["slice"], row["subject"]): row for row in findings(rated, "cost")}
    assert rows["per image", "b"]["figure"] == 4.0
    assert "nobody beats a" in str(rows["Pareto", "all"]["finding"])
    assert "Energy was not measured" in str(rows["energy", "all"]["finding"])
