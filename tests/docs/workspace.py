"""The folder in which the steps of a page run: images of four generators, and what else the page starts with."""

import csv
import os
import secrets
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import numpy as np
import polars as pl
from PIL import Image
from tests.docs.blocks import ROOT

from beholder.cli.main import main
from beholder.collect.live.makers import Made, Order
from beholder.collect.live.room import Allowance, LiveRoom
from beholder.generators.checked import check_image
from beholder.simulate.grammar import draw_requests
from beholder.simulate.painter import paint
from beholder.simulate.painter_worker import POLICIES, paint_image
from beholder.simulate.policies import GENERATORS
from beholder.tables.store import Store
from beholder.workers.messages import ImageRequest

PROMPTS = 20
SHARED = Path(os.environ.get("BEHOLDER_SHARED", ROOT.parent / "shared")) / "data"

PICTURES = "pictures"
MY_STUDY = "my-study"
NEW_STUDY = "new-study"
ATTACKS = "attacks"

ATTACK = """
[[generators]]
name = "ember"
kind = "painter"
policy = "ember"

[[questions]]
name = "attack"
kind = "write-prompt"
target = "ember"
design = { raters = 6, trials = 4 }
"""
WRITTEN = (
    "three blue cats, in the snow, photo style",
    "two red birds, in the snow, photo style",
    "a green car, in the snow, photo style",
)
"""Prompts of raters who claim that the generator failed."""


def paint_pictures(folder: Path) -> None:
    """Write ``pictures/``: 20 images of each of four generators, with their prompts."""
    requests = draw_requests(PROMPTS, np.random.default_rng(0))
    policies = {policy.name: policy for policy in GENERATORS}
    for which, name in enumerate(("aurora", "cirrus", "ember", "real")):
        target = folder / PICTURES / name
        target.mkdir(parents=True)
        with (target / "prompts.csv").open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(["file", "prompt", "style"])
            for number, request in enumerate(requests):
                policy = policies.get(name, GENERATORS[0])
                picture = paint(request, policy, size=128, rng=np.random.default_rng([1, which, number]))
                Image.fromarray(picture.pixels).save(target / f"{number:03d}.png")
                rows.writerow([f"{number:03d}.png", picture.prompt, request.style])


def rehearse_my_study(folder: Path) -> None:
    """Write ``my-study/``: pairs and ratings of three generators by 20 simulated raters, with its report."""
    _new_study(folder, MY_STUDY)
    _beholder(folder, "run", MY_STUDY, "--simulate=20", "--bad=4", "--quiet")


def make_new_study(folder: Path) -> None:
    """Write ``new-study/``: the same study, of which no trials are drawn."""
    _new_study(folder, NEW_STUDY)


def attack_a_generator(folder: Path) -> None:
    """Write ``attacks/``: three raters have claimed that a generator fails on their own prompts."""
    _beholder(folder, "new", "mos", ATTACKS, f"--generated=ember={PICTURES}/ember")
    settings = folder / ATTACKS / "study.toml"
    head, _, _ = settings.read_text(encoding="utf-8").partition("[[questions]]")
    settings.write_text(head + ATTACK, encoding="utf-8")
    _beholder(folder, "design", ATTACKS)
    _beholder(folder, "collect", ATTACKS, "--simulate=6")
    claims = Store(folder / ATTACKS).read("answers").filter(pl.col("choice") == "fails").unique("session")
    room = LiveRoom(folder / ATTACKS, {"ember": _painted})
    rows = claims.sort("session").select("trial", "session").head(len(WRITTEN)).iter_rows()
    for number, ((trial, session), prompt) in enumerate(zip(rows, WRITTEN, strict=True)):
        room.agree(session)
        with patch.object(secrets, "token_hex", lambda _, number=number: f"{number + 1:024x}"):
            (name,) = room.ask(session, trial, prompt, ["ember"], Allowance(9, 9, 100))
        while room.result(session, name)["status"] == "waiting":
            time.sleep(0.01)
    room.close()


def _painted(order: Order) -> Made:
    request = ImageRequest(prompt=order.prompt, seed=order.seed, width=48, height=48)
    return Made("made", image=check_image(paint_image(request, POLICIES["ember"]).content, request))


def _new_study(folder: Path, name: str) -> None:
    generated = [f"--generated={name}={PICTURES}/{name}" for name in ("aurora", "cirrus", "ember")]
    _beholder(folder, "new", "hpd-pairs,mos", name, *generated, "--raters=20", "--trials=30")


def _beholder(folder: Path, *arguments: str) -> None:
    before = Path.cwd()
    os.chdir(folder)
    try:
        code = main(arguments)
    finally:
        os.chdir(before)
    if code:
        message = f"exit code {code} of: beholder {' '.join(arguments)}"
        raise AssertionError(message)


PREPARED: dict[str, Callable[[Path], None]] = {
    PICTURES: paint_pictures,
    MY_STUDY: rehearse_my_study,
    NEW_STUDY: make_new_study,
    ATTACKS: attack_a_generator,
}
"""Name of a prepared folder -> what makes it, in the order in which they are made."""

DATA = {"agiqa-3k": "AGIQA-3k-Database", "layer6-realism": "layer6-realism"}
"""A set of the shared data -> the name by which pages call its folder."""


def prepare_all(folder: Path) -> None:
    """Make every prepared folder, once, for all pages."""
    for make in PREPARED.values():
        make(folder)


def open_workspace(prepared: Path, names: list[str], folder: Path) -> None:
    """Copy what a page starts with to the folder in which it runs; published data is linked."""
    for name in (PICTURES, *names):
        shutil.copytree(prepared / name, folder / name)
    for source, name in DATA.items():
        if (SHARED / source).is_dir():
            (folder / name).symlink_to(SHARED / source)
