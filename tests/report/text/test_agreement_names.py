from beholder.report.text.agreement_names import max_diff_edge, name_statistic


def test_measures_have_the_names_that_readers_know() -> None:
    assert name_statistic("krippendorff-alpha-ordinal") == "Krippendorff’s α, ordinal"
    assert name_statistic("gwet-ac1") == "Gwet’s AC₁"
    assert name_statistic("gwet-ac2-quadratic") == "Gwet’s AC₂, quadratic"
    assert name_statistic("icc-2-mean") == "ICC(2), mean"
    assert name_statistic("kendall-w") == "Kendall’s W"
    assert name_statistic("something-new") == "something new"


def test_steps_of_max_diff() -> None:
    assert [max_diff_edge(name) for name in ("max-diff-at-most-0.25", "max-diff-at-most-0", "kendall-w")] == [
        0.25,
        0.0,
        None,
    ]
