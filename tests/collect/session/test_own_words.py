"""A study's own instructions, examples, labels and scales reach the page; breaks are offered in time."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from beholder.collect.researcher.access import COOKIE
from beholder.collect.server.application import create_app
from beholder.collect.session.trial_view import offered_breaks
from beholder.errors import StudyError
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.question import Aspect, Design, Example

Serve = Callable[..., Any]
StudyFolder = Callable[..., Path]

SMALL = Design(raters=2, trials=4, attention_every=2)
OWN = PairQuestion(
    name="q",
    design=SMALL,
    instructions={"en": "# Look\n\n- closely", "de": "Genau hinsehen"},
    examples=(Example(image="examples/good.png", verdict="good", caption={"en": "sharp"}),),
    labels={"left": "the first", "right": "the second"},
)


@pytest.fixture
def own_study(serve: Serve, picture_files: Path) -> Any:  # noqa: ANN401
    """The study, served; the file of its example is put into the folder by ``prepare``."""

    def prepare(folder: Path) -> None:
        (folder / "examples").mkdir()
        shutil.copy(next((picture_files / "zephyr").iterdir()), folder / "examples" / "good.png")

    return serve(OWN, prepare=prepare)


def at_instructions(served: Any, language: str = "en") -> Any:  # noqa: ANN401
    visitor = served.visitor()
    visitor.enter(language=language)
    return visitor.walk("instructions")


def test_instructions_and_captions_come_in_the_language_of_the_rater(own_study: Any) -> None:  # noqa: ANN401
    task = at_instructions(own_study).state["instructions"]
    assert task["own"] == "# Look\n\n- closely"
    assert task["examples"] == [{"verdict": "good", "caption": "sharp"}]
    assert task["has_checks"] is True
    assert task["settings"]["labels"] == {"left": "the first", "right": "the second"}
    german = at_instructions(own_study, "de").state["instructions"]
    assert german["own"] == "Genau hinsehen"
    assert german["examples"][0]["caption"] == "sharp"  # there is no German one


def test_an_example_is_served_to_a_session_without_its_metadata(own_study: Any) -> None:  # noqa: ANN401
    visitor = at_instructions(own_study)
    reply = visitor.get("example/0")
    assert (reply.status_code, reply.headers["content-type"]) == (200, "image/webp")
    assert b"zephyr" not in reply.content
    assert visitor.get("example/1").status_code == 404
    assert own_study.client().get("/api/example/0").status_code == 401
    (own_study.folder / "examples" / "good.png").write_bytes(b"no image")
    assert visitor.get("example/0").status_code == 404


def test_trials_carry_the_labels_and_not_the_instructions(own_study: Any) -> None:  # noqa: ANN401
    visitor = own_study.visitor().begin()
    assert visitor.trial["settings"]["labels"]["left"] == "the first"
    assert not {"instructions", "examples"} & set(visitor.trial["settings"])


def test_missing_examples_are_all_listed_before_anything_is_served(study_folder: StudyFolder) -> None:
    files = ("examples/a.png", "examples/b.png")
    folder = study_folder(OWN.model_copy(update={"examples": tuple(Example(image=file) for file in files)}))
    with pytest.raises(StudyError) as raised:
        create_app(folder, f"sqlite:///{folder / 'collect.sqlite'}")
    assert all(str(folder / file) in str(raised.value) for file in files)


def test_a_preview_shows_the_study_file_as_it_is_now(own_study: Any) -> None:  # noqa: ANN401
    client: httpx.Client = own_study.client()
    token = own_study.service.catalogue.secret("researcher")
    client.get(f"/researcher?token={token}", follow_redirects=True)
    assert COOKIE in client.cookies
    before = client.get("/researcher/preview-version").json()
    file = own_study.folder / "study.toml"
    file.write_text(file.read_text().replace("closely", "very closely").replace("the first", "number one"))
    assert client.get("/researcher/preview-version").json() != before
    assert client.get("/researcher/preview/q").status_code == 200
    entered = client.post("/researcher/preview/api/enter", json={"language": "en"}).json()
    consent = {name: entered["consent"][name] for name in ("hash", "version", "language")}
    client.post("/researcher/preview/api/consent", json={"agreed": True, **consent})
    screen = {"screen_width": 9, "screen_height": 9, "viewport_width": 9, "viewport_height": 9, "pixel_ratio": 1}
    more = {"zoom": 1, "frame_ms": 16.7, "touch": False, "user_agent": "test"}
    task = client.post("/researcher/preview/api/check", json=screen | more).json()["instructions"]
    assert task["own"] == "# Look\n\n- very closely"
    assert task["settings"]["labels"]["left"] == "number one"
    file.write_text(file.read_text().replace('left = "number one"', 'lft = "number one"'))
    reply = client.get("/researcher/preview/q")
    assert reply.status_code == 409
    assert "there is no choice 'lft'; its choices are left, tie, right" in reply.text


class TestBreaks:
    QUESTION = PairQuestion(name="q")  # 6 s a trial

    def test_a_long_block_is_cut_into_even_parts(self) -> None:
        # 114 trials of 6 s are 11.4 minutes: two parts of 57 at 5 minutes each, rounded
        assert offered_breaks(self.QUESTION, [0] * 114, 5.0) == [57]
        # 200 trials are 20 minutes: four parts
        assert offered_breaks(self.QUESTION, [0] * 200, 5.0) == [50, 100, 150]

    def test_blocks_have_their_own_breaks(self) -> None:
        assert offered_breaks(self.QUESTION, [0] * 50 + [1] * 50, 5.0) == []
        assert offered_breaks(self.QUESTION, [0] * 50 + [1] * 100, 5.0) == [100]

    def test_short_studies_and_zero_have_none(self) -> None:
        assert offered_breaks(self.QUESTION, [0] * 60, 5.0) == []
        assert offered_breaks(self.QUESTION, [0] * 600, 0.0) == []

    def test_parts_are_never_tiny(self) -> None:
        assert offered_breaks(self.QUESTION, [0] * 20, 0.01) == [5, 10, 15]

    def test_the_page_is_told_before_the_trial(self, serve: Serve) -> None:
        design = Design(raters=2, trials=12)
        served = serve(PairQuestion(name="q", design=design), collect={"break_minutes": 0.5, "debrief": False})
        visitor, offers = served.visitor().begin(), []
        while visitor.state["step"] == "trial":
            offers.append(visitor.trial["break_offered"])
            visitor.answer()
        assert offers == [False] * 6 + [True] + [False] * 5


def test_scales_need_a_label_for_every_point() -> None:
    with pytest.raises(ValueError, match="labels of quality: one for each of the 5 points is expected"):
        RatingQuestion(name="r", aspects=(Aspect(name="quality", text="?", labels=("bad", "good")),))


@pytest.mark.parametrize("file", ["/etc/passwd", "../secret.png", "a\\b.png"])
def test_examples_are_files_of_the_study_folder(file: str) -> None:
    with pytest.raises(ValueError, match="a file of the study folder"):
        Example(image=file)
