from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from beholder.errors import NoRoomError, StageError, TableError
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import METADATA_KEY, Provenance
from beholder.tables.schemas.collect import STATUSES
from beholder.tables.store import TRUTH_ROOM, Store

World = dict[str, pl.DataFrame]

RECORD = Provenance("new", {"size": [64, 48], "why": None}, 7, {"images": "ab12"}, version="1.2.3")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "study")


class TestRoundTrip:
    def test_every_table(self, store: Store, world: World) -> None:
        store.write(world, RECORD)
        for name in TABLES:
            read = store.read(name)
            assert read.equals(world[name], null_equal=True), name
            assert read.schema == world[name].schema

    def test_every_table_without_rows(self, store: Store) -> None:
        store.write({name: table.empty() for name, table in TABLES.items()}, RECORD)
        for name, table in TABLES.items():
            assert store.read(name).equals(table.empty())

    def test_the_same_bytes_again(self, tmp_path: Path, world: World) -> None:
        stores = [Store(tmp_path / "one"), Store(tmp_path / "two")]
        for store in stores:
            store.write(world, RECORD)
        for name in TABLES:
            assert stores[0].path(name).read_bytes() == stores[1].path(name).read_bytes(), name
        assert stores[0].hash("answers") == stores[1].hash("answers")

    def test_columns_are_put_in_order_and_left_out_ones_filled(self, store: Store, world: World) -> None:
        loose = world["prompts"].select("text", "prompt")
        images = world["images"].drop("prompt", "style")
        store.write({"prompts": loose, "images": images}, RECORD)
        assert pl.read_parquet(store.path("prompts")).columns == ["prompt", "text"]
        assert store.read("images")["style"].to_list() == [None, None]

    def test_a_file_written_before_a_column_was_added_reads_as_empty_there(
        self, store: Store, world: World
    ) -> None:
        store.path("sessions").parent.mkdir(parents=True)
        world["sessions"].drop("pay").write_parquet(store.path("sessions"))
        assert store.read("sessions")["pay"].to_list() == [None, None]

    def test_nothing_but_tables_is_left_in_the_folder(self, store: Store, world: World) -> None:
        store.write(world, RECORD)
        assert sorted(p.name for p in store.path("images").parent.iterdir()) == sorted(
            f"{n}.parquet" for n in TABLES
        )


class TestProvenance:
    def test_is_read_back(self, store: Store, world: World) -> None:
        store.write({"prompts": world["prompts"]}, RECORD)
        assert store.provenance("prompts") == RECORD

    def test_of_an_absent_table(self, store: Store) -> None:
        assert store.provenance("prompts") is None

    def test_of_a_file_from_elsewhere(self, store: Store, world: World) -> None:
        store.path("prompts").parent.mkdir(parents=True)
        world["prompts"].write_parquet(store.path("prompts"))
        assert store.provenance("prompts") is None

    @pytest.mark.parametrize("text", ["", "not JSON", "[1]", '{"stage": "new"}', '{"stage": 1, "new field": 2}'])
    def test_of_a_record_that_is_not_ours(self, store: Store, world: World, text: str) -> None:
        store.path("prompts").parent.mkdir(parents=True)
        world["prompts"].write_parquet(store.path("prompts"), metadata={METADATA_KEY: text})
        assert store.provenance("prompts") is None

    @pytest.mark.parametrize("content", [b"", b"PAR1", b"hello"])
    def test_of_a_damaged_file(self, store: Store, content: bytes) -> None:
        store.path("prompts").parent.mkdir(parents=True)
        store.path("prompts").write_bytes(content)
        assert store.provenance("prompts") is None


class TestHash:
    def test_of_an_absent_table(self, store: Store) -> None:
        assert store.hash("prompts") == "absent"

    def test_is_the_sha_256_of_the_file(self, store: Store) -> None:
        store.path("prompts").parent.mkdir(parents=True)
        store.path("prompts").write_bytes(b"abc")
        # FIPS 180-2, appendix B.1
        assert store.hash("prompts") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


class TestMissingAndDamaged:
    def test_missing_says_what_to_run(self, store: Store) -> None:
        with pytest.raises(StageError) as caught:
            store.read("labels")
        path = store.folder / "tables" / "labels.parquet"
        assert str(caught.value) == f"{path} is missing. It is written by: beholder consolidate {store.folder}"

    def test_missing_or_empty(self, store: Store, world: World) -> None:
        assert store.read_or_empty("prompts").equals(TABLES["prompts"].empty())
        store.write({"prompts": world["prompts"]}, RECORD)
        assert store.read_or_empty("prompts").equals(world["prompts"])

    @pytest.mark.parametrize(
        "damage",
        [
            pytest.param(lambda _: b"", id="nothing"),
            pytest.param(lambda _: b"name,text\np1,a cat\n", id="csv"),
            pytest.param(lambda content: content[: len(content) // 2], id="half"),
            pytest.param(lambda content: content[:-1], id="all but the last byte"),
            pytest.param(lambda content: content[:4] + bytes(len(content) - 12) + content[-8:], id="zeros"),
        ],
    )
    def test_damaged_says_what_to_run(self, store: Store, world: World, damage: Callable[[bytes], bytes]) -> None:
        store.write({"prompts": world["prompts"]}, RECORD)
        path = store.path("prompts")
        path.write_bytes(damage(path.read_bytes()))
        with pytest.raises(TableError) as caught:
            store.read("prompts")
        first, fault, advice = str(caught.value).split("\n", 2)
        assert first == f"{path}: 1 fault"
        assert fault.startswith("  - not a readable Parquet file (")
        assert str(caught.value).endswith(f"Write it again with: beholder new {store.folder} --force")
        assert advice

    def test_a_flipped_byte_reads_or_is_an_error_of_ours(
        self, store: Store, world: World, capfd: pytest.CaptureFixture[str]
    ) -> None:
        store.write({"prompts": world["prompts"]}, RECORD)
        path = store.path("prompts")
        content = path.read_bytes()
        refused = 0
        for place in range(0, len(content), 2):
            path.write_bytes(content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :])
            try:
                store.read("prompts")
            except TableError:
                refused += 1
            store.provenance("prompts")
        capfd.readouterr()  # Polars prints its panics
        assert refused > len(content) / 4

    def test_a_damaged_table_that_another_refers_to(self, store: Store, world: World) -> None:
        store.write(world, RECORD)
        store.path("prompts").write_bytes(b"hello")
        with pytest.raises(TableError, match=r"prompts\.parquet: 1 fault\n  - not a readable Parquet file"):
            store.read("images")

    def test_a_missing_table_that_another_refers_to(self, store: Store, world: World) -> None:
        store.write(world, RECORD)
        store.path("prompts").unlink()
        with pytest.raises(TableError) as caught:
            store.read("images")
        assert caught.value.faults == ("prompt refers to table 'prompts', which is missing",)

    def test_faults_on_disk_are_listed(self, store: Store, world: World) -> None:
        store.write(world, RECORD)
        bad = world["answers"].with_columns(trial=pl.lit("t9"), seconds=pl.lit(-1.0), valid=pl.lit(1))
        bad.write_parquet(store.path("answers"))
        with pytest.raises(TableError) as caught:
            store.read("answers")
        assert str(caught.value) == (
            f"{store.path('answers')}: 3 faults\n"
            "  - column 'valid' holds Int32, expected true/false (Boolean)\n"
            "  - column 'seconds' must be at least 0: row 0 (-1.0), row 1 (-1.0)\n"
            "  - trial not found in table 'trials': row 0 ('t9'), row 1 ('t9')"
        )


class TestAllOrNothing:
    def test_faults_of_all_tables_are_listed_and_nothing_is_written(self, store: Store, world: World) -> None:
        bad = world | {
            "prompts": world["prompts"].with_columns(prompt=pl.lit("p1")),
            "sessions": world["sessions"].with_columns(status=pl.lit("asleep")),
        }
        with pytest.raises(TableError) as caught:
            store.write(bad, RECORD)
        assert str(caught.value) == (
            f"{store.folder / 'tables'}: nothing was written: 2 faults\n"
            "  - prompts: key prompt occurs more than once: row 1 ('p1')\n"
            f"  - sessions: column 'status' allows {', '.join(STATUSES)}: row 0 ('asleep'), row 1 ('asleep')"
        )
        assert not store.folder.exists()

    def test_references_are_checked_among_the_tables_being_written(self, store: Store, world: World) -> None:
        store.write(world, RECORD)
        before = store.hash("images")
        fewer = {"prompts": world["prompts"].tail(1), "images": world["images"]}
        with pytest.raises(TableError) as caught:
            store.write(fewer, RECORD)
        assert caught.value.faults == ("images: prompt not found in table 'prompts': row 0 ('p1')",)
        assert store.hash("images") == before
        assert store.read("prompts").height == 2

    def test_a_full_disk_changes_no_table(
        self, store: Store, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store.write(world, RECORD)
        before = {name: store.hash(name) for name in TABLES}
        write, calls = pl.DataFrame.write_parquet, []

        def fail_at_the_last(frame: pl.DataFrame, *args: object, **kwargs: object) -> None:
            calls.append(frame)
            if len(calls) == len(TABLES):
                raise OSError(28, "No space left on device")
            write(frame, *args, **kwargs)  # type: ignore[arg-type]

        monkeypatch.setattr(pl.DataFrame, "write_parquet", fail_at_the_last)
        with pytest.raises(NoRoomError, match="the disk is full"):
            store.write({name: frame.head(0) for name, frame in world.items()}, RECORD)
        assert {name: store.hash(name) for name in TABLES} == before
        assert not list(store.path("images").parent.glob(".*"))


class TestTruth:
    def test_lies_in_a_room_of_its_own(self, store: Store, world: World) -> None:
        truth = Store(store.folder, TRUTH_ROOM)
        store.write({"prompts": world["prompts"], "images": world["images"]}, RECORD)
        truth.write({"scores": world["scores"]}, RECORD)
        assert truth.path("scores") == store.folder / "truth" / "scores.parquet"
        assert not store.has("scores")
        assert truth.read("scores").equals(world["scores"])

    def test_refers_to_its_own_tables_first(self, store: Store, world: World) -> None:
        truth = Store(store.folder, TRUTH_ROOM)
        store.write({"prompts": world["prompts"], "images": world["images"]}, RECORD)
        truth.write({"prompts": world["prompts"], "images": world["images"].tail(1)}, RECORD)
        with pytest.raises(TableError, match="image not found in table 'images': row 0 \\('i1'\\)"):
            truth.write({"scores": world["scores"]}, RECORD)


class TestReferencesOfParts:
    """Tables that are worked through in parts: what they refer to is read once, whatever the number of parts."""

    def test_faults_with_what_is_referred_to_read_no_file(self, store: Store, world: World) -> None:
        store.write(world, RECORD)
        keys = store.referenced("judgements")
        assert set(keys) == {"trials", "sessions", "images"}
        for name in keys:
            store.path(name).unlink()
        assert store.faults("judgements", world["judgements"], keys) == []
        unknown = world["judgements"].with_columns(image=pl.lit("nobody"))
        assert "image not found in table 'images'" in store.faults("judgements", unknown, keys)[0]
        assert "which is missing" in store.faults("judgements", world["judgements"])[0]

    def test_batches_look_up_references_to_tables_that_are_no_larger_than_a_batch(
        self, store: Store, world: World
    ) -> None:
        store.write(world, RECORD)
        rows = world["judgements"].height
        wrong = world["judgements"].with_columns(image=pl.lit("nobody"))
        wrong.write_parquet(store.path("judgements"))
        with pytest.raises(TableError, match="image not found in table 'images'"):
            list(store.batches("judgements", max(rows, world["images"].height), check=True))
        assert world["images"].height > 1
        assert sum(batch.height for batch in store.batches("judgements", 1, check=True)) == rows
