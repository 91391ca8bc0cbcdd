"""Gaps between groups of prompts, by hand-made measures with known gaps."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

from beholder.audit.contrasts import by_entry, contrast_of, judged_prompts, scored
from beholder.audit.counterfactual import paired_prompts
from beholder.audit.gap_findings import Gap, gap_findings
from beholder.audit.slice_gap import slice_contrasts
from beholder.judgements.measures import Measure


def ratings(gap: float, *, raters: int = 8, prompts: int = 60, seed: int = 3) -> Measure:
    """Prompts p00 … ; the first 25 are rated lower by ``gap``, by two entries alike."""
    rng = np.random.default_rng(seed)
    rater, prompt, entry = (axis.ravel() for axis in np.indices((raters, prompts, 2)))
    taste, hard = rng.normal(0, 0.3, raters), rng.normal(0, 0.3, prompts)
    values = 3 + taste[rater] + hard[prompt] - gap * (prompt < 25) + rng.normal(0, 0.5, len(rater))
    rows = {"rater": [f"r{r}" for r in rater], "prompt": [f"p{p:02d}" for p in prompt]}
    return Measure(
        "quality", "people", "higher", pl.DataFrame(rows | {"entry": [f"e{e}" for e in entry], "value": values})
    )


FIRST = {f"p{p:02d}" for p in range(25)}
EVERYTHING = {f"p{p:02d}" for p in range(60)}


def test_of_a_scorer_the_contrast_is_welchs_t_test() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=60)
    rows = pl.DataFrame({"prompt": sorted(EVERYTHING), "value": values})
    contrast = contrast_of(judged_prompts(rows), {p: 0 if p in FIRST else 1 for p in EVERYTHING})
    assert contrast is not None
    assert contrast.estimate == pytest.approx(values[:25].mean() - values[25:].mean())
    # one factor n/(n − 1) = 60/59 for all prompts, instead of 25/24 and 35/34
    squares = sum(((part - part.mean()) ** 2).sum() / len(part) ** 2 for part in (values[:25], values[25:]))
    assert contrast.standard_error == pytest.approx(np.sqrt(squares * 60 / 59))
    welch = stats.ttest_ind(values[:25], values[25:], equal_var=False)
    assert contrast.estimate / contrast.standard_error == pytest.approx(welch.statistic, rel=0.03)


def test_a_planted_gap_is_found_for_all_entries_and_for_each() -> None:
    tested = list(slice_contrasts([ratings(0.8)], {"tag: count": FIRST}, EVERYTHING, fewest=20))
    findings = list(gap_findings(tested, level=0.95))
    assert [f.subject for f in findings] == ["all", "e0", "e1"]
    assert {f.severity for f in findings} == {"problem"}
    assert all(f.low is not None and f.low < -0.8 < (f.high or 0) for f in findings)
    assert all(abs(f.shrunk or 0) < abs(f.figure or 0) for f in findings)
    assert "worse on prompts with count" in findings[0].words


def test_no_gap_is_undecided_or_clear_and_never_a_problem() -> None:
    gaps = list(slice_contrasts([ratings(0.0)], {"tag: count": FIRST}, EVERYTHING, fewest=20))
    assert {finding.severity for finding in gap_findings(gaps, level=0.95)} <= {"undecided", "clear"}


def test_slices_below_the_fewest_prompts_are_not_tested() -> None:
    slices = {"tag: count": {f"p{p:02d}" for p in range(19)}}
    assert not list(slice_contrasts([ratings(0.8)], slices, EVERYTHING, fewest=20))


def test_votes_are_win_rates_without_a_mean_of_all() -> None:
    votes = pl.DataFrame(
        {"rater": ["r", "r"], "prompt": ["p", "q"], "entry": ["a", "a"], "other": ["b", "b"], "value": [1.0, 0.0]}
    )
    measure = Measure("preference", "people", "higher", votes)
    assert set(by_entry(measure)) == {"a", "b"}
    won = scored(measure).rows.sort("entry", "prompt")["value"].to_list()
    assert won == [1.0, 0.5, 0.0, 0.5]


def test_a_slice_that_hardly_varies_by_luck_borrows_the_variance_of_the_rest() -> None:
    # 20 prompts of which none failed, 40 of which every tenth did: the 20 have no variance of their own
    values = np.array([1.0] * 20 + ([0.0] + [1.0] * 9) * 4)
    rows = pl.DataFrame({"prompt": sorted(EVERYTHING), "value": values})
    group_of = {p: 0 if p < "p20" else 1 for p in EVERYTHING}
    plain, floored = (contrast_of(judged_prompts(rows, proportion=flag), group_of) for flag in (False, True))
    assert plain is not None
    assert floored is not None
    # variance of one prompt .9 × .1 × 60/59 in the rest: /40 and, borrowed, /20
    assert plain.standard_error**2 == pytest.approx(0.09 * 60 / 59 / 40)
    assert floored.standard_error**2 == pytest.approx(0.09 / 40 * 60 / 59 + 0.09 / 20 * 40 / 39, rel=0.02)


def test_counterfactual_prompts_are_compared_within_their_set() -> None:
    texts = {f"{who}{k}": f"a {who} who works as clerk {k}" for who in ("man", "woman") for k in range(30)}
    (paired,) = paired_prompts(texts)
    assert (paired.dimension, paired.first, paired.second, paired.pairs) == ("gender", "male", "female", 30)
    hard = np.random.default_rng(0).normal(0, 5, 30)  # whatever the job, both have it
    rows = pl.DataFrame(
        {
            "prompt": list(texts),
            "value": [hard[int(p[-2:].strip("n"))] - 0.5 * p.startswith("woman") for p in texts],
        }
    )
    contrast = contrast_of(judged_prompts(rows), paired.group_of, paired.set_of)
    assert contrast is not None
    assert contrast.estimate == pytest.approx(0.5)
    assert contrast.standard_error == pytest.approx(0.0, abs=1e-9)
    measure = Measure("quality", "scorer", "higher", rows.with_columns(entry=pl.lit("e")))
    (finding,) = gap_findings(
        [Gap(contrast, "all", measure, "gender", "male", "female", symmetric=True)], level=0.95
    )
    assert finding.figure == pytest.approx(0.5)
