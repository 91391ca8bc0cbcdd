import math

from beholder.report.text.measures import MEASURES, measure_of, win_probability


def test_an_error_rate_is_written_in_percent() -> None:
    measure = MEASURES["error-rate"]
    assert measure.show(0.462) == "46.2"
    assert measure.with_unit(measure.show(0.462)) == "46.2 %"
    assert measure.show_interval(0.424, 0.503) == "42.4 to 50.3"
    assert measure.show_difference(0.089) == "+8.9"


def test_log_odds_carry_a_sign_and_nothing_has_none() -> None:
    measure = MEASURES["bradley-terry"]
    assert [measure.show(value) for value in (1.612, -0.964, 0.001, -0.001)] == ["+1.61", "−0.96", "0.00", "0.00"]


def test_what_is_not_known_is_a_dash() -> None:
    measure = MEASURES["mean-opinion"]
    assert measure.show(None) == measure.show(math.nan) == measure.show_difference(None) == "–"
    assert measure.show_interval(None, 1.0) == "–"
    assert MEASURES["error-rate"].with_unit("–") == "–"


def test_win_share_of_log_odds() -> None:
    # e^0 = 1, so 1 : 1; e^1 = 2.71828, so 2.71828 / 3.71828 = .73106; ln 3 gives 3 : 1
    assert win_probability(0) == 0.5
    assert math.isclose(win_probability(1), 0.7310585786)
    assert math.isclose(win_probability(math.log(3)), 0.75)
    assert win_probability(-1000) == 0.0
    derive = MEASURES["bradley-terry"].derive
    assert derive is not None
    assert derive(math.log(3)) == "75 %"


def test_a_method_that_is_not_known_is_plain_and_leads() -> None:
    measure = measure_of("coin-toss")
    assert (measure.name, measure.headline, measure.show(1.234)) == ("coin toss", True, "1.23")


def test_an_interval_that_excludes_0_never_reads_as_if_it_touched_it() -> None:
    votes, errors = measure_of("bradley-terry"), measure_of("error-rate")
    assert votes.show_difference_interval(0.0000008, 3.214) == "> 0 to +3.21"
    assert votes.show_difference_interval(-3.214, -0.0000008) == "−3.21 to < 0"
    assert votes.show_difference_interval(-0.001, 3.214) == "0.00 to +3.21"
    assert votes.show_difference_interval(0.5, 3.214) == "+0.50 to +3.21"
    assert votes.show_interval(0.0000004, 1.6) == "> 0 to +1.60"  # a rating against the average
    assert errors.show_difference_interval(0.0003, 0.052) == "> 0 to +5.2"
    assert (
        errors.show_interval(0.0003, 0.052) == "0.0 to 5.2"
    )  # a proportion, of which nobody asks whether it is 0
    assert votes.show_difference_interval(None, 1.0) == "–"
