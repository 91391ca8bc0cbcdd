"""How large the site of a large board is, how long it takes to write, and how soon Chromium paints it.

python benchmarks/site_size.py [--entries 25] [--prompts 3200] [--keep FOLDER]

Prompts are HPS v2's benchmark where the data below ``BEHOLDER_SHARED`` is there, else sentences of that length.
The tables of the board hold simulated numbers; the values of prompts come from two ratings and four scores of each
image, as in any study. Bytes are those on disk, not compressed as most web servers send them.
"""

import argparse
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
from PIL import Image
from playwright.sync_api import sync_playwright

from beholder.report.board_site.stage import SiteOptions, run
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.study import FILE_NAME, Study, dump_study
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.stages import STAGES
from beholder.tables.store import Store

SHARED = Path(os.environ.get("BEHOLDER_SHARED", Path(__file__).parents[2] / "shared"))
HPSV2 = SHARED / "data" / "prompts" / "hpsv2-benchmark" / "hpsv2_benchmark.jsonl"
STYLES = ("anime", "concept-art", "paintings", "photo")
TAGS = (
    *("action", "age", "animal", "colour", "count", "food", "material", "negation", "person"),
    *("shape", "size", "spatial", "state", "text", "texture", "weather"),
)
PEOPLE = ("opinion: alignment", "opinion: quality")
SCORERS = ("clip-score", "image-reward", "hps", "sharpness")
RATERS = 40
RECORD = Provenance("benchmark", {}, 0, {})
Row = dict[str, object]
MOMENT = datetime(2026, 11, 17, tzinfo=UTC)


@dataclass(frozen=True)
class Limit:
    """What the site must not exceed."""

    what: str
    number: float
    most: float
    unit: str

    @property
    def line(self) -> str:
        kept = "yes" if self.number <= self.most else "**no**"
        return f"| {self.what} | {self.number:,.4g} {self.unit} | {self.most:,g} {self.unit} | {kept} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=25)
    parser.add_argument("--prompts", type=int, default=3200)
    parser.add_argument("--keep", type=Path, help="write study and site here, and leave them")
    arguments = parser.parse_args()
    folder = arguments.keep or Path(tempfile.mkdtemp())
    try:
        for line in measure(folder, arguments.entries, arguments.prompts):
            print(line)
    finally:
        if arguments.keep is None:
            shutil.rmtree(folder)


def measure(folder: Path, entries: int, prompts: int) -> Iterator[str]:
    """Write the study and its site, and yield the lines of a Markdown table."""
    study, site = folder / "study", folder / "site"
    write_study(study, entries, prompts)
    began, cpu = time.monotonic(), time.process_time()
    outcome = run(study, site, SiteOptions(published=date(2026, 11, 17)), force=True)
    seconds, cpu = time.monotonic() - began, time.process_time() - cpu
    measures, slices = len(PEOPLE) + len(SCORERS), 1 + len(STYLES) + len(TAGS)
    yield f"{entries} entries × {prompts:,} prompts × {measures} measures, {slices} slices: {outcome}"
    yield f"written in {seconds:.1f} s ({cpu:.1f} processor seconds)\n"
    sizes = {path: path.stat().st_size for path in site.rglob("*") if path.is_file()}
    rooms = {
        room: _total(sizes, site / room) for room in ("images", "data", "prompts", "entries", "slices", "assets")
    }
    front = site / "index.html"
    transferred = {page: _transferred(page) for page in sizes if page.suffix == ".html"}
    others = {page: size for page, size in transferred.items() if page != front}
    largest = max(others, key=lambda page: others[page])
    pages = [sizes[page] for page in sizes if page.parent.name == "prompts" and _is_prompt(page)]
    paint, requests = _first_paint(front)
    limits = (
        Limit("front page with its scripts and style sheet", transferred[front] / 1e3, 1000, "kB"),
        Limit(f"largest other page ({largest.relative_to(site)}), likewise", others[largest] / 1e3, 200, "kB"),
        Limit(
            "folder without images and downloads",
            (sum(sizes.values()) - rooms["images"] - rooms["data"]) / 1e6,
            20,
            "MB",
        ),
        Limit("first contentful paint of the front page, median of 5", paint, 1000, "ms"),
        Limit("requests to elsewhere", requests, 0, ""),
    )
    yield "| | measured | limit | kept |\n|---|---|---|---|"
    yield from (limit.line for limit in limits)
    yield "\n| part | size |\n|---|---|"
    yield from (f"| {room} | {size / 1e6:,.2f} MB |" for room, size in rooms.items())
    yield f"| page of a prompt, mean (largest) | {np.mean(pages) / 1e3:,.1f} kB ({max(pages) / 1e3:,.1f} kB) |"


def write_study(folder: Path, entries: int, prompts: int) -> None:
    """Write a study with images, judgements, scores and a board."""
    rng = np.random.default_rng(0)
    study = Study(
        name="large", title="A large board", questions=(RatingQuestion(name="opinion", text="How good?"),)
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE_NAME).write_text(dump_study(study), encoding="utf-8")
    names = [f"generator-{n:02d}-xl" for n in range(entries)]
    texts = _texts(prompts)
    keys = [hashlib.sha256(f"{n} {text}".encode()).hexdigest()[:12] for n, text in enumerate(texts)]
    files = _pictures(folder, entries, rng)
    images = pl.DataFrame(
        {
            "image": [f"{key}-{e}" for key in keys for e in range(entries)],
            "path": [files[e][0] for _ in keys for e in range(entries)],
            "generator": [name for _ in keys for name in names],
            "real": False,
            "gold": False,
            "prompt": [key for key in keys for _ in names],
            "style": [STYLES[n % len(STYLES)] for n in range(prompts) for _ in names],
            "width": pl.repeat(64, len(keys) * entries, dtype=pl.Int64, eager=True),
            "height": pl.repeat(64, len(keys) * entries, dtype=pl.Int64, eager=True),
            "sha256": [files[e][1] for _ in keys for e in range(entries)],
        }
    )
    skill = np.tile(np.linspace(1, -1, entries), prompts)
    tables = {"images": images, "prompts": pl.DataFrame({"prompt": keys, "text": texts})}
    tables |= _judged(images["image"], skill, rng) | {"scores": _scores(images["image"], skill, rng)}
    tables |= _curated(keys, texts, rng) | _board(names, prompts, rng)
    Store(folder).write(tables, RECORD)


def _texts(prompts: int) -> list[str]:
    if HPSV2.is_file():
        sentences = [str(json.loads(line)["prompt"]) for line in HPSV2.read_text(encoding="utf-8").splitlines()]
    else:
        sentences = ["a photograph of " + "something " * 8]
    return [sentences[n % len(sentences)] for n in range(prompts)]


def _pictures(folder: Path, entries: int, rng: np.random.Generator) -> list[tuple[str, str]]:
    files = []
    for e in range(entries):
        pixels = rng.integers(0, 256, (8, 8, 3), dtype=np.uint8)
        Image.fromarray(pixels).resize((64, 64), Image.Resampling.BICUBIC).save(folder / f"{e}.png")
        files.append((f"{e}.png", hashlib.sha256((folder / f"{e}.png").read_bytes()).hexdigest()))
    return files


def _judged(images: pl.Series, skill: np.ndarray, rng: np.random.Generator) -> dict[str, pl.DataFrame]:
    rater = rng.integers(0, RATERS, len(images))
    common = pl.DataFrame({"image": images, "number": rater}).with_columns(
        rater=pl.format("r{}", "number"), session=pl.format("s{}", "number"), trial=pl.col("image")
    )
    aspects = []
    for aspect in ("alignment", "quality"):
        values = np.clip(np.rint(3 + skill + rng.normal(size=len(images))), 1, 5)
        aspects.append(common.drop("number").with_columns(aspect=pl.lit(aspect), value=pl.Series(values)))
    judgements = pl.concat(aspects).with_columns(
        question=pl.lit("opinion"),
        attempt=pl.lit(1, pl.Int64),
        place=pl.lit(0, pl.Int64),
        value_kind=pl.lit("rating"),
        used=True,
    )
    sessions = [
        {"session": f"s{n}", "rater": f"r{n}", "question": "opinion", "status": "complete", "started": MOMENT}
        | {"simulated": True}
        for n in range(RATERS)
    ]
    trials = pl.DataFrame({"trial": images, "images": [[image] for image in images]}).with_columns(
        question=pl.lit("opinion"),
        kind=pl.lit("rating"),
        slot=pl.lit(0, pl.Int64),
        position=pl.lit(0, pl.Int64),
        block=pl.lit(0, pl.Int64),
        role=pl.lit("test"),
        propensity=1.0,
    )
    return {"judgements": judgements, "sessions": TABLES["sessions"].frame(list(sessions)), "trials": trials}


def _scores(images: pl.Series, skill: np.ndarray, rng: np.random.Generator) -> pl.DataFrame:
    return pl.concat(
        pl.DataFrame({"image": images, "score": 10 + skill + rng.normal(size=len(images))}).with_columns(
            scorer=pl.lit(scorer), aspect=pl.lit("quality"), better=pl.lit("higher")
        )
        for scorer in SCORERS
    )


def _curated(keys: list[str], texts: list[str], rng: np.random.Generator) -> dict[str, pl.DataFrame]:
    candidates = pl.DataFrame({"prompt": keys, "text": texts, "original": texts}).with_columns(
        candidate=pl.format("own/{}", "prompt"),
        key=pl.col("prompt"),
        origin=pl.lit("set"),
        language=pl.lit("en"),
        status=pl.lit("chosen"),
        reason=pl.lit("all"),
    )
    tags: list[Row] = [
        {"prompt": key, "tag": tag, "label": "x", "evidence": "x", "start": 0, "end": 1}
        for key in keys
        for tag in rng.choice(TAGS, 3, replace=False)
    ]
    chosen = candidates.select("prompt", "text", "candidate").with_columns(held_out=False)
    return {
        "prompt_candidates": candidates,
        "curated_prompts": chosen,
        "prompt_tags": TABLES["prompt_tags"].frame(tags),
    }


def _board(names: list[str], prompts: int, rng: np.random.Generator) -> dict[str, pl.DataFrame]:
    slices = [("all", "all"), *(("style", s) for s in STYLES), *(("tag", t) for t in TAGS)]
    rows: list[Row] = []
    pairs: list[Row] = []
    for family, name in slices:
        for measure in (*PEOPLE, *SCORERS):
            where: Row = {"measure": measure, "family": family, "slice": name}
            for k, entry in enumerate(names):
                value, error = 3 - 0.05 * k + rng.normal() * 0.02, 0.01 + rng.random() * 0.01
                rows.append(
                    where
                    | {"source": "people" if measure in PEOPLE else "scorer", "better": "higher", "entry": entry}
                    | {
                        "value": value,
                        "low": value - 2 * error,
                        "high": value + 2 * error,
                        "level": 0.95,
                        "se": error,
                    }
                    | {
                        "rank_low": max(k - 2, 1),
                        "rank_high": min(k + 4, len(names)),
                        "chance_best": float(k == 0),
                    }
                    | {
                        "prompts": prompts if family == "all" else prompts // 4,
                        "raters": RATERS,
                        "answers": prompts,
                    }
                )
            for a, b in combinations(names, 2):
                pairs.append(
                    where
                    | {"entry": a, "other": b, "difference": 0.1, "low": 0.05, "high": 0.15, "separated": True}
                )
    utilities: list[Row] = [
        {
            "entry": entry,
            "pareto": k == 0,
            "surely_dominated": k > 3,
            "utility": 1.2 - 0.1 * k,
            "wins": float(k == 0),
        }
        | {"lead": 0.1 - k, "best_weights": json.dumps({PEOPLE[0]: 1.0})}
        for k, entry in enumerate(names)
    ]
    frames = {"board": rows, "board_pairs": pairs, "utilities": utilities}
    empty = {name: TABLES[name].empty() for name in STAGES["board"].outputs if name not in frames}
    return {name: TABLES[name].frame(part) for name, part in frames.items()} | empty


def _total(sizes: dict[Path, int], room: Path) -> int:
    return sum(size for path, size in sizes.items() if room in path.parents)


def _is_prompt(page: Path) -> bool:
    return page.suffix == ".html" and page.stem != "index" and not page.stem.startswith("page-")


def _transferred(page: Path) -> int:
    """Bytes of a page, its style sheet, its scripts and its icon; images are loaded as they come into view."""
    text = page.read_text(encoding="utf-8")
    own = [
        name for name in ("site.css", "sort.js", "board.js", "prompts.js", "icon.svg") if f"assets/{name}" in text
    ]
    assets = next(parent / "assets" for parent in page.parents if (parent / "assets").is_dir())
    return page.stat().st_size + sum((assets / name).stat().st_size for name in own)


def _first_paint(page: Path) -> tuple[float, int]:
    """Median milliseconds to the first contentful paint, and requests that leave the folder."""
    paints, elsewhere = [], []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=[
                "--no-sandbox",
                "--disable-gpu",
                "--disable-background-networking",
                "--disable-component-update",
            ],
        )
        for _ in range(5):
            tab = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
            tab.on("request", lambda r: None if r.url.startswith("file:") else elsewhere.append(r.url))
            tab.goto(page.as_uri())
            tab.wait_for_selector("html[data-ready]", state="attached")
            script = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"
            tab.wait_for_function(f"({script}) !== null")
            paints.append(float(tab.evaluate(script)))
        browser.close()
    return float(np.median(paints)), len(elsewhere)


if __name__ == "__main__":
    main()
