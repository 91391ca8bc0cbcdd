"""Names of the field: what each stands for, and what happens to names that stand for nothing here."""

from pathlib import Path

import pytest

from beholder.distances.aliases import ALIASES, NOT_OFFERED, resolve_distances
from beholder.distances.catalogue import DISTANCES
from beholder.errors import unknown_name
from beholder.models.encoders.catalogue import ENCODERS
from beholder.scorers.aliases import SCORER_ALIASES, resolve_scorers
from beholder.scorers.catalogue import SCORERS


def test_every_alias_stands_for_what_there_is() -> None:
    for alias in ALIASES.values():
        assert set(alias.distances) <= set(DISTANCES)
        assert {alias.encoder, alias.logits} <= {None, *ENCODERS}
        assert all(name in alias.recipe for name in (*alias.distances, alias.encoder or "", alias.logits or ""))
    assert set(SCORER_ALIASES.values()) <= set(SCORERS)
    assert not {*ALIASES, *NOT_OFFERED} & set(DISTANCES)


def test_every_alias_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs/reference/measure.md").read_text(encoding="utf-8")
    section = page.partition("### Names of the field")[2].partition("###")[0]
    assert [name for name in (*ALIASES, *SCORER_ALIASES, *NOT_OFFERED) if f"`{name}`" not in section] == ["fls"]


def test_each_name_brings_its_encoder() -> None:
    named = resolve_distances(["fid", "KID", "is", "prdc", "vendi"], None, None, "pixel")
    assert named.by_encoder == {
        "inception-v3-fid": ("frechet", "kernel_subsets"),
        "pixel": ("inception_score", "precision", "recall", "density", "coverage", "vendi"),
    }
    assert named.logits == "inception-v3-logits"
    assert named.recipes[0].startswith("fid: frechet over inception-v3-fid")
    assert not named.faults


@pytest.mark.parametrize(
    ("name", "encoder", "fault"),
    [
        ("fid", "dinov2", "fid is frechet over inception-v3-fid"),
        ("lpips", None, "metric 'lpips' is not offered: it compares an image with one reference image"),
        ("precison", None, "Did you mean 'precision'?"),
        ("vendi", "dinov", "Did you mean 'dinov2'?"),
    ],
)
def test_faults(name: str, encoder: str | None, fault: str) -> None:
    assert fault in "\n".join(resolve_distances([name], encoder, None, "pixel").faults)


def test_scorers() -> None:
    assert resolve_scorers(["CLIPScore", "sharpness"]) == (("clip-score", "sharpness"), ("CLIPScore: clip-score",))


def test_a_name_that_is_close_to_none() -> None:
    assert unknown_name("colour", "xyz", ["red", "blue"]) == "colour 'xyz' is not known; known: red, blue"
