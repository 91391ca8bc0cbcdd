"""TorchScript files: their tensors as torch itself reads them, and nothing in them is run."""

import pickle
import warnings
from pathlib import Path
from zipfile import ZipFile

import pytest
import torch

from beholder.errors import WeightsError
from beholder.models.weights.torchscript import is_torchscript, read_torchscript


class Inner(torch.nn.Module):
    """Parameters in a module of a module, and attributes of other kinds."""

    sizes: list[int]
    named: dict[str, int]

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 2)
        self.norm = torch.nn.BatchNorm1d(2)
        self.sizes = [3, 2]
        self.named = {"three": 3}

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scaled: torch.Tensor = self.norm(self.linear(x)) * self.sizes[0] + self.named["three"]
        return scaled


class Outer(torch.nn.Module):
    """Half precision, and a tensor that is a transposed view."""

    def __init__(self) -> None:
        super().__init__()
        self.net = Inner()
        self.register_buffer("halves", torch.arange(6).half())
        self.register_buffer("turned", torch.arange(6.0).reshape(2, 3).T)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.net(x)
        return out


@pytest.fixture
def script(tmp_path: Path) -> Path:
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        torch.jit.script(Outer()).save(tmp_path / "script.pt")  # type: ignore[no-untyped-call]
    return tmp_path / "script.pt"


def test_the_tensors_are_those_that_torch_reads(script: Path) -> None:
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        expected = torch.jit.load(script).state_dict()  # type: ignore[no-untyped-call]
    tensors = read_torchscript(script)
    assert tensors.keys() == expected.keys()
    for name, tensor in tensors.items():
        assert tensor.dtype == expected[name].dtype
        assert torch.equal(tensor, expected[name]), name
    assert tensors["turned"].tolist() == [[0, 3], [1, 4], [2, 5]]


def test_a_script_differs_from_a_dictionary_of_tensors(script: Path, tmp_path: Path) -> None:
    torch.save({"a": torch.zeros(1)}, tmp_path / "state.pth")
    (tmp_path / "text.pt").write_text("no")
    assert is_torchscript(script)
    assert not is_torchscript(tmp_path / "state.pth")
    assert not is_torchscript(tmp_path / "text.pt")
    assert not is_torchscript(tmp_path / "missing.pt")


class Harm:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.path,)


def archive(path: Path, content: object) -> Path:
    with ZipFile(path, "w") as file:
        file.writestr("script/data.pkl", pickle.dumps(content, protocol=2))
        file.writestr("script/constants.pkl", b"")
    return path


def test_what_is_in_a_pickle_is_not_run(tmp_path: Path) -> None:
    path = archive(tmp_path / "harm.pt", Harm(tmp_path / "harmed"))
    with pytest.raises(
        WeightsError, match=r"harm\.pt: not a TorchScript file whose tensors can be read \(it asks"
    ):
        read_torchscript(path)
    assert not (tmp_path / "harmed").exists()


def test_a_pickle_without_a_module_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="not a TorchScript file"):
        read_torchscript(archive(tmp_path / "list.pt", [1, 2]))


@pytest.mark.parametrize("kept", [0.2, 0.9])
def test_a_damaged_file_is_an_error(script: Path, kept: float) -> None:
    content = script.read_bytes()
    script.write_bytes(content[: int(kept * len(content))])
    with pytest.raises(WeightsError, match=r"script\.pt: not a TorchScript file"):
        read_torchscript(script)
    assert not is_torchscript(script)


def test_a_storage_that_is_missing_or_too_small_is_an_error(script: Path, tmp_path: Path) -> None:
    for fault in ("missing", "small"):
        with ZipFile(script) as whole, ZipFile(tmp_path / f"{fault}.pt", "w") as part:
            for name in whole.namelist():
                if not name.endswith("/data/0"):
                    part.writestr(name, whole.read(name))
                elif fault == "small":
                    part.writestr(name, whole.read(name)[:-4])
        with pytest.raises(WeightsError, match=rf"{fault}\.pt: not a TorchScript file"):
            read_torchscript(tmp_path / f"{fault}.pt")
