"""Boards at the edge: without people, without prompts, without a direction, with one entry."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import Browser

from beholder.board.stage import run as run_board
from beholder.report.board_site.stage import SiteOptions, run
from beholder.study.kinds.rating import RatingQuestion
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store

RECORD = Provenance("test", {}, 0, {})


@pytest.mark.parametrize(("generators", "better"), [(("a",), None), (("a", "b"), "higher")])
def test_a_board_of_one_scorer_has_a_site(
    bare_study: Callable[..., Path],
    chromium: Browser,
    tmp_path: Path,
    better: str | None,
    generators: tuple[str, ...],
) -> None:
    folder = bare_study(RatingQuestion(name="opinion", text="How good?"), generators=generators, prompts=6)
    store = Store(folder)
    images = store.read("images").with_columns(prompt=pl.lit(None, pl.String))
    generated = images.filter(~pl.col("real"))
    scores = generated.select("image", score=pl.int_range(pl.len()).cast(pl.Float64)).with_columns(
        scorer=pl.lit("sharpness"), aspect=pl.lit("quality"), better=pl.lit(better, pl.String)
    )
    store.write({"images": images, "scores": TABLES["scores"].frame(scores.to_dicts())}, RECORD)
    run_board(folder)
    outcome = run(folder, tmp_path / "site", SiteOptions(images="none"))
    assert outcome.rows["pages"] == 1 + len(generators) + 2  # front, entries, methods and data; no prompts
    page = chromium.new_context(offline=True).new_page()
    complaints: list[str] = []
    page.on("console", lambda m: complaints.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto((tmp_path / "site" / "index.html").as_uri())
    page.wait_for_selector("html[data-ready]", state="attached")
    assert complaints == []
    assert page.locator("#board tbody tr").count() == len(generators)
    page.context.close()
