"""Pushing a dataset to the Hugging Face hub, by the login that the user has on this machine."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from huggingface_hub import HfApi
from huggingface_hub.errors import LocalTokenNotFoundError

from beholder.errors import UserError
from beholder.storage.hub_refusals import REFUSED

LOG_IN = "log in with: hf auth login"


@dataclass(frozen=True, slots=True)
class HubRepository:
    """A dataset repository that the user may write to."""

    api: HfApi
    name: str
    private: bool

    def push(self, folder: Path, files: Sequence[Path]) -> str:
        """Upload these files of a folder in one commit, and no others; the address of the dataset."""
        patterns = [file.relative_to(folder).as_posix() for file in files]
        try:
            self.api.create_repo(self.name, repo_type="dataset", private=self.private, exist_ok=True)
            self.api.upload_folder(
                repo_id=self.name,
                repo_type="dataset",
                folder_path=folder,
                allow_patterns=patterns,
                commit_message="Upload by beholder export",
            )
        except REFUSED as error:
            raise UserError(f"{self.name} cannot be pushed: {error}. The files are in {folder}") from error
        return f"https://huggingface.co/datasets/{self.name}"


def open_repository(name: str, *, private: bool) -> HubRepository:
    """Make sure that the user is logged in, and complete a name without an owner by theirs.

    Raises:
        UserError: Where nobody is logged in here, or the hub does not answer.
    """
    api = HfApi()
    try:
        user = api.whoami()
    except LocalTokenNotFoundError as error:
        raise UserError(f"pushing {name} needs a login to the Hugging Face hub; {LOG_IN}") from error
    except REFUSED as error:
        raise UserError(f"the Hugging Face hub does not accept this login ({error}); {LOG_IN}") from error
    return HubRepository(api, name if "/" in name else f"{user['name']}/{name}", private)
