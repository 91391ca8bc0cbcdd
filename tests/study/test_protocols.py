"""The defaults of the protocols against what was published (HYPE, Layer 6, HPD v2, BT.500, RichHF)."""

import pytest

from beholder.study.kinds.catalogue import KINDS, AnyQuestion
from beholder.study.kinds.timed_realism import TimedRealismQuestion
from beholder.study.protocols.catalogue import PROTOCOLS
from beholder.study.protocols.protocol import Protocol

GOLDEN: dict[str, dict[str, object]] = {
    # Zhou et al. 2019: 3-2-1 at 500 ms, 100–1000 ms from 500, four masks of 30 ms, correctness shown,
    # 150 images a block (half real), 3 blocks, 30 people a model, ≥ 65 % of 100 to qualify
    "hype-time": {
        "kind": "timed-realism",
        "countdown_ms": 500,
        "shortest_ms": 100,
        "start_ms": 500,
        "longest_ms": 1000,
        "masks": 4,
        "mask_ms": 30,
        "feedback": True,
        "design.trials": 150 * 3,
        "design.blocks": 3,
        "design.real_share": 0.5,
        "design.between": True,
        "design.qualification": 100,
        "screening.min_qualification": 0.65,
        # not as published (−30/+10 settles at 25 %): the documented departure
        "step_down_ms": 10,
        "step_up_ms": 30,
        "right_in_a_row": 1,
        "adapt": "staircase",
    },
    # 50 real + 50 fake, no time limit, ratio disclosed, 30 people a model, ≥ 65 % of 100 to qualify
    "hype-infinity": {
        "kind": "realism",
        "viewing_ms": None,
        "disclose_ratio": True,
        "design.trials": 100,
        "design.real_share": 0.5,
        "design.between": True,
        "design.qualification": 100,
        "screening.min_qualification": 0.65,
    },
    # Stein et al. 2023: 100 real + 100 generated per rater, one model each, 25–27 raters per model
    "layer6-realism": {
        "kind": "realism",
        "design.trials": 200,
        "design.real_share": 0.5,
        "design.between": True,
    },
    # Wu et al. 2023: two images of one prompt
    "hpd-pairs": {"kind": "pair", "design.between": False},
    # test set: nine images per prompt, ranked by ten raters
    "hpd-ranking": {"kind": "ranking", "images": 9, "design.raters_per_item": 10},
    # BT.500: five points, at least 15 people an image, its rejection rule
    "mos": {"kind": "rating", "points": 5, "design.raters_per_item": 15, "screening.bt500": True},
    # Liang et al. 2024: three people an image, disks of 1/20 of the height, four five-point scores
    "rich-feedback": {
        "kind": "rich-feedback",
        "points": 5,
        "radius": 0.05,
        "design.raters_per_item": 3,
    },
    # two images, five answers
    "side-by-side": {"kind": "side-by-side-5"},
}
RATERS_PER_GENERATOR = {"hype-time": 30, "hype-infinity": 30, "layer6-realism": 25}
NEEDS = {
    "real": {"hype-time", "hype-infinity", "layer6-realism"},
    "prompts": {"hpd-pairs", "hpd-ranking", "mos", "rich-feedback", "side-by-side"},
}

EACH = pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS)


def setting(question: AnyQuestion, path: str) -> object:
    setting: object = question
    for part in path.split("."):
        setting = getattr(setting, part)
    return setting


def test_every_protocol_is_in_the_golden_table() -> None:
    assert list(PROTOCOLS) == list(GOLDEN)


@EACH
def test_published_defaults(protocol: Protocol) -> None:
    (question,) = protocol.questions()
    golden = GOLDEN[protocol.name]
    assert {path: setting(question, path) for path in golden} == golden


@EACH
def test_people_and_needs(protocol: Protocol) -> None:
    assert protocol.raters_per_generator == RATERS_PER_GENERATOR.get(protocol.name)
    assert protocol.needs_real == (protocol.name in NEEDS["real"])
    assert protocol.needs_prompts == (protocol.name in NEEDS["prompts"])


@EACH
def test_one_person_judges_one_generator_where_people_are_counted_by_generator(protocol: Protocol) -> None:
    for question in protocol.questions():
        assert question.design.between == (protocol.raters_per_generator is not None)


@EACH
def test_questions_know_their_protocol_and_kind(protocol: Protocol) -> None:
    for question in protocol.questions():
        assert question.protocol == protocol.name
        assert question.kind in KINDS
    assert protocol.questions() == protocol.questions()


@EACH
def test_a_screening_rule_has_the_trials_it_needs(protocol: Protocol) -> None:
    for question in protocol.questions():
        design, screening = question.design, question.screening
        assert screening.min_qualification is None or design.qualification > 0
        assert screening.min_gold is None or design.gold_every is not None
        assert screening.max_attention_failures is None or design.attention_every is not None
        assert screening.min_repeat is None or design.repeats > 0


@EACH
def test_is_explained(protocol: Protocol) -> None:
    assert protocol.summary.endswith(".")
    assert protocol.source
    assert protocol.departures
    assert all(departure.endswith(".") for departure in protocol.departures)


def test_rich_feedback_asks_for_four_scores() -> None:
    (question,) = PROTOCOLS["rich-feedback"].questions()
    assert KINDS["rich-feedback"].aspects(question) == ("plausibility", "alignment", "aesthetics", "overall")


def test_mos_asks_for_quality_and_alignment() -> None:
    (question,) = PROTOCOLS["mos"].questions()
    assert KINDS["rating"].aspects(question) == ("quality", "alignment")


class TestNotes:
    def test_the_target_of_the_staircase_is_printed(self) -> None:
        protocol = PROTOCOLS["hype-time"]
        (question,) = protocol.questions()
        assert protocol.notes(question) == (
            "staircase −10 ms after 1 right, +30 ms after an error: settles where 75% of the answers are right",
        )

    def test_also_of_other_steps(self) -> None:
        question = TimedRealismQuestion(name="q", step_down_ms=30, step_up_ms=10, right_in_a_row=3)
        assert PROTOCOLS["hype-time"].notes(question) == (
            "staircase −30 ms after 3 right, +10 ms after an error: settles where 63% of the answers are right",
        )

    def test_others_have_none(self) -> None:
        (pair,) = PROTOCOLS["hpd-pairs"].questions()
        assert PROTOCOLS["hpd-pairs"].notes(pair) == ()
        assert PROTOCOLS["hype-time"].notes(pair) == ()
