"""The site as files: links, escaping, sizes, no address of elsewhere, and what each page says."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import polars as pl
import pytest

from beholder.report.board_site.pictures import Picture
from beholder.report.board_site.rendering import environment
from beholder.tables.store import Store

LARGEST_PAGE = 200_000
LARGEST_FRONT_PAGE = 1_000_000


class Reader(HTMLParser):
    """Collects what a page links to and loads, its ids, and its visible words."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.ids: list[str] = []
        self.words: list[str] = []
        self.hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        address = attributes.get("href") or attributes.get("src")
        if address is not None:
            (self.links if tag == "a" else self.loads).append(address)
        if attributes.get("id"):
            self.ids.append(str(attributes["id"]))
        self.hidden += tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.words.append(data)


def read(path: Path) -> Reader:
    reader = Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    return reader


def words_of(path: Path) -> str:
    return re.sub(r"\s+", " ", " ".join(read(path).words))


def pages_of(site: Path) -> list[Path]:
    return sorted(site.rglob("*.html"))


def test_every_link_and_every_file_that_a_page_loads_exists(site: Path) -> None:
    pages = {page.resolve(): read(page) for page in pages_of(site)}
    assert len(pages) == 1 + 5 + 5 + 24 + 1 + 2  # front, entries, slices, prompts and their list, methods, data
    broken = []
    for page, reader in pages.items():
        assert len(reader.ids) == len(set(reader.ids)), page
        for address in (*reader.links, *reader.loads):
            parts = urlsplit(address)
            assert not parts.scheme, f"{page.name} leads elsewhere: {address}"
            assert not parts.netloc, f"{page.name} leads elsewhere: {address}"
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            anchored = not parts.fragment or (target in pages and parts.fragment in pages[target].ids)
            if not target.is_file() or not anchored:
                broken.append(f"{page.name}: {address}")
    assert broken == []


def test_no_script_or_style_sheet_names_another_host(site: Path) -> None:
    for path in (*site.glob("assets/*"), *site.glob("prompts/*.js")):
        hosts = set(re.findall(r"https?://[^\s\"')]+", path.read_text(encoding="utf-8")))
        assert hosts <= {"http://www.w3.org/2000/svg"}, path  # the name of a language, which nobody requests
        assert "@import" not in path.read_text(encoding="utf-8")


def test_pages_are_small(site: Path) -> None:
    assets = sum(path.stat().st_size for path in site.glob("assets/*"))
    for page in pages_of(site):
        limit = LARGEST_FRONT_PAGE if page.name == "index.html" and page.parent == site else LARGEST_PAGE
        assert page.stat().st_size + assets < limit, page
    prompts = [path.stat().st_size for path in site.glob("prompts/*.html") if path.name != "index.html"]
    assert max(prompts) < 6000


def test_a_prompt_with_markup_is_text_everywhere(site: Path) -> None:
    texts = [page.read_text(encoding="utf-8") for page in pages_of(site)]
    assert not any("<b>bold</b>" in text for text in texts)
    assert any("&lt;b&gt;bold&lt;/b&gt;" in text for text in texts)
    front = (site / "index.html").read_text(encoding="utf-8")
    packed = re.search(r'<script type="application/json" id="board-data">(.*?)</script>', front, re.DOTALL)
    assert packed is not None
    assert {entry["name"] for entry in json.loads(packed[1])["entries"]} == {
        *("aurora", "borealis", "cirrus", "dune", "ember")
    }


def test_the_front_page_says_without_scripts_what_the_tables_say(site: Path, board_study: Path) -> None:
    words = words_of(site / "index.html")
    board = (
        Store(board_study)
        .read("board")
        .filter(
            (pl.col("measure") == "opinion: quality") & (pl.col("family") == "all") & (pl.col("entry") == "aurora")
        )
    )
    value, low, high = (f"{board[column].item():.2f}" for column in ("value", "low", "high"))
    assert f"{value} 1–2" in words
    assert f"{low} to {high}" in words
    assert "Simulated raters." in words
    assert "By opinion: alignment, the best is aurora or borealis" in words
    for claim, verdict in Store(board_study).read("claims").select("claim", "verdict").iter_rows():
        assert f"{verdict} {claim}" in words
    assert "aurora leads most with 100 % on sharpness" in words


def test_an_entry_says_what_was_sent_what_it_cost_and_from_whom_it_differs(site: Path) -> None:
    words = words_of(site / "entries" / "dune.html")
    assert "rewritten by the generator, 24 of 24: “a detailed painting of" in words
    assert "0.02 Wh (median), by codecarbon, constant power" in words
    assert "significantly better than ember; significantly worse than" in words
    assert "3 prompts: too few for numbers" in words
    assert len(re.findall(r'<img src="\.\./images', (site / "entries" / "dune.html").read_text())) == 12


def test_a_prompt_has_the_images_and_the_mean_of_all_answers(site: Path, board_study: Path) -> None:
    store = Store(board_study)
    prompt = str(store.read("prompts")["prompt"][0])
    page = site / "prompts" / f"{prompt}.html"
    assert len(re.findall(r'<img src="\.\./images', page.read_text(encoding="utf-8"))) == 5
    own = store.read("images").filter((pl.col("prompt") == prompt) & (pl.col("generator") == "cirrus"))
    judged = store.read("judgements").filter(
        (pl.col("image") == own["image"].item()) & (pl.col("aspect") == "quality")
    )
    assert f"{judged['value'].to_numpy().mean():.2f}" in words_of(page)
    assert "12 answers" in words_of(page)


def test_a_raised_mark_stands_at_the_entry_and_is_explained(site: Path, board_study: Path) -> None:
    marks = Store(board_study).read("board_marks").filter("raised")
    (words,) = marks.filter(pl.col("entry") == "dune")["words"]  # the generator rewrote its prompts
    front = (site / "index.html").read_text(encoding="utf-8")
    assert front.count(f'aria-label="marked: {words}"') == 2  # on the board, and among the utilities
    assert "or as the generator used it, another than that of the study?" in words_of(site / "index.html")
    assert f"Marked. {words}" in words_of(site / "entries" / "dune.html")
    assert "Marked" not in words_of(site / "entries" / "aurora.html")


def test_no_link_stands_within_another_where_images_lead_to_their_files() -> None:
    source = '{% import "board_site/parts.html.j2" as parts with context %}{{ parts.shown(p, "", "", linked) }}'
    picture = Picture("a.webp", 8, 8, "a-full.png")
    texts = [environment().from_string(source).render(p=picture, linked=linked) for linked in (True, False)]
    assert [text.count("<a ") for text in texts] == [1, 0]


@pytest.mark.parametrize("name", ["methods.html", "data.html"])
def test_methods_and_data_are_in_words(site: Path, name: str) -> None:
    words = words_of(site / name)
    expected = {
        "methods.html": (
            "both are treated as samples",
            "Holm-adjusted",
            "12 simulated raters took part",
            "CC0-1.0",
        ),
        "data.html": ("board.parquet", "No licence is stated", "croissant.json"),
    }
    for phrase in expected[name]:
        assert phrase in words
