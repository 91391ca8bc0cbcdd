"""The tensors of a TorchScript file, by name, without running anything that is in it.

A TorchScript file is a zip archive: the module as a pickle (``data.pkl``), the bytes of each storage (``data/0``,
…) and the code. ``torch.jit.load`` compiles the code, and is deprecated; here the code is left alone, and a pickle
that asks for anything beyond modules, tensors, lists and dictionaries is refused.
"""

import pickle
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO
from zipfile import BadZipFile, ZipFile, is_zipfile

import torch

from beholder.errors import WeightsError

STORAGES = {
    "DoubleStorage": torch.float64,
    "FloatStorage": torch.float32,
    "HalfStorage": torch.float16,
    "BFloat16Storage": torch.bfloat16,
    "LongStorage": torch.int64,
    "IntStorage": torch.int32,
    "ByteStorage": torch.uint8,
    "BoolStorage": torch.bool,
}


def is_torchscript(path: Path) -> bool:
    """Whether the file is a TorchScript archive, and not a saved dictionary of tensors.

    Args:
        path: Any path; one that does not exist is none.

    Returns:
        Whether it is a zip archive with the constants of TorchScript code.
    """
    if not (path.is_file() and is_zipfile(path)):
        return False
    try:
        with ZipFile(path) as archive:
            return any(name.endswith("/constants.pkl") for name in archive.namelist())
    except BadZipFile:
        return False


def read_torchscript(path: Path) -> dict[str, torch.Tensor]:
    """The tensors of a TorchScript file under the names of its module's state dictionary.

    Args:
        path: The file.

    Returns:
        Name -> tensor, parameters, buffers and other attributes alike.

    Raises:
        WeightsError: It is damaged, or its pickle asks for something else than tensors in modules.
    """
    try:
        with ZipFile(path) as archive:
            (pickled,) = (
                name for name in archive.namelist() if name.count("/") == 1 and name.endswith("/data.pkl")
            )
            with archive.open(pickled) as file:
                module = _Unpickler(file, archive, pickled.removesuffix(".pkl")).load()
        return dict(_tensors(module, ""))
    except DAMAGE as error:
        raise WeightsError(f"{path}: not a TorchScript file whose tensors can be read ({error})") from error


DAMAGE = (
    BadZipFile,
    pickle.UnpicklingError,
    AttributeError,
    EOFError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What reading a damaged archive or pickle raises."""


class _Module:
    """A module of the file, of whatever class: the pickle sets its attributes."""


class _Unpickler(pickle.Unpickler):
    """Reads modules as :class:`_Module` and tensors from the archive; knows nothing else."""

    def __init__(self, file: IO[bytes], archive: ZipFile, folder: str) -> None:
        super().__init__(file)
        self.archive = archive
        self.folder = folder

    def find_class(self, module: str, name: str) -> object:
        if module == "__torch__" or module.startswith("__torch__."):
            return _Module
        if module == "torch" and name in STORAGES:
            return STORAGES[name]
        if (module, name) not in KNOWN:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}")
        return KNOWN[module, name]

    def persistent_load(self, pid: tuple[str, torch.dtype, str, str, int]) -> torch.Tensor:
        """One storage, as a flat tensor."""
        _, dtype, key, _, count = pid
        content = bytearray(self.archive.read(f"{self.folder}/{key}"))
        return torch.frombuffer(content, dtype=dtype, count=count) if count else torch.empty(0, dtype=dtype)


def _rebuild(
    storage: torch.Tensor, offset: int, size: tuple[int, ...], stride: tuple[int, ...], *_: object
) -> torch.Tensor:
    return storage.as_strided(size, stride, offset)


def _list(values: Sequence[object]) -> list[object]:
    return list(values)


def _untagged(value: object, _type: str) -> object:
    return value


KNOWN: dict[tuple[str, str], Callable[..., object]] = {
    ("collections", "OrderedDict"): OrderedDict,
    ("torch._utils", "_rebuild_tensor_v2"): _rebuild,
    ("torch.jit._pickle", "build_intlist"): _list,
    ("torch.jit._pickle", "build_doublelist"): _list,
    ("torch.jit._pickle", "build_boollist"): _list,
    ("torch.jit._pickle", "restore_type_tag"): _untagged,
}
"""All that a pickle may call, but for modules and the kinds of storage."""


def _tensors(module: object, prefix: str) -> Iterator[tuple[str, torch.Tensor]]:
    for name, value in vars(module).items():
        if isinstance(value, torch.Tensor):
            yield prefix + name, value
        elif isinstance(value, _Module):
            yield from _tensors(value, f"{prefix}{name}.")
