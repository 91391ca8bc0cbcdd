"""Distances in Python: equal to the distances themselves, over images of any kind and over own features."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from tests.engines.pickling import PicklingEngine

import beholder as bh
from beholder.api.sets import encoded_sets
from beholder.api.sets.compare_sets import choose_distances, compare_sets
from beholder.distances.frechet import frechet
from beholder.distances.kernel import kernel_distance
from beholder.errors import ImageError, StatisticsError, UserError
from beholder.models.encoders import pixel
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.named import load_once


@pytest.fixture
def sets(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    for name, shift in (("real", 0), ("near", 0), ("far", 90)):
        (tmp_path / name).mkdir()
        for place in range(12):
            pixels = rng.integers(0, 120, (8, 8, 3), dtype=np.uint8) + np.uint8(shift)
            Image.fromarray(pixels).save(tmp_path / name / f"{place:02d}.png")
    return tmp_path


def pixels(folder: Path) -> list[np.ndarray]:
    return [np.asarray(Image.open(path)) for path in sorted(folder.iterdir())]


class TestImages:
    def test_folders_images_and_tensors_give_the_same(self, sets: Path) -> None:
        encoder = load_encoder("pixel")
        expected = kernel_distance(encoder.encode(pixels(sets / "real")), encoder.encode(pixels(sets / "far")))
        tensor = torch.from_numpy(np.stack(pixels(sets / "far"))).permute(0, 3, 1, 2)
        for generated in (sets / "far", str(sets / "far"), [*map(Image.fromarray, pixels(sets / "far"))], tensor):
            measured = bh.distance(sets / "real", generated, metric="kernel", encoder="pixel")
            assert float(measured) == pytest.approx(expected.value, rel=1e-6)
            assert measured["low"][0] == pytest.approx(expected.low, rel=1e-6)

    def test_several_sets_and_metrics(self, sets: Path) -> None:
        generated = {name: sets / name for name in ("near", "far")}
        measured = bh.distance(sets / "real", generated, metric=["kernel", "coverage"], encoder="pixel")
        frame = measured.to_frame()
        assert frame.select("generated", "metric").rows() == [
            *(("near", "kernel"), ("near", "coverage"), ("far", "kernel"), ("far", "coverage"))
        ]
        assert frame["better"].to_list() == ["lower", "higher"] * 2
        assert frame["images"].to_list() == [12] * 4
        with pytest.raises(StatisticsError, match="4 distances"):
            float(measured)
        charts = measured.plot().to_dict(validate=True)["vconcat"]
        assert len(charts) == 2
        assert r"\toprule" in measured.to_latex()

    def test_cautions_and_recipes_are_in_the_notes(self, sets: Path) -> None:
        measured = bh.distance(sets / "real", sets / "far", metric=["frechet", "prdc"], encoder="pixel")
        assert any("fewer images than the 3,072 dims" in note for note in measured.notes)
        assert any(note.startswith("prdc: precision, recall, density and coverage") for note in measured.notes)

    def test_all_faults_at_once(self, sets: Path) -> None:
        with pytest.raises(UserError, match=r"(?s)metric 'frechett'.*metric 'ct' needs train=…"):
            bh.distance(sets / "real", sets / "far", metric=["frechett", "ct"], encoder="pixel")
        with pytest.raises(ImageError, match=r"(?s)no-real: no such file.*no-far: no such file"):
            bh.distance(sets / "no-real", sets / "no-far", metric="kernel", encoder="pixel")

    def test_broken_images_are_counted(self, sets: Path) -> None:
        (sets / "far" / "broken.png").write_bytes(b"no image")
        with pytest.raises(ImageError, match=r"broken\.png"):
            bh.distance(sets / "real", sets / "far", metric="kernel", encoder="pixel")
        measured = bh.distance(
            sets / "real", {"far": sets / "far"}, metric="kernel", encoder="pixel", skip_broken=True
        )
        assert "far: broken images were skipped: 1 generated, 0 real" in measured.notes

    def test_an_engine_gives_the_same(
        self, sets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
    ) -> None:
        monkeypatch.setattr(pixel, "SIDE", 4)  # 48 dims
        monkeypatch.setattr(encoded_sets, "ROWS_OF_A_SHARD", 100)  # more than the 96 that such matrices are
        load_once.cache_clear()
        request.addfinalizer(load_once.cache_clear)
        rng = np.random.default_rng(1)
        for name in ("real", "near"):
            for place in range(12, 160):
                Image.fromarray(rng.integers(0, 256, (8, 8, 3), np.uint8)).save(sets / name / f"{place:03d}.png")
            # A copy: rows of the file that do not lie one after the other.
            (sets / name / "copy.png").write_bytes((sets / name / "03.png").read_bytes())
        names = ("frechet", "frechet_infinity", "kernel", "prdc", "authenticity", "vendi")
        chosen, engine = choose_distances(names, encoder="pixel"), PicklingEngine()
        direct, by_engine = (
            compare_sets(("real", sets / "real"), {"near": sets / "near"}, chosen, features=folder, engine=each)
            for folder, each in ((None, None), (tmp_path / "features", engine))
        )
        assert [row.distance.name for row in direct] == [row.distance.name for row in by_engine]
        assert len(direct) == 9
        assert by_engine == direct  # to the byte
        shared = {"_shard_moments", "_influence", "_extrapolated_at_once", "_across", "_near", "_met"}
        assert shared <= engine.functions

    def test_broken_images_of_an_engine(self, sets: Path, tmp_path: Path) -> None:
        (sets / "far" / "broken.png").write_bytes(b"no image")
        chosen = choose_distances(("kernel",), encoder="pixel")
        compare = partial(
            compare_sets,
            ("real", sets / "real"),
            {"far": sets / "far"},
            chosen,
            features=tmp_path / "features",
            engine=PicklingEngine(),
        )
        with pytest.raises(ImageError, match=r"broken\.png: .*(.|\n)*--skip-broken"):
            compare()
        (row,) = compare(skip_broken=True)
        assert (row.skipped_real, row.skipped_generated, row.distance.generated) == (0, 1, 12)


class TestOwnFeatures:
    def test_they_are_compared_as_they_are(self) -> None:
        rng = np.random.default_rng(0)
        real, generated = rng.normal(0, 1, (50, 3)), rng.normal(1, 1, (60, 3))
        measured = bh.distance(real, generated, metric="frechet", level=0.9)
        expected = frechet(real, generated, level=0.9)
        assert (float(measured), measured["high"][0]) == (expected.value, expected.high)
        assert "features: own features" in measured.notes

    def test_published_names_stand_for_an_encoder(self) -> None:
        features = np.zeros((4, 2))
        with pytest.raises(
            UserError, match=r"(?s)encoder=…: the images are features.*fid: frechet over inception"
        ):
            bh.distance(features, features, metric="fid", encoder="pixel")
        with pytest.raises(UserError, match="features and images cannot be compared"):
            bh.distance(features, "somewhere", metric="kernel")
