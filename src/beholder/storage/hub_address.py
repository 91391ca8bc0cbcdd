"""Addresses of repositories on the Hugging Face hub."""

from dataclasses import dataclass

from beholder.errors import StorageError

SCHEME = "hf://"
KINDS = {"datasets": "dataset", "spaces": "space", "models": "model"}
"""First part of an address -> the kind of repository; without one it is a model."""


@dataclass(frozen=True, slots=True)
class HubAddress:
    """A repository, or what is below a path in it."""

    kind: str
    repository: str
    revision: str | None
    path: str


def is_hub(address: str) -> bool:
    """Whether a text is an address on the hub."""
    return address.startswith(SCHEME) and len(address) > len(SCHEME)


def hub_address(address: str) -> HubAddress:
    """Read ``hf://datasets/OWNER/NAME@REVISION/PATH``; kind, revision and path may be left out.

    Example:
        >>> hub_address("hf://datasets/lab/images@v1/data")
        HubAddress(kind='dataset', repository='lab/images', revision='v1', path='data')
    """
    kind, _, rest = address.removeprefix(SCHEME).partition("/")
    if kind not in KINDS:
        kind, rest = "models", f"{kind}/{rest}"
    owner, _, rest = rest.partition("/")
    named, _, path = rest.partition("/")
    name, _, revision = named.partition("@")
    if not owner or not name or ".." in path.split("/"):
        raise StorageError(f"{address}: expected hf://datasets/OWNER/NAME/PATH, or hf://OWNER/NAME of a model")
    return HubAddress(KINDS[kind], f"{owner}/{name}", revision or None, path.strip("/"))
