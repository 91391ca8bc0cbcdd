"""Where weights are taken from: a file, a folder, or a name on the hub, of which only named files are fetched."""

from collections.abc import Sequence
from pathlib import Path

from huggingface_hub import snapshot_download
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

from beholder.errors import WeightsError


def find_weights(place: str, files: Sequence[str]) -> tuple[Path, Path]:
    """The folder and the file of weights at a place.

    Of a folder that is the first of ``files``, or else its only .safetensors file.
    """
    if Path(place).is_file():
        return Path(place).parent, Path(place)
    folder = fetched(place, files)
    usual = folder / files[0]
    if usual.is_file():
        return folder, usual
    others = sorted(folder.glob("*.safetensors"))
    if len(others) == 1:
        return folder, others[0]
    found = ", ".join(sorted(one.name for one in folder.iterdir())) or "nothing"
    raise WeightsError(f"{folder}: holds neither {files[0]} nor a single .safetensors file; found: {found}")


def fetched(place: str, files: Sequence[str]) -> Path:
    """A folder as it is, or the one into which these files of a hub repository went."""
    if Path(place).is_dir():
        return Path(place)
    if Path(place).is_absolute() or place.startswith((".", "~")) or Path(place).exists():
        raise WeightsError(f"{place}: no such file or folder")
    try:
        return Path(snapshot_download(place, allow_patterns=list(files)))
    except (HFValidationError, HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise WeightsError(
            f"'{place}' is no file or folder here and could not be fetched from the hub ({reason}). "
            f"Without a network, download it elsewhere ({', '.join(files)}) and give the folder"
        ) from error
