"""A synthetic world: the same bytes for a seed, a manifest, and the ground truth of each image as tables."""

import csv
import hashlib
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np
import polars as pl
import pytest
from PIL import Image

from beholder.feedback.heatmap import decode_heatmap
from beholder.simulate.policies import GENERATORS, KNOWN_BAD
from beholder.simulate.sight import ASPECTS
from beholder.simulate.views import views_of
from beholder.simulate.world import (
    MANIFEST,
    Painted,
    World,
    paint_world,
    write_ground_truth,
)
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import TRUTH_ROOM, Store


class Small(Protocol):
    """As ``tests/conftest.py`` makes it."""

    world: World
    painted: list[Painted]


TINY = World(prompts=2, reals=3, size=32, seed=3, generators=GENERATORS[3:])


def content(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Painted]]:
    folder = tmp_path_factory.mktemp("tiny")
    return folder, paint_world(TINY, folder)


def test_same_bytes_for_a_seed_however_many_workers(tiny: tuple[Path, list[Painted]], tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    again = paint_world(
        TINY, tmp_path / "again", workers=1, progress=lambda done, all_: calls.append((done, all_))
    )
    assert again == tiny[1]
    assert content(tmp_path / "again") == content(tiny[0])
    assert calls == [(n, 9) for n in range(1, 10)]


def test_another_seed_paints_otherwise(tiny: tuple[Path, list[Painted]], tmp_path: Path) -> None:
    paint_world(replace(TINY, seed=4), tmp_path / "other")
    files, other = content(tiny[0]), content(tmp_path / "other")
    assert files.keys() == other.keys()
    assert all(files[name] != other[name] for name in files)


def test_every_generator_paints_every_prompt_and_reals_have_their_own(tiny: tuple[Path, list[Painted]]) -> None:
    painted = tiny[1]
    assert Counter(p.generator for p in painted) == {"dune": 2, "ember": 2, "known-bad": 2, "real": 3}
    prompts = {name: {p.prompt for p in painted if p.generator == name} for name in ("dune", "ember", "real")}
    assert prompts["dune"] == prompts["ember"]
    assert not prompts["dune"] & prompts["real"]
    assert {p.generator for p in painted if p.real} == {"real"}
    assert {p.generator for p in painted if p.gold} == {"known-bad"}
    for p in painted:
        with Image.open(tiny[0] / p.file) as image:
            assert image.size == (32, 32)
            assert image.mode == "RGB"


def test_any_policy_may_serve_as_gold(tmp_path: Path) -> None:
    gold = replace(KNOWN_BAD, name="awful")
    painted = paint_world(World(prompts=1, reals=1, size=32, generators=GENERATORS[:1], gold=gold), tmp_path)
    assert {p.generator: p.gold for p in painted} == {"aurora": False, "awful": True, "real": False}


def test_real_images_are_flawless(tiny: tuple[Path, list[Painted]]) -> None:
    for p in tiny[1]:
        if p.real:
            assert p.scores["plausibility"] == p.scores["alignment"] == 1
            assert p.scores["detectability"] == 0
            assert p.flaws == ()
            assert p.words == ()
            assert p.regions == {}


def test_the_manifest_lists_every_image(tiny: tuple[Path, list[Painted]]) -> None:
    with (tiny[0] / MANIFEST).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(tiny[1])
    for row, p in zip(rows, tiny[1], strict=True):
        assert (row["image"], row["path"], row["generator"]) == (p.image, p.file, p.generator)
        assert (row["real"], row["gold"]) == (str(p.real).lower(), str(p.gold).lower())
        assert (row["prompt"], row["style"]) == (p.prompt, p.style)


def test_generators_are_planted_best_first(small_world: Small) -> None:
    names = [policy.name for policy in GENERATORS]
    scores = {
        aspect: [np.mean([p.scores[aspect] for p in small_world.painted if p.generator == name]) for name in names]
        for aspect in (*ASPECTS, "detectability")
    }
    for aspect in ASPECTS:
        assert scores[aspect] == sorted(scores[aspect], reverse=True), aspect
    assert scores["detectability"] == sorted(scores["detectability"])
    bad = [p.scores["detectability"] for p in small_world.painted if p.gold]
    assert np.mean(bad) > scores["detectability"][-1]


def test_truth_is_kept_and_read_back(small_world: Small, tmp_path: Path) -> None:
    written = []
    for name in ("one", "two"):
        store = Store(tmp_path / name)
        store.write(*image_tables(small_world.painted))
        write_ground_truth(store, small_world.world, small_world.painted)
        written.append(content(tmp_path / name))
    assert written[0] == written[1]

    truth = Store(tmp_path / "one", TRUTH_ROOM)
    assert truth.read("scores").height == 5 * len(small_world.painted)
    regions = truth.read("regions")
    assert regions.height == sum(len(p.regions) for p in small_world.painted) > 0
    assert decode_heatmap(regions["heatmap"][0]).shape == (32, 32)
    views = views_of(Store(tmp_path / "one"), seed=0)
    for p in small_world.painted:
        assert views[p.image].detectability == p.scores["detectability"]
        assert views[p.image].quality == {aspect: p.scores[aspect] for aspect in ASPECTS}
        assert views[p.image].words == tuple(sorted(p.words))
        assert set(views[p.image].points) == set(p.regions)


def image_tables(painted: list[Painted]) -> tuple[dict[str, pl.DataFrame], Provenance]:
    rows: list[dict[str, object]] = [
        {"image": p.image, "path": p.file, "generator": p.generator, "real": p.real, "gold": p.gold}
        | {"width": 32, "height": 32, "sha256": "x"}
        for p in painted
    ]
    return {"images": TABLES["images"].frame(rows), "prompts": TABLES["prompts"].empty()}, Provenance(
        "new", {}, 0, {}
    )
