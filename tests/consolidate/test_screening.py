"""Every screening rule, by rows worked by hand: its reason in words, and just at its threshold."""

from collections.abc import Callable

import polars as pl
import pytest

from beholder.consolidate.conduct import conduct_rows, with_agreement
from beholder.consolidate.items import JudgedItems, by_aspect
from beholder.consolidate.screening import screen
from beholder.judgements.coding import judgements_of
from beholder.judgements.rules import RULES
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.kinds.side_by_side import SideBySideQuestion
from beholder.study.question import Screening
from beholder.tables.catalogue import TABLES

Answered = Callable[..., pl.DataFrame]


def realism(**rules: float) -> RealismQuestion:
    return RealismQuestion(name="q", screening=Screening.model_validate(rules))


def pair(**rules: float) -> PairQuestion:
    return PairQuestion(name="q", screening=Screening.model_validate(rules))


def rating(**rules: float) -> RatingQuestion:
    return RatingQuestion(name="q", screening=Screening.model_validate(rules))


def skips(*rows: tuple[str, str, str | None]) -> pl.DataFrame:
    """Skipped trials: who, the role, and what would have been right."""
    return pl.DataFrame(
        [
            (rater, f"s-{rater}", f"skipped-{number}", role, right)
            for number, (rater, role, right) in enumerate(rows)
        ],
        schema=dict.fromkeys(("rater", "session", "trial", "role", "expected"), pl.String),
        orient="row",
    )


def screened(question: AnyQuestion, *parts: pl.DataFrame, skipped: pl.DataFrame | None = None) -> pl.DataFrame:
    rows = pl.concat(parts)
    counted = conduct_rows(question, rows, skips() if skipped is None else skipped)
    return screen(question, counted, judged(question, rows))


def judged(question: AnyQuestion, rows: pl.DataFrame) -> list[JudgedItems]:
    tests = rows.filter(pl.col("role") == "test")
    return list(by_aspect(question, judgements_of(question, tests, TABLES["marks"].empty())))


def reasons(question: AnyQuestion, *parts: pl.DataFrame) -> dict[str, list[str]]:
    raters = screened(question, *parts)
    assert (raters["used"] == (raters["reasons"].list.len() == 0)).all()
    return dict(raters.select("rater", "reasons").iter_rows())


def test_every_setting_is_a_rule_or_bt500() -> None:
    assert {*RULES, "bt500"} == set(Screening.model_fields)


def test_rows_fit_the_raters_table(answered: Answered) -> None:
    raters = screened(realism(), answered(("ann", ["i"], "real")))
    table = TABLES["raters"]
    assert set(raters.columns) == {column.name for column in table.columns}
    assert all(raters.schema[column.name] == column.dtype for column in table.columns)


def test_no_rules_use_everyone(answered: Answered) -> None:
    assert reasons(realism(), answered(("bob", ["i"], "real"), ("ann", ["i"], "real"), seconds=0.0)) == {
        "ann": [],
        "bob": [],
    }


def test_fast(answered: Answered) -> None:
    parts = [
        answered(("ann", ["i"], "real"), ("ann", ["j"], "generated"), seconds=0.3),
        answered(("ann", ["k"], "real"), seconds=9.0),
        answered(("bob", ["i"], "real"), ("bob", ["j"], "generated"), seconds=0.29),
        answered(("bob", ["k"], "real"), seconds=9.0),
        answered(("bob", ["g"], "real"), role="gold", expected="real", seconds=99.0),  # only test trials count
    ]
    assert reasons(realism(min_seconds=0.3), *parts) == {
        "ann": [],
        "bob": ["fast: median 0.29 s, at least 0.3 s expected"],
    }


def test_same_answer(answered: Answered) -> None:
    # ann: 3 of 4 real; bob: 4 of 4
    parts = [
        answered(*[("ann", [i], "real") for i in "ijk"], ("ann", ["l"], "generated")),
        answered(*[("bob", [i], "real") for i in "ijkl"]),
    ]
    assert reasons(realism(max_same_share=0.75), *parts) == {
        "ann": [],
        "bob": ["same answer: 100% of the time, at most 75% expected"],
    }


def test_same_answer_goes_by_the_aspect_where_it_is_least(answered: Answered) -> None:
    parts = [
        answered(*[("ann", [i], 5.0) for i in "ijkl"], aspect="quality"),
        answered(*[("ann", [i], float(v)) for i, v in zip("ijkl", (1, 2, 3, 3), strict=True)], aspect="alignment"),
    ]
    assert screened(rating(), *parts)["same_share"].to_list() == [0.5]


def test_qualification_goes_by_the_worse_class(answered: Answered) -> None:
    def qualify(who: str, *, right_on_fakes: int) -> list[pl.DataFrame]:
        fakes = ["generated"] * right_on_fakes + ["real"] * (20 - right_on_fakes)
        return [
            answered(*[(who, [f"r{n}"], "real") for n in range(20)], role="qualification", expected="real"),
            answered(
                *[(who, [f"f{n}"], choice) for n, choice in enumerate(fakes)],
                role="qualification",
                expected="generated",
            ),
            answered((who, ["t"], "real")),
        ]

    parts = [*qualify("ann", right_on_fakes=13), *qualify("bob", right_on_fakes=12)]
    assert reasons(realism(min_qualification=0.65), *parts) == {
        "ann": [],  # 13/20 = .65 exactly
        "bob": ["qualification: 60% right on the harder class, at least 65% expected"],
    }


def test_gold(answered: Answered) -> None:
    def golden(who: str, right: int) -> pl.DataFrame:
        choices = ["real"] * right + ["generated"] * (4 - right)
        return answered(*[(who, [f"g{n}"], s) for n, s in enumerate(choices)], role="gold", expected="real")

    tests = answered(("ann", ["t"], "real"), ("bob", ["t"], "real"), ("cat", ["t"], "real"))
    assert reasons(realism(min_gold=0.75), golden("ann", 3), golden("bob", 2), tests) == {
        "ann": [],
        "bob": ["gold trials: 50% right, at least 75% expected"],
        "cat": [],  # saw no gold trial: the rule has nothing to say
    }


def test_attention(answered: Answered) -> None:
    def heeds(who: str, missed: int) -> pl.DataFrame:
        choices = ["left"] * missed + ["tie"] * (4 - missed)
        rows = [(who, ["x", "y"], s) for s in choices]
        return answered(*rows, role="attention", aspect="preference", expected="tie")

    tests = answered(("ann", ["x", "y"], "left"), ("bob", ["x", "y"], "left"), aspect="preference")
    assert reasons(pair(max_attention_failures=1), heeds("ann", 1), heeds("bob", 2), tests) == {
        "ann": [],
        "bob": ["attention checks: 2 missed, at most 1 expected"],
    }


def test_an_attention_trial_is_missed_once_however_many_aspects(answered: Answered) -> None:
    check = {"role": "attention", "expected": "2", "trials": ["t"]}
    parts = [
        answered(("ann", ["i"], 5.0), aspect="quality", **check),
        answered(("ann", ["i"], 4.0), aspect="alignment", **check),
        answered(("ann", ["i"], 4.0), aspect="quality"),
    ]
    assert screened(rating(), *parts)["attention_failures"].to_list() == [1]


def test_repeats_with_the_sides_exchanged(answered: Answered) -> None:
    def again(who: str, *pairs: tuple[str, str]) -> list[pl.DataFrame]:
        parts = []
        for n, (first, second) in enumerate(pairs):
            parts += [
                answered((who, ["x", f"y{n}"], first), aspect="preference", trials=[f"{who}{n}"]),
                answered((who, [f"y{n}", "x"], second), aspect="preference", role="repeat", repeats=f"{who}{n}"),
            ]
        return parts

    parts = [
        *again("ann", ("left", "right"), ("tie", "tie"), ("right", "right"), ("left", "left")),
        *again("bob", ("left", "left"), ("tie", "left"), ("right", "right"), ("right", "left")),
    ]
    assert reasons(pair(min_repeat=0.5), *parts) == {
        "ann": [],  # two of four
        "bob": ["repeated trials: 25% answered alike, at least 50% expected"],
    }


def test_repeated_ratings_may_differ_by_a_point(answered: Answered) -> None:
    parts = [
        answered(("ann", ["i"], 3.0), ("ann", ["j"], 3.0), aspect="quality", trials=["t0", "t1"]),
        answered(("ann", ["i"], 4.0), aspect="quality", role="repeat", repeats="t0"),
        answered(("ann", ["j"], 5.0), aspect="quality", role="repeat", repeats="t1"),
    ]
    assert screened(rating(), *parts)["repeat_share"].to_list() == [0.5]


def test_agreement_with_the_majority_must_beat_chance(answered: Answered) -> None:
    # three others agree on five images; ann with them on all five: p = 1/2⁵ = .031; bob on four: p = 6/32 = .19,
    # and Wilson's confidence interval of 4/5 ends at .96, below the median rater's 1
    items = "ijklm"
    others = [(who, [i], "real") for who in ("c", "d", "e") for i in items]
    ann = [("ann", [i], "real") for i in items]
    bob = [("bob", [i], "real") for i in items[:4]] + [("bob", ["m"], "generated")]
    reasons_of = reasons(realism(above_chance=0.05), answered(*others, *ann, *bob))
    assert reasons_of["ann"] == []
    assert reasons_of["bob"] == [
        "agreement: 80% with the majority, less than is usual and no better than guessing"
    ]
    assert reasons(realism(above_chance=1 / 32), answered(*others, *ann))["ann"] == []  # just at the level


def test_nobody_is_excluded_for_agreeing_as_often_as_the_median_rater(answered: Answered) -> None:
    # Everyone differs from the others on one image of five, each on another, so each agrees on 4 of 5: p = .19,
    # which does not exceed chance, but nobody does better.
    items, names = "ijklm", "abcde"
    rows = [
        (who, [item], "generated" if position == number else "real")
        for number, who in enumerate(names)
        for position, item in enumerate(items)
    ]
    assert all(not own_reasons for own_reasons in reasons(realism(above_chance=0.05), answered(*rows)).values())


def test_ties_do_not_count_for_agreement(answered: Answered) -> None:
    rows = [(who, ["x", "y"], "left") for who in ("c", "d", "e")] + [("ann", ["x", "y"], "tie")]
    raters = screened(pair(above_chance=0.05), answered(*rows, aspect="preference"))
    ann = raters.row(by_predicate=pl.col("rater") == "ann", named=True)
    assert ann["agreement"] is None
    assert ann["used"]


def test_correlation_with_the_others(answered: Answered) -> None:
    scores = {"c": (1, 2, 3, 4), "d": (1, 2, 3, 4), "bob": (4, 3, 2, 1), "lazy": (5, 5, 5, 5)}
    rows = [(who, [i], float(v)) for who, ratings in scores.items() for i, v in zip("ijkl", ratings, strict=True)]
    reasons_of = reasons(rating(min_correlation=0.3), answered(*rows, aspect="quality"))
    assert reasons_of["c"] == reasons_of["d"] == []
    assert reasons_of["bob"] == ["agreement: correlation -1.00 with the others, at least 0.3 expected"]
    assert reasons_of["lazy"] == []  # not defined: the rule against the same answer is for this


def test_of_several_aspects_the_best_counts(answered: Answered) -> None:
    parts = []
    for aspect, bobs in (("quality", (4, 3, 2, 1)), ("alignment", (1, 2, 3, 4))):
        scores = {"c": (1, 2, 3, 4), "d": (1, 2, 3, 4), "bob": bobs}
        parts.append(
            answered(
                *[
                    (who, [i], float(v))
                    for who, ratings in scores.items()
                    for i, v in zip("ijkl", ratings, strict=True)
                ],
                aspect=aspect,
            )
        )
    assert reasons(rating(min_correlation=0.3), *parts)["bob"] == []


def test_the_rule_for_correlations_leaves_choices_alone(answered: Answered) -> None:
    rows = [("ann", ["i"], "real"), ("bob", ["i"], "generated"), ("cat", ["i"], "generated")]
    assert reasons(realism(min_correlation=0.9), answered(*rows)) == {"ann": [], "bob": [], "cat": []}


def test_bt500(answered: Answered) -> None:
    # Ten raters give 3 but one of them 2 or 4, so the band is about √20 SD or 2 SD; wild strays to both sides.
    items = [f"i{n}" for n in range(20)]
    rows = [(f"p{n}", [i], 3.0 + ((n + k) % 3 - 1)) for n in range(12) for k, i in enumerate(items)]
    wild = [("wild", [i], 30.0 if k % 2 else -30.0) for k, i in enumerate(items)]
    reasons_of = reasons(rating(bt500=True), answered(*rows, *wild, aspect="quality"))
    # of 13 scores one far out: kurtosis ≈ 11 > 4, band √20 SD = 4.47 SD; the outlier is at √12 = 3.46 SD: inside
    assert all(against == [] for against in reasons_of.values())
    wild = [("wild", [i], 5.2 if k % 2 else 0.8) for k, i in enumerate(items)]
    reasons_of = reasons(rating(bt500=True), answered(*rows, *wild, aspect="quality"))
    # SD ≈ 1, kurtosis between 2 and 4: the band is 2 SD, and 2.2 points lie beyond it
    assert reasons_of.pop("wild") == ["bt500: scores far from the others' in both directions"]
    assert all(against == [] for against in reasons_of.values())


def test_someone_who_left_before_the_test_is_not_used(answered: Answered) -> None:
    parts = [
        answered(("ann", ["t"], "real")),
        answered(("bob", ["g"], "real"), role="qualification", expected="real"),
    ]
    assert reasons(realism(min_qualification=0.5), *parts) == {
        "ann": [],
        "bob": ["no answers: left before the first test trial"],
    }


def test_several_reasons_are_all_told(answered: Answered) -> None:
    rows = answered(*[("ann", [i], "real") for i in "ij"], seconds=0.1)
    assert reasons(realism(min_seconds=1, max_same_share=0.9), rows)["ann"] == [
        "fast: median 0.10 s, at least 1 s expected",
        "same answer: 100% of the time, at most 90% expected",
    ]


def test_conduct_hand_worked(answered: Answered) -> None:
    parts = [
        answered(("ann", ["i"], "real"), seconds=1.0),
        answered(("ann", ["j"], "real"), seconds=2.0),
        answered(("ann", ["k"], "generated"), seconds=6.0),
        answered(("ann", ["g"], "real"), role="gold", expected="real"),
    ]
    rows = pl.concat(parts)
    conduct = with_agreement(conduct_rows(realism(), rows, skips()), judged(realism(), rows))
    row = conduct.row(0, named=True)
    assert row["answers"] == 3
    assert row["median_seconds"] == 2.0
    assert row["same_share"] == pytest.approx(2 / 3)
    assert row["gold_share"] == 1.0
    assert row["attention_failures"] is None
    assert row["qualification_share"] is None
    assert row["repeat_share"] is None
    assert row["agreement"] is None  # nobody else judged


class TestSkipping:
    def test_the_proportion_of_test_trials(self, answered: Answered) -> None:
        """Ann answers three and skips one, and one that is no test trial: 1 of 4. Bob skips two of three."""
        tests = answered(
            ("ann", ["i"], "real"), ("ann", ["j"], "real"), ("ann", ["k"], "real"), ("bob", ["i"], "real")
        )
        left = [("ann", "test", None), ("ann", "gold", "real"), ("bob", "test", None), ("bob", "test", None)]
        raters = screened(realism(max_skipped=0.25), tests, skipped=skips(*left))
        assert raters["skipped"].to_list() == pytest.approx([1 / 4, 2 / 3])
        assert raters["reasons"].to_list() == [[], ["skipped: 67% of the test trials, at most 25% expected"]]

    def test_a_skipped_attention_check_is_missed(self, answered: Answered) -> None:
        tests = answered(("ann", ["i"], "real"))
        rater = screened(
            realism(max_attention_failures=0), tests, skipped=skips(("ann", "attention", "real"))
        ).row(0, named=True)
        assert rater["attention_failures"] == 1
        assert rater["reasons"] == ["attention checks: 1 missed, at most 0 expected"]

    def test_a_skipped_qualification_trial_is_wrong_in_its_class(self, answered: Answered) -> None:
        """Of the generated ones both right; of the real ones one right and one skipped: a half."""
        parts = [
            answered(("ann", ["i"], "real")),
            answered(("ann", ["a"], "generated"), role="qualification", expected="generated"),
            answered(("ann", ["b"], "generated"), role="qualification", expected="generated"),
            answered(("ann", ["c"], "real"), role="qualification", expected="real"),
        ]
        rater = screened(
            realism(min_qualification=0.65), *parts, skipped=skips(("ann", "qualification", "real"))
        ).row(0, named=True)
        assert rater["qualification_share"] == 0.5
        assert not rater["used"]

    def test_who_only_skipped_is_listed_and_not_used(self, answered: Answered) -> None:
        raters = screened(realism(), answered(("ann", ["i"], "real")), skipped=skips(("bob", "test", None)))
        rows = dict(raters.select("rater", "skipped").iter_rows())
        assert rows == {"ann": 0.0, "bob": 1.0}
        assert dict(raters.select("rater", "used").iter_rows()) == {"ann": True, "bob": False}


class TestRulesWithNothingToLookAt:
    def test_they_say_so_and_pass_nobody(self, answered: Answered) -> None:
        rules = {"min_gold": 0.5, "min_repeat": 0.5, "max_attention_failures": 0, "min_qualification": 0.5}
        rater = screened(realism(**rules, min_correlation=0.5), answered(("ann", ["i"], "real"))).row(
            0, named=True
        )
        assert rater["used"]
        assert rater["notes"] == [
            "min_qualification: not applicable: no qualification trial was answered",
            "min_gold: not applicable: no gold trial was answered",
            "max_attention_failures: not applicable: no attention check was answered",
            "min_repeat: not applicable: no repeated trial was answered",
            "min_correlation: not applicable: there are no numbers, or too few, that others gave too",
        ]

    def test_bt500_is_for_ratings(self, answered: Answered) -> None:
        question = RealismQuestion(name="q", screening=Screening(bt500=True))
        rater = screened(question, answered(("ann", ["i"], "real"))).row(0, named=True)
        assert rater["notes"] == ["bt500: not applicable: it is for ratings, and these are choices"]

    def test_rules_left_out_leave_no_note(self, answered: Answered) -> None:
        assert screened(realism(), answered(("ann", ["i"], "real"))).row(0, named=True)["notes"] == []


def test_what_agreement_is_stands_beside_it(answered: Answered) -> None:
    choices = answered(*[(who, ["i"], "real") for who in "abc"])
    assert set(screened(realism(), choices)["agreement_kind"]) == {"majority-share"}
    numbers = answered(*[(who, [i], float(n)) for who in "abc" for n, i in enumerate("ijk", 1)], aspect="quality")
    assert set(screened(rating(), numbers)["agreement_kind"]) == {"correlation"}


def test_a_repeat_on_a_scale_of_a_hundred_may_differ_by_ten(answered: Answered) -> None:
    question = RatingQuestion(name="q", points=0)
    parts = [
        answered(("ann", ["i"], 30.0), ("ann", ["j"], 30.0), aspect="quality", trials=["t0", "t1"]),
        answered(("ann", ["i"], 40.0), aspect="quality", role="repeat", repeats="t0"),
        answered(("ann", ["j"], 40.5), aspect="quality", role="repeat", repeats="t1"),
    ]
    assert screened(question, *parts)["repeat_share"].to_list() == [0.5]


def test_a_repeated_five_way_answer_may_differ_by_a_step(answered: Answered) -> None:
    question = SideBySideQuestion(name="q")
    parts = [
        answered(
            ("ann", ["x", "y"], "left-much"), ("ann", ["x", "z"], "left"), aspect="preference", trials=["t", "u"]
        ),
        answered(("ann", ["y", "x"], "right"), aspect="preference", role="repeat", repeats="t"),  # a step less
        answered(("ann", ["z", "x"], "left"), aspect="preference", role="repeat", repeats="u"),  # the other side
    ]
    assert screened(question, *parts)["repeat_share"].to_list() == [0.5]
