"""Every kind of fault, worked by hand, with its exact message."""

import polars as pl
import pytest

from beholder.tables.catalogue import TABLES
from beholder.tables.check import conform, faults_in, reference_faults
from beholder.tables.schema import FLAG, INTEGER, NUMBER, TEXT, TEXTS, Column, Reference, Table

FRUIT = Table(
    name="fruit",
    about="A fruit.",
    stage="new",
    columns=(
        Column("name", TEXT, "Name."),
        Column("sort", TEXT, "Sort.", nullable=True),
        Column("colour", TEXT, "Colour.", nullable=True, allowed=("red", "green")),
        Column("weight", NUMBER, "Weight.", nullable=True, low=0, high=2.5),
        Column("count", INTEGER, "How many.", low=1),
        Column("ripe", FLAG, "Whether ripe."),
        Column("markets", TEXTS, "Where sold.", nullable=True),
        Column("parent", TEXT, "Bred from.", nullable=True),
    ),
    key=("name", "sort"),
    references=(
        Reference(("markets",), "markets", ("market",)),
        Reference(("name", "sort"), "register", ("fruit", "variety")),
        Reference(("parent",), "fruit", ("name",)),
    ),
)
MARKETS = pl.DataFrame({"market": ["north", "south"]})
REGISTER = pl.DataFrame({"fruit": ["apple", "apple", "pear"], "variety": ["boskoop", "cox", "comice"]})
TARGETS: dict[str, pl.DataFrame | None] = {"markets": MARKETS, "register": REGISTER}


def fruit(**columns: list[object]) -> pl.DataFrame:
    """Three sound rows, with some columns replaced."""
    sound: dict[str, list[object]] = {
        "name": ["apple", "apple", "pear"],
        "sort": ["boskoop", "cox", None],
        "colour": ["red", "green", None],
        "weight": [0.0, 2.5, None],
        "count": [1, 2, 3],
        "ripe": [True, False, True],
        "markets": [["north"], [], None],
        "parent": [None, "apple", "pear"],
    }
    return FRUIT.frame(
        [dict(zip(sound, row, strict=True)) for row in zip(*(sound | columns).values(), strict=True)]
    )


def test_a_sound_frame_has_no_faults() -> None:
    assert faults_in(fruit(), FRUIT) == []
    assert reference_faults(fruit(), FRUIT, TARGETS) == []


class TestColumns:
    def test_missing(self) -> None:
        assert faults_in(fruit().drop("count"), FRUIT) == ["column 'count' (integer) is missing"]

    def test_a_missing_part_of_the_key(self) -> None:
        assert faults_in(fruit().drop("name"), FRUIT) == ["column 'name' (text) is missing"]

    def test_unknown(self) -> None:
        assert faults_in(fruit().with_columns(price=pl.lit(1)), FRUIT) == [
            "column 'price' is not known; known: colour, count, markets, name, parent, ripe, sort, weight"
        ]

    def test_wrong_type(self) -> None:
        frame = fruit().with_columns(pl.col("count").cast(pl.String), pl.col("weight").cast(pl.Float32))
        assert faults_in(frame, FRUIT) == [
            "column 'weight' holds Float32, expected number (Float64)",
            "column 'count' holds String, expected integer (Int64)",
        ]

    def test_wrong_type_of_list_elements(self) -> None:
        frame = fruit().with_columns(pl.Series("markets", [[1], [], None], dtype=pl.List(pl.Int64)))
        assert faults_in(frame, FRUIT) == [
            "column 'markets' holds List(Int64), expected list of texts (List(String))"
        ]

    def test_moments_without_a_zone_are_of_another_type(self) -> None:
        frame = TABLES["sessions"].empty().with_columns(pl.col("started").dt.replace_time_zone(None))
        assert faults_in(frame, TABLES["sessions"]) == [
            "column 'started' holds Datetime(time_unit='us', time_zone=None), expected moment (UTC) "
            "(Datetime(time_unit='us', time_zone='UTC'))"
        ]

    def test_an_empty_column_of_no_type_is_of_another_type(self) -> None:
        frame = fruit().with_columns(colour=pl.lit(None))
        assert faults_in(frame, FRUIT) == ["column 'colour' holds Null, expected text (String)"]


class TestValues:
    def test_empty_where_it_must_not_be(self) -> None:
        frame = fruit(name=["apple", None, "pear"], ripe=[None, True, None])
        assert faults_in(frame, FRUIT) == [
            "column 'name' is empty in row 1",
            "column 'ripe' is empty in row 0, row 2",
        ]

    @pytest.mark.parametrize(
        ("value", "printed"), [(float("nan"), "nan"), (float("inf"), "inf"), (-float("inf"), "-inf")]
    )
    def test_not_finite_is_reported_once(self, value: float, printed: str) -> None:
        assert faults_in(fruit(weight=[1.0, value, None]), FRUIT) == [
            f"column 'weight' must be finite (leave unknown values empty): row 1 ({printed})"
        ]

    def test_below_and_above(self) -> None:
        assert faults_in(fruit(weight=[-0.1, 2.6, None], count=[1, 0, -7]), FRUIT) == [
            "column 'weight' must be at least 0: row 0 (-0.1)",
            "column 'weight' must be at most 2.5: row 1 (2.6)",
            "column 'count' must be at least 1: row 1 (0), row 2 (-7)",
        ]

    def test_not_finite_and_out_of_range_are_told_apart(self) -> None:
        assert faults_in(fruit(weight=[float("inf"), 2.6, -1.0]), FRUIT) == [
            "column 'weight' must be finite (leave unknown values empty): row 0 (inf)",
            "column 'weight' must be at least 0: row 2 (-1.0)",
            "column 'weight' must be at most 2.5: row 1 (2.6)",
        ]

    def test_not_allowed(self) -> None:
        assert faults_in(fruit(colour=["Red", "green", ""]), FRUIT) == [
            "column 'colour' allows red, green: row 0 ('Red'), row 2 ('')"
        ]

    @pytest.mark.parametrize(
        ("markets", "rows"),
        [
            ([["north", None], [], None], "row 0"),
            ([[], [None], None], "row 1"),
            ([None, [], [None, None]], "row 2"),
            ([[None], ["north"], [None]], "row 0, row 2"),
        ],
    )
    def test_an_empty_list_element(self, markets: list[object], rows: str) -> None:
        assert faults_in(fruit(markets=markets), FRUIT) == [
            f"column 'markets' has an empty list element in {rows}"
        ]

    def test_a_missing_list_that_is_required(self) -> None:
        frame = TABLES["raters"].frame(
            [{"question": "q", "rater": "r", "used": True, "reasons": None, "answers": 1}]
        )
        assert faults_in(frame, TABLES["raters"]) == ["column 'reasons' is empty in row 0"]

    def test_five_rows_are_named_and_the_rest_counted(self) -> None:
        frame = pl.concat([fruit(sort=[str(i), f"{i}-", f"{i}+"], count=[0, 1, 0]) for i in range(4)])
        # rows 0, 2, 3, 5, 6, 8, 9, 11
        assert faults_in(frame, FRUIT) == [
            "column 'count' must be at least 1: row 0 (0), row 2 (0), row 3 (0), row 5 (0), row 6 (0) and 3 more"
        ]


class TestKeys:
    def test_twice(self) -> None:
        frame = fruit(name=["apple", "pear", "apple"], sort=["cox", "cox", "cox"])
        assert faults_in(frame, FRUIT) == ["key name + sort occurs more than once: row 2 ('apple', 'cox')"]

    def test_an_empty_part_of_a_key_is_a_value_like_any_other(self) -> None:
        frame = fruit(name=["pear", "pear", "pear"], sort=[None, "", None])
        assert faults_in(frame, FRUIT) == ["key name + sort occurs more than once: row 2 ('pear', None)"]

    def test_parts_are_not_run_together(self) -> None:
        assert faults_in(fruit(name=["a", "ab", "abc"], sort=["bc", "c", ""]), FRUIT) == []

    def test_each_further_occurrence_is_named(self) -> None:
        frame = fruit(name=["a", "a", "a"], sort=[None, None, None])
        assert faults_in(frame, FRUIT) == [
            "key name + sort occurs more than once: row 1 ('a', None), row 2 ('a', None)"
        ]

    def test_labels_of_an_image_and_of_its_words_differ(self) -> None:
        about = {
            "question": "q",
            "aspect": "a",
            "method": "m",
            "image": "i",
            "value": 0.5,
            "answers": 1,
            "raters": 1,
        }
        rows: list[dict[str, object]] = [about, about | {"word": 0}, about | {"other": "j"}, about | {"word": 0}]
        assert faults_in(TABLES["labels"].frame(rows), TABLES["labels"]) == [
            "key question + aspect + method + image + other + word occurs more than once: "
            "row 3 ('q', 'a', 'm', 'i', None, 0)"
        ]


class TestReferences:
    def test_simple(self) -> None:
        frame = pl.DataFrame({"image": ["a", "b", "c"], "prompt": ["p", "lost", None]})
        prompts = pl.DataFrame({"prompt": ["p"]})
        assert reference_faults(frame, TABLES["images"], {"prompts": prompts}) == [
            "prompt not found in table 'prompts': row 1 ('lost')"
        ]

    def test_composite(self) -> None:
        # each value is in the register, but not the two together
        frame = fruit(name=["pear", "apple", "pear"], sort=["cox", "cox", None], parent=[None] * 3)
        assert reference_faults(frame, FRUIT, TARGETS) == [
            "name + sort not found in table 'register': row 0 ('pear', 'cox')"
        ]

    def test_list_elements(self) -> None:
        frame = fruit(markets=[["north", "west"], [], ["east", "south", "moon"]])
        assert reference_faults(frame, FRUIT, TARGETS) == [
            "markets not found in table 'markets': row 0 ('west'), row 2 ('east'), row 2 ('moon')"
        ]

    def test_to_itself(self) -> None:
        frame = fruit(parent=["pear", "quince", None])
        assert reference_faults(frame, FRUIT, TARGETS) == ["parent not found in table 'fruit': row 1 ('quince')"]

    def test_missing_target_table(self) -> None:
        assert reference_faults(fruit(), FRUIT, {"markets": None}) == [
            "markets refers to table 'markets', which is missing",
            "name + sort refers to table 'register', which is missing",
        ]

    def test_a_missing_target_is_no_fault_where_nothing_refers_to_it(self) -> None:
        frame = fruit(markets=[None, [], None], sort=[None, None, None], parent=[None] * 3)
        assert reference_faults(frame, FRUIT, {}) == []

    def test_target_without_the_column(self) -> None:
        targets = TARGETS | {"register": REGISTER.drop("variety")}
        assert reference_faults(fruit(), FRUIT, targets) == [
            "name + sort refers to fruit + variety, which 'register' lacks or holds as another type"
        ]

    def test_target_of_another_type(self) -> None:
        targets = TARGETS | {"markets": pl.DataFrame({"market": [1, 2]})}
        assert reference_faults(fruit(), FRUIT, targets) == [
            "markets refers to market, which 'markets' lacks or holds as another type"
        ]

    def test_a_column_of_another_type_is_left_to_the_check_of_types(self) -> None:
        frame = fruit().with_columns(parent=pl.lit(3), markets=pl.lit("north"))
        assert reference_faults(frame, FRUIT, TARGETS) == []
        assert faults_in(frame, FRUIT) == [
            "column 'markets' holds String, expected list of texts (List(String))",
            "column 'parent' holds Int32, expected text (String)",
        ]

    def test_a_missing_column_is_left_to_the_check_of_columns(self) -> None:
        assert reference_faults(fruit().drop("markets", "parent"), FRUIT, TARGETS) == []

    def test_five_are_named_and_the_rest_counted(self) -> None:
        frame = fruit(markets=[list("abc"), list("defg"), ["north"]])
        assert reference_faults(frame, FRUIT, TARGETS) == [
            "markets not found in table 'markets': "
            "row 0 ('a'), row 0 ('b'), row 0 ('c'), row 1 ('d'), row 1 ('e') and 2 more"
        ]


def test_many_faults_at_once() -> None:
    frame = (
        fruit(colour=["blue", "red", "red"], count=[0, 1, 1], name=["a", "b", "b"], sort=["x", "y", "y"])
        .with_columns(pl.col("weight").cast(pl.String), extra=pl.lit(True))
        .drop("ripe")
    )
    assert faults_in(frame, FRUIT) == [
        "column 'extra' is not known; known: colour, count, markets, name, parent, ripe, sort, weight",
        "column 'weight' holds String, expected number (Float64)",
        "column 'ripe' (true/false) is missing",
        "column 'colour' allows red, green: row 0 ('blue')",
        "column 'count' must be at least 1: row 0 (0)",
        "key name + sort occurs more than once: row 2 ('b', 'y')",
    ]


class TestConform:
    def test_missing_nullable_columns_are_filled(self) -> None:
        conformed = conform(fruit().drop("colour", "markets"), FRUIT)
        assert conformed["colour"].to_list() == [None, None, None]
        assert faults_in(conformed, FRUIT) == []

    def test_missing_required_columns_are_not(self) -> None:
        assert "count" not in conform(fruit().drop("count"), FRUIT).columns

    def test_the_order_is_the_tables_and_strangers_come_last(self) -> None:
        shuffled = fruit().select(pl.lit(1).alias("stranger"), *reversed(fruit().columns))
        assert conform(shuffled, FRUIT).columns == [*fruit().columns, "stranger"]

    def test_values_stay(self) -> None:
        assert conform(fruit(), FRUIT).equals(fruit())


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_a_table_without_rows_is_sound(table: Table) -> None:
    assert faults_in(table.empty(), table) == []
    assert reference_faults(table.empty(), table, {}) == []
    assert conform(table.empty(), table).height == 0


def test_the_small_world_is_sound(world: dict[str, pl.DataFrame]) -> None:
    for name, frame in world.items():
        assert faults_in(frame, TABLES[name]) == []
        assert reference_faults(frame, TABLES[name], world) == []
