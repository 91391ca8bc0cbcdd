"""An added generator costs only its own part, and every other score stays the same to the last bit."""

import struct
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from beholder.errors import StageError
from beholder.images.sources import ArrayImage
from beholder.measure.settings import MeasureSettings
from beholder.measure.stage import run
from beholder.scorers.score import score
from beholder.scorers.score_cache import RECORD, open_scores, score_key
from beholder.scorers.scorer import Scorer, ScorerInput
from beholder.study.kinds.rating import RatingQuestion
from beholder.tables.provenance import Provenance
from beholder.tables.store import SCORES_ROOM, Store

QUICK = MeasureSettings(
    encoder="pixel", distances=("frechet", "kernel"), scorers=("sharpness", "nss-shape", "prompt-length")
)
GREY = "#7f7f7f"


class Counting:
    """A scorer whose scores depend on the batch, as those of networks may in their last bits."""

    def __init__(self, identity: str = "counting@1") -> None:
        self.calls = 0
        self.scorer = Scorer("counting", identity, self.score)

    def score(self, inputs: Sequence[ScorerInput]) -> NDArray[np.float64]:
        self.calls += len(inputs)
        return np.array([len(part.prompt or "") + 1 / (7 + self.calls) for part in inputs], np.float64)


def pictures(*numbers: int) -> list[ArrayImage]:
    return [ArrayImage(f"i{number}", np.full((4, 4, 3), number, np.uint8)) for number in numbers]


def scored(
    cache: Path, counting: Counting, *numbers: int, prompt: str | None = "p", **options: object
) -> list[float]:
    sources = pictures(*numbers)
    scores = score(
        sources,
        [prompt] * len(sources),
        [counting.scorer],
        cache=cache,
        workers=1,
        **options,  # type: ignore[arg-type]
    )
    assert scores.names == tuple(f"i{number}" for number in numbers)
    return [float(score) for score in scores.values["counting"]]


def test_only_new_images_are_scored(tmp_path: Path) -> None:
    counting = Counting()
    first = scored(tmp_path, counting, 1, 2, 3)
    assert counting.calls == 3
    again = scored(tmp_path, counting, 3, 4, 1, 2)
    assert counting.calls == 4
    assert [again[2], again[3], again[0]] == first
    assert scored(tmp_path, Counting(), 1, 2, 3) == first  # another process


def test_another_prompt_scorer_or_background_is_another_score(tmp_path: Path) -> None:
    counting = Counting()
    scored(tmp_path, counting, 1)
    scored(tmp_path, counting, 1, prompt="other")
    scored(tmp_path, counting, 1, prompt=None)
    scored(tmp_path, counting, 1, background="#000000")
    assert counting.calls == 4
    other = Counting("counting@2")
    scored(tmp_path, other, 1)
    assert other.calls == 1
    assert score_key(b"x", None) != score_key(b"x", "")


def test_a_file_cut_short_or_damaged_loses_only_what_follows(tmp_path: Path) -> None:
    with open_scores(tmp_path, "s@1", GREY) as file:
        file.append([bytes([number]) * 32 for number in range(4)], np.array([0.1, 0.2, np.nan, 0.3]))
    (path,) = tmp_path.iterdir()
    assert path.stat().st_size == 3 * RECORD.size  # what is not finite is not kept
    content = bytearray(path.read_bytes())
    content[RECORD.size + 33] ^= 1  # in the second score
    path.write_bytes(bytes(content) + b"abc")
    with open_scores(tmp_path, "s@1", GREY) as file:
        assert (len(file), file.get(bytes(32)), file.get(b"\1" * 32)) == (1, 0.1, None)
        file.append([b"\7" * 32], np.array([0.7]))
    with open_scores(tmp_path, "s@1", GREY) as file:
        assert (len(file), file.get(b"\7" * 32)) == (2, 0.7)
        with (
            pytest.raises(StageError, match="another process is writing scores here"),
            open_scores(tmp_path, "s@1", GREY),
        ):
            pass


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_scores_read_back_to_the_last_bit(tmp_path_factory: pytest.TempPathFactory, scores: list[float]) -> None:
    folder = tmp_path_factory.mktemp("scores")
    keys = [struct.pack("<32s", bytes([number])) for number in range(len(scores))]
    with open_scores(folder, "s", GREY) as file:
        file.append(keys, np.array(scores))
    with open_scores(folder, "s", GREY) as file:
        assert [struct.pack("<d", file.get(key) or 0.0) for key in keys] == [
            struct.pack("<d", score_value or 0.0) for score_value in scores
        ]


def test_an_added_generator_leaves_every_other_row_as_it_is(
    painted_study: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = painted_study(RatingQuestion(name="q"), draws=200)
    store = Store(folder)
    images = store.read("images")
    last = sorted(images.filter(~pl.col("real"), ~pl.col("gold"))["generator"].unique())[-1]
    write(store, images.filter(pl.col("generator") != last))
    run(folder, measuring=QUICK)
    before = {name: store.read(name) for name in ("scores", "features", "distances")}

    computed: list[str] = []
    from beholder.measure import stage  # noqa: PLC0415 - to count the calls

    compute: Callable[..., object] = vars(stage)["compute_distances"]

    def counted(names: Sequence[str], sets: object) -> object:
        computed.extend(names)
        return compute(names, sets)

    monkeypatch.setattr(stage, "compute_distances", counted)
    write(store, images)
    run(folder, measuring=QUICK)
    for name, frame in before.items():
        after = store.read(name)
        assert after.height > frame.height
        assert after.join(frame, on=frame.columns, how="semi", nulls_equal=True).equals(frame)
    assert computed == ["frechet", "kernel"]  # of the added generator alone
    assert (folder / SCORES_ROOM / "distances.json").is_file()


def write(store: Store, images: pl.DataFrame) -> None:
    store.write({"images": images}, Provenance("new", {}, 0, {}))
