from datetime import UTC, datetime

from beholder.report.tables.accuracy import Accuracy
from beholder.report.tables.raters import Crowd, Reason, crowds, days
from beholder.tables.catalogue import TABLES

Row = dict[str, object]


def rater(name: str, *reasons: str, answers: int = 10, seconds: float | None = 1.0) -> Row:
    used = not reasons and answers > 0
    return {"question": "q", "rater": name, "used": used, "reasons": list(reasons), "answers": answers} | {
        "median_seconds": seconds,
        "agreement": 0.5,
    }


def crowd_of(raters: list[Row], agreement: list[Row] | None = None, truth: list[Row] | None = None) -> Crowd:
    (crowd,) = crowds(
        {"q": ["quality", "alignment"]},
        TABLES["sessions"].empty(),
        TABLES["raters"].frame(raters),
        TABLES["agreement"].frame(agreement or []),
        None if truth is None else TABLES["raters"].frame(truth),
    )
    return crowd


def test_reasons_are_counted_by_rule() -> None:
    crowd = crowd_of(
        [
            rater("a"),
            rater("b", "fast: median 0.1 s", "agreement: 10%"),
            rater("c", "fast: median 0.2 s"),
            rater("d", answers=0, seconds=None),
        ]
    )
    assert crowd.reasons == (
        Reason("fast", "median 0.1 s", people=2, alone=1),
        Reason("agreement", "10%", people=1, alone=0),
        Reason("no answers", "no valid answer to a test trial", people=1, alone=1),
    )
    assert (len(crowd.used), crowd.set_aside, crowd.answers, crowd.unplaced) == (1, 3, 10, 1)


def test_notes_are_counted() -> None:
    why = "p910: no labels of quality: the fit did not converge"
    crowd = crowd_of(
        [rater("a") | {"notes": ["min_gold: not applicable", why]}, rater("b") | {"notes": [why]}, rater("c")]
    )
    assert crowd.notes == ((why, 2), ("min_gold: not applicable", 1))


def test_the_time_is_the_median_of_the_people_used() -> None:
    raters = [
        rater("a", seconds=1.0),
        rater("b", seconds=2.0),
        rater("c", seconds=9.0),
        rater("d", "x: y", seconds=0.1),
    ]
    assert crowd_of(raters).seconds == 2.0
    assert crowd_of([]).seconds is None


def test_agreement_stands_in_the_order_of_the_aspects() -> None:
    found = (("alignment", "all", 0.1), ("alignment", "used", 0.2), ("quality", "used", None))
    counts: Row = {"answers": 1, "items": 1, "raters": 1}
    rows: list[Row] = [
        counts | {"question": "q", "aspect": aspect, "statistic": "alpha", "people": who, "value": value}
        for aspect, who, value in found
    ]
    accords = crowd_of([], rows).accords
    assert [(a.aspect, a.before[0], a.after[0]) for a in accords] == [
        ("quality", None, None),
        ("alignment", 0.1, 0.2),
    ]


def test_habits_of_made_up_people() -> None:
    truth = [rater("a") | {"reasons": ["noisy"], "used": True}, rater("b") | {"reasons": ["lazy"], "used": False}]
    crowd = crowd_of([rater("a"), rater("b", "same answer: 100%")], truth=truth)
    assert [(h.name, h.harmful, h.people, h.set_aside) for h in crowd.habits] == [
        ("lazy", True, 1, 1),
        ("ordinary", False, 1, 0),
    ]


def test_people_who_can_be_right_are_placed_by_it() -> None:
    raters = TABLES["raters"].frame([rater("a"), rater("b", "fast: 0.1 s"), rater("c", answers=0, seconds=None)])
    known = {("q", "a"): Accuracy(9, 10), ("q", "b"): Accuracy(5, 10), ("other", "c"): Accuracy(1, 1)}
    (crowd,) = crowds(
        {"q": ["realism"]}, TABLES["sessions"].empty(), raters, TABLES["agreement"].empty(), None, known
    )
    assert [crowd.height(member) for member in crowd.members] == [0.9, 0.5, None]
    assert [member.rule for member in crowd.members] == ["", "fast", "no answers"]
    assert (crowd.by_accuracy, crowd.timing, crowd.unplaced) == (True, "median", 1)


def test_totals_tell_the_mean_time() -> None:
    raters = TABLES["raters"].frame([rater("a", seconds=None)])
    (crowd,) = crowds(
        {"q": ["realism"]},
        TABLES["sessions"].empty(),
        raters,
        TABLES["agreement"].empty(),
        None,
        {("q", "a"): Accuracy(9, 10, 1.5)},
    )
    assert (crowd.seconds, crowd.timing, crowd.unplaced) == (1.5, "mean", 0)


def test_steps_of_max_diff_stand_apart_from_measures() -> None:
    counts: Row = {"question": "q", "aspect": "quality", "people": "used", "answers": 30, "items": 10, "raters": 3}
    names = ("krippendorff-alpha-ordinal", "max-diff-at-most-0", "max-diff-at-most-0.25", "icc-1-1")
    crowd = crowd_of([], [counts | {"statistic": name, "value": 0.5} for name in names])
    ((aspect, measures),) = crowd.measures
    assert (aspect, [one.statistic for one in measures]) == ("quality", [names[0], names[3]])
    assert (measures[0].answers, measures[0].items, measures[0].people) == (30, 10, 3)
    assert crowd.step_edges == (0.0, 0.25)
    assert [len(steps) for _, steps in crowd.steps] == [2]


def test_days_span_all_sessions() -> None:
    first, last = datetime(2025, 5, 1, tzinfo=UTC), datetime(2025, 5, 3, tzinfo=UTC)
    common: Row = {"rater": "a", "question": "q", "status": "complete", "simulated": False}
    rows = [
        common | {"session": "1", "started": last},
        common | {"session": "2", "started": first, "ended": first},
    ]
    sessions = TABLES["sessions"].frame(rows)
    assert days(sessions) == (first, last)
    assert days(TABLES["sessions"].empty()) is None
