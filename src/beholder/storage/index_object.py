"""An index as one object in storage, which is replaced only if it is still the one that was read."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import obstore
from obstore.exceptions import AlreadyExistsError, PreconditionError

from beholder.errors import SupersededError
from beholder.storage.index import Index
from beholder.storage.reaching import reaching

if TYPE_CHECKING:
    from obstore.store import ObjectStore


@dataclass(frozen=True, slots=True)
class Version:
    """An index as it was read, with what tells it from a later one."""

    index: Index
    tag: str


@dataclass(frozen=True)
class IndexObject:
    """The object with a name at an address."""

    address: str
    store: "ObjectStore"
    name: str

    def read(self) -> Version | None:
        """The index as it is now; ``None`` where there is none."""
        with reaching(self.address):
            try:
                reply = obstore.get(self.store, self.name)
            except FileNotFoundError:
                return None
            text, tag = bytes(reply.bytes()), reply.meta["e_tag"]
        return Version(Index.from_json(text, where=f"{self.address}/{self.name}"), tag or "")

    def replace(self, index: Index, base: Version | None) -> Version:
        """Replace the index that ``base`` was; refused where it has changed in between."""
        with reaching(self.address):
            try:
                reply = obstore.put(
                    self.store, self.name, index.to_json(), mode="create" if base is None else {"e_tag": base.tag}
                )
            except (AlreadyExistsError, PreconditionError) as error:
                raise SupersededError(
                    f"{self.address} was changed by someone else meanwhile; nothing of it was replaced"
                ) from error
        return Version(index, reply["e_tag"] or "")
