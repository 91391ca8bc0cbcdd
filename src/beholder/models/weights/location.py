"""Locations of weights: a file, a folder, a package, or a name on the hub, from which only named files come."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from beholder.errors import WeightsError


def find_weights(location: str, files: Sequence[str]) -> tuple[Path, Path]:
    """The folder and the file of weights at a location.

    In a folder that is the first of ``files``, or else its only .safetensors file.
    """
    if Path(location).is_file():
        return Path(location).parent, Path(location)
    folder = fetch(location, files)
    usual = folder / files[0]
    if usual.is_file():
        return folder, usual
    others = sorted(folder.glob("*.safetensors"))
    if len(others) == 1:
        return folder, others[0]
    contents = ", ".join(sorted(path.name for path in folder.iterdir())) or "nothing"
    raise WeightsError(f"{folder}: holds neither {files[0]} nor a single .safetensors file; found: {contents}")


def fetch(location: str, files: Sequence[str]) -> Path:
    """The folder itself, or the one into which these files of a hub repository are downloaded."""
    if Path(location).is_dir():
        return Path(location)
    if Path(location).is_absolute() or location.startswith((".", "~")) or Path(location).exists():
        raise WeightsError(f"{location}: no such file or folder")
    from huggingface_hub import snapshot_download  # noqa: PLC0415 - half a second, which a folder does not need
    from huggingface_hub.errors import (  # noqa: PLC0415
        HfHubHTTPError,
        HFValidationError,
        LocalEntryNotFoundError,
    )

    try:
        return Path(snapshot_download(location, allow_patterns=list(files)))
    except (HFValidationError, HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise WeightsError(
            f"'{location}' is no file or folder here and could not be fetched from the hub ({reason}). "
            f"Without a network, download it elsewhere ({', '.join(files)}) and give the folder"
        ) from error


def file_in_package(package: str, pattern: str) -> Path | None:
    """The first file in the folder of an installed package, which is not imported; ``None`` where there is none.

    Args:
        package: Its name in an import.
        pattern: A glob, from the folder of the package.

    Returns:
        The path of the file.
    """
    spec = find_spec(package) if package.isidentifier() else None
    files = sorted(Path(spec.origin).parent.glob(pattern)) if spec and spec.origin else []
    return files[0] if files else None
