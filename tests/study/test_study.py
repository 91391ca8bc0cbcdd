import tomllib
import types
from pathlib import Path
from typing import Annotated, Union, get_args, get_origin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from beholder.errors import StudyError
from beholder.study.collecting import Codes, Collecting
from beholder.study.kinds.catalogue import KINDS, AnyQuestion
from beholder.study.kinds.pair import PairQuestion
from beholder.study.protocols.catalogue import PROTOCOLS
from beholder.study.question import Aspect, Design, Screening, Settings
from beholder.study.study import Analysis, Pay, Study, dump_study, load_study, question_of

QUESTIONS: dict[str, type[Settings]] = {
    kind.settings.model_fields["kind"].default: kind.settings for kind in KINDS.values()
}
MODELS = [Study, Pay, Analysis, Collecting, Codes, Design, Screening, Aspect, *QUESTIONS.values()]

UNHURRIED = settings(deadline=None)

SMALL = """
name = "small"
title = "A small study"

[[questions]]
name = "preference"
kind = "pair"
"""


def written(folder: Path, text: str) -> Path:
    (folder / "study.toml").write_text(text, encoding="utf-8")
    return folder


def faults(folder: Path, text: str) -> tuple[str, ...]:
    with pytest.raises(StudyError) as caught:
        load_study(written(folder, text))
    assert caught.value.subject == str(folder / "study.toml")
    return caught.value.faults


class TestRoundTrip:
    @pytest.mark.parametrize("protocol", PROTOCOLS)
    def test_every_protocol(self, tmp_path: Path, protocol: str) -> None:
        study = Study(name="s", title="T", seed=3, questions=PROTOCOLS[protocol].questions())
        assert load_study(written(tmp_path, dump_study(study))) == study

    @pytest.mark.parametrize("kind", KINDS)
    def test_every_kind_by_its_defaults(self, tmp_path: Path, kind: str) -> None:
        question = TypeAdapter[AnyQuestion](AnyQuestion).validate_python({"name": "q", "kind": kind})
        study = Study(name="s", title="T", questions=(question,))
        assert load_study(written(tmp_path, dump_study(study))) == study

    def test_all_protocols_together_with_every_setting_changed(self, tmp_path: Path) -> None:
        questions = tuple(question for protocol in PROTOCOLS.values() for question in protocol.questions())
        questions = tuple(q.model_copy(update={"name": f"q{i}"}) for i, q in enumerate(questions))
        changed = PairQuestion(
            name="changed",
            text='Which "one"?\nSay.',
            ties=False,
            design=Design(
                raters=4,
                trials=6,
                raters_per_item=3,
                between=True,
                real_share=0.25,
                training=1,
                qualification=2,
                gold_every=3,
                attention_every=4,
                repeats=5,
                blocks=2,
            ),
            screening=Screening(
                min_seconds=0.1,
                max_same_share=0.2,
                min_qualification=0.3,
                min_gold=0.4,
                max_attention_failures=5,
                min_repeat=0.6,
                above_chance=0.7,
                min_correlation=-0.8,
                bt500=True,
            ),
        )
        study = Study(
            name="s",
            title="Ünïcödé ≫ 图像",
            description="two\nlines",
            seed=2**62,
            pay=Pay(currency="EUR", base=0, per_right=0.02, minimum_hourly=13.5),
            analysis=Analysis(level=0.9, draws=200),
            collect=Collecting(languages=("de",), consent={"de": "Ja?"}, codes=Codes(complete="C1"), min_hz=60),
            questions=(*questions, changed),
        )
        assert load_study(written(tmp_path, dump_study(study))) == study

    @UNHURRIED
    @given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
    def test_any_text(self, text: str) -> None:
        question = PairQuestion(name="q", text=text)
        study = Study(name="s", title=text, description=text, questions=(question,))
        assert Study.model_validate(tomllib.loads(dump_study(study))) == study

    @pytest.mark.parametrize("protocol", PROTOCOLS)
    def test_a_question_from_its_settings(self, protocol: str) -> None:
        (question,) = PROTOCOLS[protocol].questions()
        assert question_of(question.model_dump()) == question
        assert question_of(question.model_dump(mode="json")) == question

    def test_every_setting_in_use_is_in_sight(self) -> None:
        (question,) = PROTOCOLS["hype-time"].questions()
        written = tomllib.loads(dump_study(Study(name="s", title="T", questions=(question,))))
        pay = {"currency": "USD", "per_right": 0.0, "minimum_hourly": 12.0, "accept_low": False}
        assert written["pay"] == pay  # without a base it is computed
        (question_settings,) = written["questions"]
        assert set(question_settings) == set(type(question).model_fields) - {"instructions", "examples", "labels"}
        assert set(question_settings["design"]) == set(Design.model_fields) - {
            "raters_per_item",
            "gold_every",
            "attention_every",
        }
        assert set(question_settings["screening"]) == {"min_qualification", "max_same_share", "bt500"}

    def test_the_first_line_says_what_the_file_is(self) -> None:
        study = Study(name="s", title="T", questions=(PairQuestion(name="q"),))
        assert dump_study(study).startswith("# A beholder study.")


class TestDefaults:
    @pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
    def test_what_may_be_left_unset_is_unset_when_left_out(self, model: type[Settings]) -> None:
        """TOML has no null: a setting that was dumped as *none* must come back as *none*."""
        for name, field in model.model_fields.items():
            if _may_be_none(field.annotation):
                assert field.default is None, f"{model.__name__}.{name}"

    def test_that_law_sees_something(self) -> None:
        assert _may_be_none(Design.model_fields["gold_every"].annotation)
        assert _may_be_none(Screening.model_fields["min_gold"].annotation)
        assert not _may_be_none(Design.model_fields["raters"].annotation)

    def test_a_small_file(self, tmp_path: Path) -> None:
        study = load_study(written(tmp_path, SMALL))
        assert study == Study(name="small", title="A small study", questions=(PairQuestion(name="preference"),))
        assert study.question("preference").design.trials == 100

    def test_every_kind_has_a_question_and_the_reverse(self) -> None:
        assert list(QUESTIONS) == list(KINDS)

    def test_settings_are_frozen(self) -> None:
        with pytest.raises(ValueError, match="frozen"):
            Design().raters = 3  # type: ignore[misc]

    def test_an_unknown_question_is_a_key_error(self) -> None:
        with pytest.raises(KeyError):
            Study(name="s", title="T", questions=(PairQuestion(name="q"),)).question("x")


def _may_be_none(annotation: object) -> bool:
    if get_origin(annotation) is Annotated:
        return _may_be_none(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return any(part is type(None) or _may_be_none(part) for part in get_args(annotation))
    return False


class TestFaults:
    def test_no_file(self, tmp_path: Path) -> None:
        with pytest.raises(StudyError) as caught:
            load_study(tmp_path)
        assert str(caught.value) == (
            f"{tmp_path}: 1 fault\n  - no study.toml here\nMake a study with: beholder new PROTOCOL FOLDER …"
        )

    def test_not_toml(self, tmp_path: Path) -> None:
        (fault,) = faults(tmp_path, "name = \n")
        assert fault == "not valid TOML: Invalid value (at line 1, column 8)"

    def test_not_text(self, tmp_path: Path) -> None:
        (tmp_path / "study.toml").write_bytes(b'name = "\xff"')
        with pytest.raises(StudyError, match="not valid TOML: 'utf-8' codec can't decode byte 0xff"):
            load_study(tmp_path)

    def test_a_byte_order_mark_is_no_fault(self, tmp_path: Path) -> None:
        (tmp_path / "study.toml").write_bytes(b"\xef\xbb\xbf" + SMALL.encode())
        assert load_study(tmp_path).name == "small"

    def test_many_at_once_each_with_its_place(self, tmp_path: Path) -> None:
        text = """
            name = "Not A Slug"
            seeed = 3
            [pay]
            base = -1
            [analysis]
            draws = "many"
            [[questions]]
            name = "a"
            kind = "pair"
            design = { raters = 0, trails = 5 }
            [[questions]]
            name = "b"
            kind = "rating"
            pair = true
            aspects = [{ name = "one", text = "One" }, { name = "two", text = "" }]
            [[questions]]
            name = "c"
            [[questions]]
            name = "d"
            kind = "riddle"
        """
        kinds = "realism, timed-realism, pair, ranking, side-by-side-5, rating, rich-feedback, sweep, choice"
        kinds += ", write-prompt"
        assert faults(tmp_path, text) == (
            "name: only small letters, digits and hyphens, and no hyphen first (found 'Not A Slug')",
            "title: missing",
            "pay.base: Input should be greater than or equal to 0 (found -1)",
            "analysis.draws: Input should be a valid integer (found 'many')",
            "questions[0].design.raters: Input should be greater than or equal to 1 (found 0)",
            "questions[0].design.trails: this key is not known; did you mean 'trials'?",
            "questions[1].aspects[1].text: String should have at least 1 character (found '')",
            "questions[1].pair: this key is not known; "
            "known: name, kind, protocol, text, instructions, examples, labels, design, screening, "
            "aspects, points",
            f"questions[2].kind: missing; one of: {kinds}",
            f"questions[3].kind: must be one of: {kinds} (found 'riddle')",
            "seeed: this key is not known; did you mean 'seed'?",
        )

    def test_unknown_keys_at_every_depth(self, tmp_path: Path) -> None:
        text = SMALL.replace("title", "zzz = 1\ntitle") + "zzz = 1\ndesign.zzz = 1\nscreening.zzz = 1\n"
        text += '[[questions]]\nname = "b"\nkind = "rating"\naspects = [{ name = "n", text = "t", zzz = 1 }]\n'
        text += "[pay]\nzzz = 1\n[analysis]\nzzz = 1\n"
        places = {fault.split(": ")[0]: fault.split("known: ")[1].split(", ") for fault in faults(tmp_path, text)}
        assert places == {
            "zzz": list(Study.model_fields),
            "pay.zzz": list(Pay.model_fields),
            "analysis.zzz": list(Analysis.model_fields),
            "questions[0].zzz": list(PairQuestion.model_fields),
            "questions[0].design.zzz": list(Design.model_fields),
            "questions[0].screening.zzz": list(Screening.model_fields),
            "questions[1].aspects[0].zzz": list(Aspect.model_fields),
        }

    @pytest.mark.parametrize(
        ("line", "fault"),
        [
            ('design.raters = "30"', "design.raters: Input should be a valid integer (found '30')"),
            ("design.raters = true", "design.raters: Input should be a valid integer (found True)"),
            ("design.raters = 2.5", "design.raters: Input should be a valid integer (found 2.5)"),
            ("design.between = 1", "design.between: Input should be a valid boolean (found 1)"),
            ("design.real_share = nan", "design.real_share: Input should be a finite number"),
            ("design.real_share = 1.5", "design.real_share: Input should be less than or equal to 1 (found 1.5)"),
            ("ties = 'yes'", "ties: Input should be a valid boolean (found 'yes')"),
            ("text = 3", "text: Input should be a valid string (found 3)"),
            ("text = ''", "text: String should have at least 1 character (found '')"),
            ("screening = 5", "screening: Input should be an object (found 5)"),
        ],
    )
    def test_wrong_types_are_not_guessed_at(self, tmp_path: Path, line: str, fault: str) -> None:
        (reported,) = faults(tmp_path, SMALL + line)
        assert reported.startswith(f"questions[0].{fault}")

    def test_a_date_is_the_text_that_it_is_written_as(self, tmp_path: Path) -> None:
        assert load_study(written(tmp_path, SMALL + "text = 2025-05-01")).questions[0].text == "2025-05-01"

    def test_an_unknown_key_of_a_mapping(self, tmp_path: Path) -> None:
        (fault,) = faults(tmp_path, SMALL + '[collect.consent]\nxx = "Oui ?"')
        assert fault == "collect.consent.xx: Input should be 'en' or 'de' (found 'xx')"

    def test_whole_numbers_do_for_numbers(self, tmp_path: Path) -> None:
        assert (
            load_study(written(tmp_path, SMALL + "screening.min_seconds = 1")).questions[0].screening.min_seconds
            == 1
        )

    def test_two_questions_of_one_name(self, tmp_path: Path) -> None:
        text = SMALL + SMALL[SMALL.index("[[") :] + '[[questions]]\nname = "other"\nkind = "sweep"\n'
        assert faults(tmp_path, text) == (
            "study: each question needs a name of its own; used more than once: preference",
        )

    @pytest.mark.parametrize("questions", ["questions = []\n", ""])
    def test_no_question(self, tmp_path: Path, questions: str) -> None:
        expected = "study: at least one question is needed: [[questions]]; only a benchmark may have none"
        assert faults(tmp_path, f'name = "s"\ntitle = "T"\n{questions}') == (expected,)

    @pytest.mark.parametrize("questions", ["3", "[3]", '"pair"'])
    def test_questions_that_are_none(self, tmp_path: Path, questions: str) -> None:
        (fault,) = faults(tmp_path, f'name = "s"\ntitle = "T"\nquestions = {questions}\n')
        assert fault.startswith("questions")


class TestRulesBetweenSettings:
    @pytest.mark.parametrize(
        ("lines", "fault"),
        [
            ("repeats = 11\ntrials = 10", "repeats (11) cannot exceed trials (10)"),
            ("blocks = 3\ntrials = 2", "blocks (3) cannot exceed trials (2)"),
            (
                "raters = 2\nraters_per_item = 3",
                "raters_per_item (3) cannot exceed raters (2): a rater judges an item once",
            ),
            (
                "raters = 5\ntrials = 4\nraters_per_item = 3",
                "raters × trials (5 × 4 = 20) must be a multiple of raters_per_item (3), "
                "so that each item gets exactly that many answers",
            ),
        ],
    )
    def test_design(self, tmp_path: Path, lines: str, fault: str) -> None:
        assert faults(tmp_path, f"{SMALL}[questions.design]\n{lines}") == (f"questions[0].design: {fault}",)

    def test_design_at_the_edge(self) -> None:
        Design(raters=3, trials=4, raters_per_item=3, repeats=4, blocks=4)

    def test_exposures(self, tmp_path: Path) -> None:
        text = SMALL.replace("pair", "timed-realism") + "start_ms = 90\n"
        assert faults(tmp_path, text) == (
            "questions[0]: start_ms (90) must lie between shortest_ms (100) and longest_ms (1000)",
        )

    def test_a_staircase_below_chance(self, tmp_path: Path) -> None:
        text = SMALL.replace("pair", "timed-realism") + "step_down_ms = 30\nstep_up_ms = 10\n"
        (fault,) = faults(tmp_path, text)
        assert fault.startswith("questions[0]: −30/+10 ms after 1 right settles at 25% right")

    @pytest.mark.parametrize("kind", ["rating", "rich-feedback"])
    @pytest.mark.parametrize(
        ("line", "fault"),
        [
            ("aspects = []", "aspects must be at least one, each named once; found: none"),
            (
                'aspects = [{ name = "a", text = "A" }, { name = "a", text = "B" }]',
                "aspects must be at least one, each named once; found: a, a",
            ),
            ("points = 1", "points must be 0 (continuous) or at least 2: a scale of one point asks nothing"),
        ],
    )
    def test_scales(self, tmp_path: Path, kind: str, line: str, fault: str) -> None:
        assert faults(tmp_path, SMALL.replace("pair", kind) + line) == (f"questions[0]: {fault}",)
