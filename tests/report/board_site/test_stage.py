"""Writing a site: atomically, never over something else, and only if something has changed."""

import json
import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

import beholder
from beholder.cli.main import main
from beholder.errors import FaultsError
from beholder.report.board_site import stage
from beholder.report.board_site.pictures import Source, choose_prompts
from beholder.report.board_site.stage import SiteOptions, run
from beholder.study.kinds.rating import RatingQuestion

NO_IMAGES = SiteOptions(images="none", published=date(2026, 11, 17))


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_same_tables_give_the_same_bytes_and_are_not_written_again(board_study: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    assert not run(board_study, first, NO_IMAGES).skipped
    run(board_study, second, NO_IMAGES)
    assert contents(first) == contents(second)
    assert run(board_study, first, NO_IMAGES).skipped
    assert not run(board_study, first, SiteOptions(images="none", published=date(2026, 11, 18))).skipped


def test_a_folder_that_is_no_site_is_never_overwritten(board_study: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(FaultsError, match="is no site of beholder"):
        run(board_study, tmp_path, NO_IMAGES)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"
    with pytest.raises(FaultsError, match="is not a folder"):
        run(board_study, tmp_path / "thesis.tex", NO_IMAGES)
    with pytest.raises(FaultsError, match="holds the study itself"):
        run(board_study, board_study, NO_IMAGES)
    (tmp_path / "empty").mkdir()
    assert not run(board_study, tmp_path / "empty", NO_IMAGES).skipped


def test_all_faults_are_listed_at_once(bare_study: Callable[..., Path], tmp_path: Path) -> None:
    folder = bare_study(RatingQuestion(name="opinion", text="How good?"))
    (tmp_path / "file").write_text("")
    with pytest.raises(FaultsError) as caught:
        run(folder, tmp_path / "file", SiteOptions(most_images=0))
    assert len(caught.value.faults) == 3
    assert f"beholder board {folder}" in str(caught.value)


def test_a_failure_leaves_the_old_site_and_nothing_else(
    board_study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "site"
    run(board_study, out, NO_IMAGES)
    before = contents(out)

    def fail(*_: object) -> str:
        raise RuntimeError("in the middle")

    monkeypatch.setattr(stage, "methods_page", fail)
    with pytest.raises(RuntimeError, match="in the middle"):
        run(board_study, out, NO_IMAGES, force=True)
    assert contents(out) == before
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_site_that_a_killed_process_had_moved_away_comes_back(board_study: Path, tmp_path: Path) -> None:
    out = tmp_path / "site"
    run(board_study, out, NO_IMAGES)
    out.rename(tmp_path / ".site.abc.old")
    (tmp_path / ".site.abc.new").mkdir()
    run(board_study, out, NO_IMAGES)
    assert (out / "index.html").is_file()
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_thumbnails_of_an_earlier_site_are_used_again(site: Path, board_study: Path, tmp_path: Path) -> None:
    out = Path(shutil.copytree(site, tmp_path / "site"))
    image = next(iter(sorted((out / "images").iterdir())))
    image.write_bytes(b"as it was")
    run(board_study, out, force=True)
    assert image.read_bytes() == b"as it was"


def test_full_images_are_the_files_themselves(own_study: Callable[[], Path], tmp_path: Path) -> None:
    run(own_study(), tmp_path / "site", SiteOptions(images="full", most_images=10))
    full = sorted((tmp_path / "site" / "images").glob("*-full.*"))
    assert len(full) == 10  # two prompts of five entries
    assert full[0].read_bytes()[:4] == b"\x89PNG"


def test_images_are_limited_by_prompt_examples_first() -> None:
    source = Source(Path("x"), "0", 1, 1)
    sources = {(f"p{n}", entry): source for n in range(8) for entry in "ab"}
    prompts = [f"p{n}" for n in range(8)]
    assert choose_prompts(prompts, [], sources, 16) == set(prompts)
    # room for 3 prompts of 2 images: the example, then the first and the middle of the other seven
    assert choose_prompts(prompts, ["p7"], sources, 7) == {"p7", "p0", "p4"}


def test_the_command_writes_reports_and_refuses(
    board_study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "site"
    arguments = ["site", str(board_study), str(out), "--images", "none", "--date", "2026-11-17"]
    assert main([*arguments, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [stage["skipped"] for stage in printed["stages"]] == [True, False]
    assert printed["stages"][1]["rows"] == {"pages": 38, "images": 0, "files": 17}
    assert main(arguments) == 0
    assert "site: unchanged" in capsys.readouterr().out
    assert main(["site", str(board_study), str(tmp_path)]) == 2
    assert "is no site of beholder" in capsys.readouterr().err


def test_an_open_study_writes_its_site(board_study: Path, tmp_path: Path) -> None:
    page = beholder.open_study(board_study).site(tmp_path / "site", images="none", licence="CC-BY-4.0")
    assert page == tmp_path / "site" / "index.html"
    assert "CC-BY-4.0" in (page.parent / "data.html").read_text(encoding="utf-8")
