from datetime import UTC, datetime

from beholder.report.tables.accuracy import Accuracy
from beholder.report.tables.raters import RaterPool, Reason, build_pools, collection_dates
from beholder.tables.catalogue import TABLES

Row = dict[str, object]


def rater(name: str, *reasons: str, answers: int = 10, seconds: float | None = 1.0) -> Row:
    used = not reasons and answers > 0
    return {"question": "q", "rater": name, "used": used, "reasons": list(reasons), "answers": answers} | {
        "median_seconds": seconds,
        "agreement": 0.5,
    }


def pool_of(raters: list[Row], agreement: list[Row] | None = None, truth: list[Row] | None = None) -> RaterPool:
    (pool,) = build_pools(
        {"q": ["quality", "alignment"]},
        TABLES["sessions"].empty(),
        TABLES["raters"].frame(raters),
        TABLES["agreement"].frame(agreement or []),
        None if truth is None else TABLES["raters"].frame(truth),
    )
    return pool


def test_reasons_are_counted_by_rule() -> None:
    pool = pool_of(
        [
            rater("a"),
            rater("b", "fast: median 0.1 s", "agreement: 10%"),
            rater("c", "fast: median 0.2 s"),
            rater("d", answers=0, seconds=None),
        ]
    )
    assert pool.reasons == (
        Reason("fast", "median 0.1 s", raters=2, alone=1),
        Reason("agreement", "10%", raters=1, alone=0),
        Reason("no answers", "no valid answer to a test trial", raters=1, alone=1),
    )
    assert (len(pool.used), pool.excluded, pool.answers, pool.unplaced) == (1, 3, 10, 1)


def test_notes_are_counted() -> None:
    why = "p910: no labels of quality: the fit did not converge"
    pool = pool_of(
        [rater("a") | {"notes": ["min_gold: not applicable", why]}, rater("b") | {"notes": [why]}, rater("c")]
    )
    assert pool.notes == ((why, 2), ("min_gold: not applicable", 1))


def test_the_time_is_the_median_of_the_raters_used() -> None:
    raters = [
        rater("a", seconds=1.0),
        rater("b", seconds=2.0),
        rater("c", seconds=9.0),
        rater("d", "x: y", seconds=0.1),
    ]
    assert pool_of(raters).seconds == 2.0
    assert pool_of([]).seconds is None


def test_agreement_stands_in_the_order_of_the_aspects() -> None:
    values = (("alignment", "all", 0.1), ("alignment", "used", 0.2), ("quality", "used", None))
    counts: Row = {"answers": 1, "items": 1, "raters": 1}
    rows: list[Row] = [
        counts | {"question": "q", "aspect": aspect, "statistic": "alpha", "people": who, "value": value}
        for aspect, who, value in values
    ]
    agreements = pool_of([], rows).agreements
    assert [(a.aspect, a.before[0], a.after[0]) for a in agreements] == [
        ("quality", None, None),
        ("alignment", 0.1, 0.2),
    ]


def test_habits_of_simulated_raters() -> None:
    truth = [rater("a") | {"reasons": ["noisy"], "used": True}, rater("b") | {"reasons": ["lazy"], "used": False}]
    pool = pool_of([rater("a"), rater("b", "same answer: 100%")], truth=truth)
    assert [(h.name, h.harmful, h.raters, h.excluded) for h in pool.habits] == [
        ("lazy", True, 1, 1),
        ("ordinary", False, 1, 0),
    ]


def test_raters_who_can_be_right_are_placed_by_accuracy() -> None:
    raters = TABLES["raters"].frame([rater("a"), rater("b", "fast: 0.1 s"), rater("c", answers=0, seconds=None)])
    accuracy = {("q", "a"): Accuracy(9, 10), ("q", "b"): Accuracy(5, 10), ("other", "c"): Accuracy(1, 1)}
    (pool,) = build_pools(
        {"q": ["realism"]}, TABLES["sessions"].empty(), raters, TABLES["agreement"].empty(), None, accuracy
    )
    assert [pool.quality(rater) for rater in pool.raters] == [0.9, 0.5, None]
    assert [rater.rule for rater in pool.raters] == ["", "fast", "no answers"]
    assert (pool.by_accuracy, pool.timing, pool.unplaced) == (True, "median", 1)


def test_totals_tell_the_mean_time() -> None:
    raters = TABLES["raters"].frame([rater("a", seconds=None)])
    (pool,) = build_pools(
        {"q": ["realism"]},
        TABLES["sessions"].empty(),
        raters,
        TABLES["agreement"].empty(),
        None,
        {("q", "a"): Accuracy(9, 10, 1.5)},
    )
    assert (pool.seconds, pool.timing, pool.unplaced) == (1.5, "mean", 0)


def test_steps_of_max_diff_stand_apart_from_measures() -> None:
    counts: Row = {"question": "q", "aspect": "quality", "people": "used", "answers": 30, "items": 10, "raters": 3}
    names = ("krippendorff-alpha-ordinal", "max-diff-at-most-0", "max-diff-at-most-0.25", "icc-1-1")
    pool = pool_of([], [counts | {"statistic": name, "value": 0.5} for name in names])
    ((aspect, measures),) = pool.measures
    assert (aspect, [own.statistic for own in measures]) == ("quality", [names[0], names[3]])
    assert (measures[0].answers, measures[0].items, measures[0].raters) == (30, 10, 3)
    assert pool.step_edges == (0.0, 0.25)
    assert [len(steps) for _, steps in pool.steps] == [2]


def test_days_span_all_sessions() -> None:
    first, last = datetime(2025, 5, 1, tzinfo=UTC), datetime(2025, 5, 3, tzinfo=UTC)
    common: Row = {"rater": "a", "question": "q", "status": "complete", "simulated": False}
    rows = [
        common | {"session": "1", "started": last},
        common | {"session": "2", "started": first, "ended": first},
    ]
    sessions = TABLES["sessions"].frame(rows)
    assert collection_dates(sessions) == (first, last)
    assert collection_dates(TABLES["sessions"].empty()) is None
