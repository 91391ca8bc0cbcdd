"""The documentation site: it builds without warnings or a network, and everything in it leads somewhere."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from tests.conftest import MakeOnce

import beholder

pytest.importorskip("sphinx")
pytest.importorskip("torch")

ROOT = Path(__file__).parents[2]
BUILD = (sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going")
OUTSIDE = re.compile(r"(?:https?:)?//", re.I)
LOADED_BY_STYLE = re.compile(r"url\(\s*['\"]?((?:https?:)?//[^'\")]+)|@import\s+['\"](https?://[^'\"]+)")
CALLED_BY_SCRIPT = re.compile(r"(?:fetch|import|open)\(\s*[`'\"](https?://[^`'\"]+)")
LOADS = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "object": "data",
    "embed": "src",
}
"""Element -> the attribute by which a browser loads something without a click."""

QUESTIONS = {
    "How many raters do I need?": ("how-to/sample-size.html", "how-many-raters-do-i-need", "beholder plan"),
    "Is A better than B?": ("how-to/a-or-b.html", "is-a-better-than-b", "beholder rank"),
    "Which metric should I trust?": (
        "how-to/choose-a-metric.html",
        "which-metric-should-i-trust",
        "beholder measure",
    ),
    "What does it cost?": ("how-to/cost.html", "what-does-it-cost", "beholder plan"),
    "How do I run a study on Prolific?": ("how-to/prolific.html", "run-a-study-on-prolific", "prolific_keys"),
    "How do I compare two folders of images?": (
        "how-to/compare-two-folders.html",
        "compare-two-folders-of-images",
        "beholder distance",
    ),
    "How do I train a scorer on my labels?": ("tutorials/train-a-scorer.html", "train-a-scorer", "beholder learn"),
    "How do I import AGIQA-3K or Layer 6?": (
        "how-to/import-published-data.html",
        "layer-6-human-error-rates-of-41-generators",
        "beholder import agiqa",
    ),
    "What does this number in the report mean?": ("explanation/numbers.html", "ratings", "Bradley–Terry rating"),
    "How do I add a question kind?": ("how-to/add-a-question-kind.html", "add-a-question-kind", "KINDS"),
}
"""A question on the front page -> the page that answers it, its heading, and words of the answer."""


@dataclass
class Page(HTMLParser):
    """What a page of the site links to, loads, and can be linked to by."""

    links: list[tuple[str, str]] = field(default_factory=list)
    """Address and words of every link."""
    loads: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    words: list[str] = field(default_factory=list)
    _link: str | None = None
    _link_words: str = ""

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: content or "" for name, content in attrs}
        self.anchors |= {attributes[name] for name in ("id", "name") if name in attributes}
        if tag == "a" and "href" in attributes:
            self._link, self._link_words = attributes["href"], ""
        elif tag == "link" and attributes.get("rel") not in ("canonical", "index", "search", "next", "prev"):
            self.loads.append(attributes.get("href", ""))
        elif tag in LOADS:
            self.loads.append(attributes.get(LOADS[tag], ""))

    def handle_endtag(self, tag: str) -> None:
        if tag == "a" and self._link is not None:
            self.links.append((self._link, self._link_words.strip()))
            self._link = None

    def handle_data(self, data: str) -> None:
        self.words.append(data)
        self._link_words += data


@pytest.fixture(scope="module")
def site(make_once: MakeOnce) -> Path:
    return make_once("site", build) / "html"


def build(folder: Path) -> None:
    """Build the site as ``make docs`` does, with proxies that lead nowhere: a request would fail the build."""
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    built = subprocess.run(
        [*BUILD, "--doctree-dir", str(folder / "doctrees"), str(ROOT / "docs"), str(folder / "html")],
        env={**os.environ, **nowhere, "PYTHONPATH": str(ROOT / "src"), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    assert built.stderr == ""


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Page]:
    read: dict[str, Page] = {}
    for path in sorted(site.rglob("*.html")):
        page = Page()
        page.feed(path.read_text(encoding="utf-8"))
        read[path.relative_to(site).as_posix()] = page
    return read


def target_of(address: str, name: str) -> tuple[str, str]:
    """The file in the site, and the anchor, to which an address on a page leads."""
    parts = urlsplit(address)
    path = Path(os.path.normpath(Path(name).parent / unquote(parts.path))).as_posix() if parts.path else name
    return path, unquote(parts.fragment)


def test_every_page_of_the_folder_is_in_the_site(site: Path) -> None:
    sources = [path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")]
    assert [source.as_posix() for source in sources if not (site / source).is_file()] == []


def test_links_and_anchors_lead_somewhere(site: Path, pages: dict[str, Page]) -> None:
    lost = []
    for name, page in pages.items():
        for address, _ in page.links:
            if OUTSIDE.match(address) or address.startswith(("mailto:", "javascript:")):
                continue
            target, anchor = target_of(address, name)
            anchors = pages[target].anchors if target in pages else {anchor}
            if not (site / target).exists() or (anchor and anchor not in anchors):
                lost.append(f"{name}: {address}")
    assert lost == []


def test_nothing_is_loaded_from_elsewhere(site: Path, pages: dict[str, Page]) -> None:
    loaded = [
        f"{name}: {address}" for name, page in pages.items() for address in page.loads if OUTSIDE.match(address)
    ]
    for path in [*site.rglob("*.css"), *site.rglob("*.svg")]:
        loaded += [f"{path.name}: {match}" for match in LOADED_BY_STYLE.findall(path.read_text(encoding="utf-8"))]
    for path in site.rglob("*.js"):
        loaded += [f"{path.name}: {match}" for match in CALLED_BY_SCRIPT.findall(path.read_text(encoding="utf-8"))]
    assert loaded == []


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_front_page_leads_to_the_answer(question: str, pages: dict[str, Page]) -> None:
    target, anchor, answer = QUESTIONS[question]
    leads_to = [
        target_of(address, "index.html")[0] for address, words in pages["index.html"].links if words == question
    ]
    assert set(leads_to) == {target}
    assert anchor in pages[target].anchors
    assert answer in "".join(pages[target].words)


def test_what_is_written_can_be_searched(site: Path) -> None:
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    for term in ("krippendorff", "prolif", "bradley"):
        assert f'"{term}"' in index or f"{term}:" in index, term


@pytest.mark.parametrize("name", sorted(beholder.LATE))
def test_every_public_name_is_in_the_reference(name: str, pages: dict[str, Page]) -> None:
    assert any(
        f"beholder.{name}" in page.anchors for path, page in pages.items() if path.startswith("reference/api/")
    )
