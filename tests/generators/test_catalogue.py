"""Kinds of generators: settings for each, shorthands of the command line, and images that are checked."""

import io
from pathlib import Path

import pytest
from PIL import Image

from beholder.errors import FaultsError, StudyError, UserError, WorkerError
from beholder.generators.catalogue import GENERATORS, open_generator, parse_generator
from beholder.generators.checked import check_image
from beholder.images.decode import quiet_pillow
from beholder.study.generating import GENERATOR_KINDS, FolderGenerator
from beholder.workers.messages import ImageRequest


def encoded(width: int, height: int, kind: str = "PNG") -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (width, height), "red").save(file, kind)
    return file.getvalue()


def test_every_kind_has_its_settings() -> None:
    assert list(GENERATORS) == list(GENERATOR_KINDS)
    for name, settings in GENERATOR_KINDS.items():
        assert settings.model_fields["kind"].default == name


def test_shorthands() -> None:
    parsed = [
        parse_generator(text).model_dump(exclude_defaults=True)
        for text in (
            "a=painter:ember",
            "b=painter",
            "c=folder:pictures/a=b",
            "d=command:python 'my paint.py' {prompt} {output}",
            "e=worker:node worker.js",
            "f=worker:http://gpu:8200",
            "g=diffusers:stabilityai/stable-diffusion-xl-base-1.0",
        )
    ]
    assert [{key: setting for key, setting in settings.items() if key != "name"} for settings in parsed] == [
        {"policy": "ember"},
        {},
        {"path": "pictures/a=b"},
        {"command": ("python", "my paint.py", "{prompt}", "{output}")},
        {"command": ("node", "worker.js")},
        {"url": "http://gpu:8200"},
        {"model": "stabilityai/stable-diffusion-xl-base-1.0"},
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("painter:aurora", "not of the form NAME=KIND:ARGUMENT"),
        ("a=paintr:aurora", "kind of generator 'paintr' is not known.*Did you mean 'painter'"),
        ("a=http:https://x.example", "needs more settings; write them into a TOML file"),
        ("a/b=painter", r"generators\[0\]\.name: "),
        ("a=folder", r"generators\[0\]\.path: missing"),
    ],
)
def test_shorthands_that_are_wrong(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        parse_generator(text)


def test_a_kind_that_is_not_known_names_the_kinds(tmp_path: Path) -> None:
    from beholder.study.study import read_generators  # noqa: PLC0415 - used here alone

    file = tmp_path / "g.toml"
    file.write_text(
        '[[generators]]\nname = "a"\nkind = "magic"\n[[generators]]\nname = "b"\nkind = "http"\nurll = 3\n'
    )
    with pytest.raises(StudyError) as caught:
        read_generators(file)
    assert caught.value.faults == (
        "generators[0].kind: must be one of: folder, command, http, worker, diffusers, painter (found 'magic')",
        "generators[1].url: missing",
        "generators[1].urll: this key is not known; did you mean 'url'?",
    )


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_an_image_of_the_requested_size_passes(kind: str) -> None:
    with quiet_pillow():
        image = check_image(encoded(6, 4, kind), ImageRequest(prompt="x", width=6, height=4))
        check_image(encoded(6, 4, kind), ImageRequest(prompt="x"))
    assert (image.width, image.height) == (6, 4)
    assert image.suffix == {"PNG": ".png", "JPEG": ".jpg", "WEBP": ".webp"}[kind]


@pytest.mark.parametrize(
    ("content", "fault", "message"),
    [
        (encoded(4, 6), "wrong-size", "wrong size: 4 × 6 pixels, expected 6 × 4"),
        (b"Sorry, I cannot draw that.", "not-an-image", "it begins: 'Sorry, I cannot draw that.'"),
        (b"", "not-an-image", "the file is empty"),
        (encoded(60, 40, "JPEG")[:-300], "not-an-image", "damaged or cut short"),
    ],
)
def test_a_lie_is_found_out(content: bytes, fault: str, message: str) -> None:
    with quiet_pillow(), pytest.raises(WorkerError, match=message) as caught:
        check_image(content, ImageRequest(prompt="x", width=6, height=4))
    assert caught.value.fault == fault


def test_a_folder_is_looked_up_by_prompt(tmp_path: Path) -> None:
    for name, text in (("b", "a cat"), ("a", "a cat"), ("c", "a dog")):
        (tmp_path / f"{name}.png").write_bytes(name.encode())
        (tmp_path / f"{name}.txt").write_text(text)
    folder = open_generator(FolderGenerator(name="old", path="."), tmp_path)
    assert not folder.seeded
    asked = [ImageRequest(prompt="a cat", settings={"sample": sample}) for sample in (0, 1)]
    assert [folder.generate(request).content for request in asked] == [b"a", b"b"]
    with pytest.raises(WorkerError, match="2 images of this prompt"):
        folder.generate(ImageRequest(prompt="a cat", settings={"sample": 2}))
    with pytest.raises(WorkerError, match="no image of this prompt"):
        folder.generate(ImageRequest(prompt="a fox"))


def test_a_folder_without_prompts_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"x")
    with pytest.raises(FaultsError, match="its images have no prompts"):
        open_generator(FolderGenerator(name="old", path="."), tmp_path)
    with pytest.raises(FaultsError, match="no such folder"):
        open_generator(FolderGenerator(name="old", path="none"), tmp_path)
