from beholder.report.text.agreement_names import max_diff_edge, statistic_name


def test_measures_have_the_names_that_readers_know() -> None:
    assert statistic_name("krippendorff-alpha-ordinal") == "Krippendorff’s α, ordinal"
    assert statistic_name("gwet-ac1") == "Gwet’s AC₁"
    assert statistic_name("gwet-ac2-quadratic") == "Gwet’s AC₂, quadratic"
    assert statistic_name("icc-2-mean") == "ICC(2), mean"
    assert statistic_name("kendall-w") == "Kendall’s W"
    assert statistic_name("something-new") == "something new"


def test_steps_of_max_diff() -> None:
    assert [max_diff_edge(name) for name in ("max-diff-at-most-0.25", "max-diff-at-most-0", "kendall-w")] == [
        0.25,
        0.0,
        None,
    ]
