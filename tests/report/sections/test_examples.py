import base64
import io
from collections.abc import Callable
from pathlib import Path

from PIL import Image

from beholder.images.background import DEFAULT_BACKGROUND as GREY
from beholder.images.thumbnail import thumbnail
from beholder.report.sections.examples import MOST_GENERATORS, select_examples
from beholder.report.tables.leaderboard import Board
from beholder.tables.catalogue import TABLES

MakeBoard = Callable[..., Board]
Row = dict[str, object]


def image_row(image: str, generator: str) -> Row:
    return {"image": image, "path": f"{image}.png", "generator": generator, "real": False, "gold": False} | {
        "width": 8,
        "height": 8,
        "sha256": "x",
    }


def label(image: str, value: float, low: float, high: float, **more: object) -> Row:
    return {"question": "realism", "aspect": "realism", "method": "share", "image": image, "value": value} | {
        "low": low,
        "high": high,
        "answers": 8,
        "raters": 8,
        **more,
    }


def test_the_surest_images_are_shown(make_board: MakeBoard, tmp_path: Path) -> None:
    # proportions *called generated*; the surest to pass for real is the one whose upper end is lowest: y
    labels = [label("x", 0.0, 0.0, 0.5), label("y", 0.1, 0.0, 0.3), label("z", 0.9, 0.6, 1.0)]
    images = TABLES["images"].frame([image_row(name, "a") for name in "xyz"])
    (only,) = select_examples(
        make_board({"a": 0.5}), TABLES["labels"].frame(labels).lazy(), images, {}, tmp_path, GREY
    )
    assert [(e.role, e.rating, e.interval) for e in only.images] == [
        ("Most often taken for real", "90 % taken for real", "70 to 100 %, 8 answers"),
        ("Least often taken for real", "10 % taken for real", "0 to 40 %, 8 answers"),
    ]
    assert only.images[0].source is None  # no such file: said on the page, no error


def test_votes_are_pooled_over_rivals(make_board: MakeBoard, tmp_path: Path) -> None:
    # x wins .75 · 8 + .5 · 4 = 8 of 12 votes; y wins 2 of 8
    common = {"question": "preference", "aspect": "preference", "method": "preference"}
    labels = [
        label("x", 0.75, 0.4, 0.9, **common, other="y"),
        label("x", 0.5, 0.2, 0.8, **common | {"answers": 4}, other="z"),
    ]
    images = TABLES["images"].frame([image_row("x", "a"), image_row("y", "b"), image_row("z", "c")])
    board = make_board({"a": 1.0, "b": -1.0}, aspect="preference", method="bradley-terry")
    groups = select_examples(board, TABLES["labels"].frame(labels).lazy(), images, {}, tmp_path, GREY)
    assert [(f.generator, [e.rating for e in f.images]) for f in groups] == [
        ("a", ["67 % of votes won"]),
        ("b", ["25 % of votes won"]),
    ]


def test_an_interval_ends_with_its_scale(make_board: MakeBoard, tmp_path: Path) -> None:
    row = label("x", 4.9, 4.5, 5.3, question="opinion", aspect="quality", method="mean")
    board = make_board({"a": 4.9}, aspect="quality", question="opinion", method="mean-opinion")
    images = TABLES["images"].frame([image_row("x", "a")])
    (only,) = select_examples(
        board, TABLES["labels"].frame([row]).lazy(), images, {}, tmp_path, GREY, scale=(1.0, 5.0)
    )
    assert only.images[0].interval == "4.5 to 5.0, 8 answers"


def test_of_many_generators_some_are_shown(make_board: MakeBoard, tmp_path: Path) -> None:
    names = [f"g{n:02d}" for n in range(30)]
    images = TABLES["images"].frame([image_row(f"i-{name}", name) for name in names])
    labels = TABLES["labels"].frame([label(f"i-{name}", 0.5, 0.3, 0.7) for name in names])
    board = make_board({name: 0.5 - place / 100 for place, name in enumerate(names)})
    groups = select_examples(board, labels.lazy(), images, {}, tmp_path, GREY)
    half = MOST_GENERATORS // 2
    assert [group.generator for group in groups] == [*names[:half], *names[-half:]]


def test_no_labels_no_examples(make_board: MakeBoard, tmp_path: Path) -> None:
    empty = TABLES["labels"].empty()
    assert (
        select_examples(make_board({"a": 0.5}), empty.lazy(), TABLES["images"].empty(), {}, tmp_path, GREY) == ()
    )


def test_a_thumbnail_is_small_and_keeps_its_shape(tmp_path: Path) -> None:
    Image.new("RGBA", (800, 400), (200, 30, 30, 255)).save(tmp_path / "wide.png")
    uri = thumbnail(tmp_path / "wide.png", GREY, side=100)
    assert uri is not None
    head, _, body = uri.partition(",")
    assert head == "data:image/webp;base64"
    with Image.open(io.BytesIO(base64.b64decode(body))) as small:
        assert small.size == (100, 50)


def test_what_is_no_image_has_no_thumbnail(tmp_path: Path) -> None:
    (tmp_path / "broken.png").write_bytes(b"not an image")
    assert thumbnail(tmp_path / "broken.png", GREY) is None
    assert thumbnail(tmp_path / "missing.png", GREY) is None
