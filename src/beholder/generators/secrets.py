"""Secrets from the environment: filled in when a request is sent, and removed from every message."""

import os
from collections.abc import Sequence

from beholder.errors import FaultsError
from beholder.study.generating import ENVIRONMENT


class Secrets:
    """The environment variables that texts name as ``${NAME}``."""

    def __init__(self, texts: Sequence[str], subject: str) -> None:
        """Look them all up; an error about ``subject`` lists those that are not set."""
        names = sorted({name for text in texts for name in ENVIRONMENT.findall(text)})
        missing = [name for name in names if not os.environ.get(name)]
        if missing:
            raise FaultsError(
                subject,
                [f"the environment variable {name} is not set" for name in missing],
                advice=f"Set it in the shell: export {missing[0]}=…",
            )
        self._secrets = {name: os.environ[name] for name in names}

    def filled(self, text: str) -> str:
        """Replace the names by the secrets."""
        return ENVIRONMENT.sub(lambda match: self._secrets.get(match[1], match[0]), text)

    def hidden(self, text: str) -> str:
        """Replace the secrets by their names, wherever a message or reply quotes them."""
        for name, secret in sorted(self._secrets.items(), key=lambda pair: -len(pair[1])):
            text = text.replace(secret, f"${{{name}}}")
        return text
