"""The counts behind every rater's conduct on a question, from the columns of the tables."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

import polars as pl

from beholder.judgements.coding import PAIRED, judgements_of
from beholder.judgements.conduct import ATTENTION, GOLD, QUALIFICATION, TEST, Hits, Tally
from beholder.judgements.rankings import RANK
from beholder.judgements.votes import in_order_of_ids, votes_of
from beholder.study.kinds.catalogue import KINDS, AnyQuestion
from beholder.tables.catalogue import TABLES

REPEAT = "repeat"

RIGHT = pl.col("answer_text") == pl.col("expected")


def tallies(question: AnyQuestion, answered: pl.DataFrame, skipped: pl.DataFrame) -> dict[str, Tally]:
    """Return the counts of every rater by id, from rows of :func:`~beholder.judgements.joined.answered_trials`.

    ``skipped`` are rows of :func:`~beholder.judgements.joined.skipped_trials`. The same as
    :func:`~beholder.judgements.conduct.tally` of each rater's rows, for a million of them at once.
    """
    tests = answered.filter(pl.col("role") == TEST)
    seconds = dict(tests.group_by("rater").agg("seconds").iter_rows())
    same = _same(tests)
    gold = dict(_hits(answered.filter(pl.col("role") == GOLD).group_by("rater").agg(_RIGHT, _OF)))
    skipped_tests = dict(_hits(_skipped(tests, skipped)))
    attention, classes = _attention(answered, skipped), _classes(answered, skipped)
    repeats = dict(_hits(_repeats(question, answered)))
    return {
        rater: Tally(
            seconds=seconds.get(rater, ()),
            same=same.get(rater, ()),
            skipped=skipped_tests.get(rater),
            gold=gold.get(rater),
            attention=attention.get(rater),
            qualification=classes.get(rater, {}),
            repeats=repeats.get(rater),
        )
        for rater in pl.concat([answered["rater"], skipped["rater"]]).unique().sort()
    }


_RIGHT, _OF = RIGHT.sum().cast(pl.Float64).alias("right"), RIGHT.count().alias("of")


def _same(tests: pl.DataFrame) -> Mapping[str, list[list[int]]]:
    counts = tests.group_by("rater", "aspect", "answer_text").len().group_by("rater", "aspect").agg("len")
    return dict(counts.group_by("rater").agg("len").iter_rows())


def _skipped(tests: pl.DataFrame, skipped: pl.DataFrame) -> pl.DataFrame:
    """Test trials that were skipped, of those that were answered or skipped."""
    answers = tests.select("rater", "trial").unique().select("rater", right=pl.lit(0.0))
    skips = skipped.filter(pl.col("role") == TEST).select("rater", right=pl.lit(1.0))
    return pl.concat([answers, skips]).group_by("rater").agg(pl.col("right").sum(), of=pl.len())


def _attention(answered: pl.DataFrame, skipped: pl.DataFrame) -> Mapping[str, Hits]:
    checks = answered.filter(pl.col("role") == ATTENTION)
    passed = checks.group_by("rater", "trial").agg(passed=RIGHT.all()).select("rater", "passed")
    trials = pl.concat([passed, _not_passed(skipped, ATTENTION).rename({"right": "passed"}).drop("expected")])
    return dict(_hits(trials.group_by("rater").agg(right=pl.col("passed").sum().cast(pl.Float64), of=pl.len())))


def _classes(answered: pl.DataFrame, skipped: pl.DataFrame) -> Mapping[str, Mapping[str, Hits]]:
    checks = answered.filter((pl.col("role") == QUALIFICATION) & pl.col("expected").is_not_null())
    trials = pl.concat([checks.select("rater", "expected", right=RIGHT), _not_passed(skipped, QUALIFICATION)])
    rows = trials.group_by("rater", "expected").agg(pl.col("right").sum().cast(pl.Float64), of=pl.len())
    classes: dict[str, dict[str, Hits]] = defaultdict(dict)
    for rater, expected, right, of in rows.iter_rows():
        classes[rater][expected] = Hits(right, of)
    return classes


def _not_passed(skipped: pl.DataFrame, role: str) -> pl.DataFrame:
    """The skipped checks of a role: none of them is right."""
    checks = skipped.filter((pl.col("role") == role) & pl.col("expected").is_not_null())
    return checks.select("rater", "expected", right=pl.lit(value=False))


def _repeats(question: AnyQuestion, answered: pl.DataFrame) -> pl.DataFrame:
    """How many repeated trials were answered alike, sides exchanged.

    Alike are values that differ by no more than the kind's ``slack``; a ranking counts by the votes it implies.
    """
    again = answered.filter(pl.col("role") == REPEAT)
    slack = KINDS[question.kind].coding(question).slack
    if again.is_empty() or slack is None:
        return pl.DataFrame(schema={"rater": pl.String, "right": pl.Float64, "of": pl.Int64})
    before = again.select("rater", trial="repeats").unique()
    first = answered.join(before, on=["rater", "trial"], how="semi", maintain_order="left")
    now = _comparable(question, again).join(again.select("trial", "repeats").unique(), on="trial")
    then = _comparable(question, first).rename({"trial": "repeats", "value": "value_before"})
    on = ["rater", "aspect", "repeats", "image", "other"]
    both = now.join(then.select(*on, "value_before"), on=on, nulls_equal=True)
    alike = (pl.col("value") - pl.col("value_before")).abs() <= slack
    return both.group_by("rater").agg(right=alike.sum().cast(pl.Float64), of=pl.len())


def _comparable(question: AnyQuestion, answered: pl.DataFrame) -> pl.DataFrame:
    """Return the judgements, votes with the images always in the same order."""
    judgements = judgements_of(question, answered, TABLES["marks"].empty())
    paired = judgements["value_kind"].is_in([*PAIRED, RANK]).any()
    return in_order_of_ids(votes_of(judgements)) if paired else judgements


def _hits(rows: pl.DataFrame) -> Iterator[tuple[str, Hits]]:
    for rater, right, of in rows.select("rater", "right", "of").iter_rows():
        yield rater, Hits(right, of)
