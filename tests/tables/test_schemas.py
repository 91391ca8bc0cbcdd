"""Laws that the declarations themselves keep."""

import pytest

from beholder.tables.catalogue import TABLES
from beholder.tables.schema import TYPE_NAMES, Column, Table


def test_all_tables_in_the_order_of_the_loop() -> None:
    assert list(TABLES) == [
        *(
            "prompt_sets",
            "prompt_overlaps",
            "prompt_candidates",
            "prompt_edits",
            "prompt_findings",
            "prompt_pairs",
        ),
        *("curated_prompts", "prompt_tags", "prompt_coverage"),
        *("generations", "generation_costs"),
        *("prompts", "images", "trials", "sessions", "answers", "skips", "marks", "totals"),
        "published",
        "published_regions",
        *("raters", "judgements", "labels", "regions", "thresholds", "agreement"),
        *(
            "training",
            "predictions",
            "label_errors",
            "rounds",
            "scores",
            "features",
            "distances",
            "correlations",
            "metric_separations",
            "powered_ratings",
        ),
        *("ratings", "separations", "comparisons"),
        *("board", "board_pairs", "claims", "utilities", "board_agreement", "curves", "board_marks"),
        *("board_powered", "board_costs", "dose_responses", "dose_steps"),
        *("audits", "audit_profiles", "changes", "gains", "alarms", "proofs"),
    ]


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
class TestEachTable:
    def test_column_names_are_distinct(self, table: Table) -> None:
        names = [column.name for column in table.columns]
        assert len(set(names)) == len(names)

    def test_the_key_is_made_of_its_columns(self, table: Table) -> None:
        assert set(table.key) <= {column.name for column in table.columns}
        assert table.key

    def test_every_type_has_a_name(self, table: Table) -> None:
        assert {column.dtype for column in table.columns} <= set(TYPE_NAMES)

    def test_everything_is_explained(self, table: Table) -> None:
        assert table.about.endswith((".", "?"))
        for column in table.columns:
            assert column.about.strip().endswith((".", "…")), column.name

    def test_a_reference_leads_to_columns_of_the_same_type(self, table: Table) -> None:
        for reference in table.references:
            target = TABLES[reference.table]
            for column, target_column in zip(reference.columns, reference.target, strict=True):
                dtype = table.column(column).dtype
                assert getattr(dtype, "inner", dtype) == target.column(target_column).dtype

    def test_a_reference_contains_the_key_of_its_target(self, table: Table) -> None:
        for reference in table.references:
            assert set(TABLES[reference.table].key) <= set(reference.target)

    def test_it_comes_after_those_it_refers_to(self, table: Table) -> None:
        order = list(TABLES)
        for reference in table.references:
            assert order.index(reference.table) <= order.index(table.name)

    def test_bounds_are_the_right_way_round(self, table: Table) -> None:
        for column in table.columns:
            if column.low is not None and column.high is not None:
                assert column.low < column.high


def test_an_unknown_column_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        TABLES["prompts"].column("nothing")


def test_rows_that_leave_columns_out() -> None:
    frame = TABLES["images"].frame([{"image": "i"}])
    assert frame.schema == {column.name: column.dtype for column in TABLES["images"].columns}
    assert frame["image"].to_list() == ["i"]
    assert frame["prompt"].to_list() == [None]


def test_a_column_says_by_default_that_it_is_always_filled() -> None:
    plain = Column("x", TABLES["prompts"].columns[0].dtype, "X.")
    assert (plain.nullable, plain.allowed, plain.low, plain.high) == (False, (), None, None)
